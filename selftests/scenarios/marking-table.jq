# SPDX-License-Identifier: GPL-2.0
#
# Table of marking.sh from marking.json: an array per line.
include "table";

def marking_table:
	["", "", "utilized", "", "queue p99, MB", "", "drops", ""],
	["", "", "enqueue", "dequeue", "enqueue", "dequeue", "enqueue", "dequeue"],
	(to_entries[] | .key as $name | .value as $both |
	 $both.enqueue.variants | keys_unsorted[] | [$name, .] +
		([$both.enqueue.variants[.], $both.dequeue.variants[.]] |
		 map(.utilization | part) + map(.queue_p99_bytes | mb) +
		 map(.drops_from_start))) | fill;
