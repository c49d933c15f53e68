#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test monitoring.  A congested run in the lab leaves the output of each source
# (guest.sh).  On this machine, Debian's node_exporter reads the file
# that "iqcn metrics" wrote, Prometheus scrapes the exporter, and all sources
# must agree.  KTAP.
set -u -o pipefail

TOP=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$TOP/selftests/lab/lab.sh
OUT=$TOP/build/metrics
DOC=$TOP/Documentation/metrics.rst
cd "$TOP" || exit 1
PATH=$PATH:/usr/sbin:/sbin

# shellcheck source=selftests/lib-ktap.sh
. "$TOP/selftests/lib-ktap.sh"
daemons=()
WORK=$(mktemp -d)
trap 'stop_daemons; rm -rf "$WORK"' EXIT

# quiet COMMAND...: succeed if the command succeeds without output
quiet()
{
	local out rc

	out=$("$@" 2>&1)
	rc=$?
	[ -z "$out" ] || echo "# ${out//$'\n'/$'\n'# }"
	[ $rc = 0 ] && [ -z "$out" ]
}

# Stop the daemons started here, by PID
stop_daemons()
{
	[ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
	wait
	daemons=()
}

# daemon NAME COMMAND...: start it with PORT replaced by a free port, and wait
# until it answers; sets $port.  Retry, because another process may take the
# port.
daemon()
{
	local name=$1 try pid
	shift

	for try in 1 2 3 4 5; do
		port=$((RANDOM % 20000 + 20000))
		! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
		# the daemon must not outlive this script
		setpriv --pdeathsig TERM "${@//PORT/$port}" \
			>"$WORK/$name.log" 2>&1 &
		pid=$!
		daemons+=("$pid")
		for _ in $(seq 150); do
			kill -0 "$pid" 2>/dev/null || break
			curl -sf "127.0.0.1:$port/" >/dev/null && return
			sleep 0.2
		done
	done
	tail -n 20 "$WORK/$name.log"
	return 1
}

# put FILE: give it to node_exporter, atomically
put()
{
	cp "$1" "$WORK/textfile/.new" &&
		mv "$WORK/textfile/.new" "$WORK/textfile/iqcn.prom"
}

# api PATH [EXPRESSION]: query Prometheus
api()
{
	curl -s --get ${2:+--data-urlencode "query=$2"} \
		"127.0.0.1:$prometheus/api/v1/$1"
}

# wait_for EXPRESSION: wait until the answer of Prometheus is not empty
wait_for()
{
	local i

	for i in $(seq 300); do
		[ "$(api query "$1" | jq '.data.result | length')" = 0 ] || return 0
		sleep 0.2
	done
	echo "no answer: $1"
	return 1
}

start_daemons()
{
	mkdir -p "$WORK/textfile"
	put "$OUT/1.prom"
	daemon exporter prometheus-node-exporter \
		--web.listen-address=127.0.0.1:PORT \
		--collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$WORK/textfile" || return 1
	exporter=$port
	cat >"$WORK/prometheus.yml" <<-YML
		global: { scrape_interval: 1s, evaluation_interval: 1s }
		rule_files: [ "$TOP/contrib/prometheus/iqcn.rules.yml" ]
		scrape_configs:
		  - job_name: node
		    static_configs: [ { targets: [ "127.0.0.1:$exporter" ] } ]
	YML
	daemon prometheus prometheus --config.file="$WORK/prometheus.yml" \
		--storage.tsdb.path="$WORK/tsdb" \
		--web.listen-address=127.0.0.1:PORT || return 1
	prometheus=$port
}

# Let Prometheus scrape two states of the box, a few times each
scrape()
{
	local sent

	wait_for 'count_over_time(iqcn_up[1m]) >= 3' || return 1
	put "$OUT/2.prom"
	sent=$(sed -n 's/^iqcn_queue_tx_packets_total{device="p1",parent="2:1"} //p' \
		"$OUT/2.prom")
	wait_for "count_over_time((iqcn_queue_tx_packets_total{device=\"p1\",parent=\"2:1\"} == $sent)[1m:1s]) >= 3" ||
		return 1
	curl -s "127.0.0.1:$exporter/metrics" >"$WORK/exporter"
	api query '{__name__=~"iqcn_.+"}' >"$WORK/prometheus.json"
	[ "$(grep -c '^node_textfile_scrape_error 0' "$WORK/exporter")" = 1 ]
}

# Compare the values of all sources
table()
{
	local rows

	jq -nr --slurpfile tc "$OUT/tc.json" --slurpfile iqcn "$OUT/iqcn.json" \
		--slurpfile iqcn_flows "$OUT/iqcn-flows.json" \
		--rawfile genl "$OUT/genl" --rawfile sysfs "$OUT/sysfs" \
		--rawfile debugfs "$OUT/debugfs" --rawfile file "$OUT/2.prom" \
		--rawfile exporter "$WORK/exporter" \
		--slurpfile prometheus "$WORK/prometheus.json" \
		--rawfile uapi kmod/include/uapi/linux/iqcn_netlink.h \
		--rawfile doc "$DOC" -f selftests/metrics/table.jq >"$OUT/table" ||
		return 1
	column -t -s $'\t' "$OUT/table" | sed 's/^/# /'
	awk -F '\t' '
	NR > 1 {
		n++
		if ($NF != "equal") bad++
		# the run was congested, so some values are not 0
		if ($1 == "p1 2:1" && $3 != 0) values++
		for (i = 3; i < NF; i++)
			if ($i != "-") told[i]++
	}
	END {
		for (i = 3; i <= 10; i++)
			if (told[i] < 20) exit 1
		exit !(n > 200 && values > 20 && !bad)
	}' "$OUT/table"
}

# The flows that Prometheus gets are those with the most CNPs
top_flows()
{
	jq -nr --rawfile debugfs "$OUT/debugfs" --rawfile file "$OUT/2.prom" '
	([$debugfs | scan("/flows:[0-9][^\n]*") | split(" ") |
	  { qp: .[3], cnps: ((.[13] | tonumber) + (.[14] | tonumber)) }] |
	 sort_by(-.cnps)) as $flows |
	([$file | scan("iqcn_flow_sent_cnps_total\\{.*dest_qp=\"(0x[0-9a-f]*)") | .[0]]) as $top |
	($flows | map(select(.qp | IN($top[])) | .cnps) | min) as $least |
	if ($top | length) == 10 and ($flows | length) > 20 and
	   all($flows[] | select(.qp | IN($top[]) | not); .cnps <= $least)
	then empty else "exported: ", $top, "flows: ", $flows end'
}

# lint FILE...: check the text format
lint()
{
	local f

	for f; do
		promtool check metrics <"$f" || echo "$f"
	done
}

# The official client library parses the OpenMetrics output, which has samples
# of the same names as the text format
openmetrics()
{
	/usr/bin/python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for sample in family.samples:
        print(family.type, sample.name)
' "$OUT/2.openmetrics" >"$WORK/families" || return 1
	diff <(grep -v '^#' "$OUT/2.prom" | sed 's/[{ ].*//' | sort) \
		<(cut -d ' ' -f 2 "$WORK/families" | sort)
	for type in "counter iqcn_queue_tx_bytes_total" "info iqcn_build_info" \
		    "summary iqcn_queue_delay_seconds_sum" \
		    "gauge iqcn_queue_depth_bytes"; do
		grep -qxF "$type" "$WORK/families" || echo "missing: $type"
	done
}

# Check that the documentation lists exactly the metrics that iqcn exports
documented()
{
	diff <(sed -n 's/^# HELP //p' "$OUT"/{2,agent}.prom | sort) \
		<(sed -nE 's/^ *``(iqcn_[a-z_]*)[^|]*``([^|]*\|){1,2} *(.*)$/\1 \3/p' \
			"$DOC" | sed -E 's/_seconds_(sum|count) /_seconds /' | sort -u)
}

# expressions: print the expressions of the dashboard, with variables replaced
expressions()
{
	jq -r '.. | .expr? // empty' contrib/grafana/iqcn.json |
		sed 's/\$__rate_interval/1m/g; s/\$__range/1h/g
		     s/\$instance/.+/g; s/\$device/.+/g'
}

# Every expression has a numeric answer
dashboard_answers()
{
	local expr answer

	while IFS= read -r expr; do
		answer=$(api query "$expr")
		jq -e '.status == "success" and (.data.result | length > 0) and
		       any(.data.result[]; .value[1] | tonumber | isnan | not)' \
			<<<"$answer" >/dev/null || echo "$expr: $answer"
	done < <(expressions)
	[ "$(expressions | wc -l)" -gt 30 ] || echo "too few expressions"
}

# These expressions must not be 0 after the congested run
dashboard_sees()
{
	local metric expr

	for metric in marked_packets_total sent_cnps_total seen_cnps_total depth_bytes \
		      overlimit_dropped not_ect_packets_total tx_bytes_total \
		      flows_paired suppressed_cnps_total flow_sent_cnps_total \
		      delay_seconds_sum marked_bytes_total; do
		expr=$(expressions | grep -m 1 "$metric")
		api query "($expr) > 0" |
			jq -e '.data.result | length > 0' >/dev/null ||
			echo "$expr"
	done
}

# Grafana's requirements on a dashboard, and our own
dashboard_form()
{
	jq -r '
	def bad(message): if . then empty else message end;
	(.schemaVersion >= 36 | bad("schemaVersion")),
	([.title, .uid, .time.from, .time.to] | all(type == "string") | bad("title, uid, time")),
	(.id == null | bad("id: Grafana assigns it")),
	([.panels[].id] | (unique | length) == length | bad("ids of panels")),
	(.templating.list | map(.name) | contains(["datasource", "device"]) | bad("variables")),
	(.templating.list[] | select(.type == "query") | .datasource.uid == "${datasource}" |
		bad("data source of a variable")),
	# panels are inside the grid and do not overlap
	([.panels[] | .gridPos as $g | range($g.y; $g.y + $g.h) as $y |
	  range($g.x; $g.x + $g.w) as $x | [$x, $y]] |
	 (map(select(.[0] > 23)) | length == 0 | bad("wider than 24")),
	 ((unique | length) == length | bad("panels overlap"))),
	(.panels[] | select(.type != "row") | .title as $t |
	 (.title | length > 0 | bad("title")),
	 (.fieldConfig | has("defaults") and has("overrides") | bad($t + ": fieldConfig")),
	 (.targets | length > 0 | bad($t + ": no targets")),
	 ([.targets[].refId] | (unique | length) == length | bad($t + ": refId")),
	 (all(.targets[], .; .datasource.uid == "${datasource}") | bad($t + ": data source"))),
	# no two panels have the same expression, and all select the chosen
	# instances
	([.. | .expr? // empty] | (unique | length) == length | bad("duplicate expression")),
	(.. | .expr? // empty | contains("instance=~\"$instance\"") | bad("not of the chosen instances"))
	' contrib/grafana/iqcn.json
}

rules()
{
	promtool check rules contrib/prometheus/iqcn.rules.yml >/dev/null || return 1
	# paths in the test file are relative to it
	promtool test rules selftests/metrics/rules-test.yml >"$WORK/rules" 2>&1 ||
		cat "$WORK/rules"
	# every alert has a test that raises it
	sed -n 's/.*alert: //p' contrib/prometheus/iqcn.rules.yml | while read -r alert; do
		grep -A 4 "alertname: $alert\$" selftests/metrics/rules-test.yml |
			grep -q exp_labels || echo "$alert is not tested"
	done
}

# Alerts that the run raises
alerts()
{
	api rules | jq -r '.data.groups[].rules[] | select(.health != "ok")'
	wait_for 'ALERTS{alertname="IqcnDrops"}' &&
		wait_for 'ALERTS{alertname="IqcnOverBudget"}'
}

units()
{
	local f

	for f in contrib/systemd/iqcn-*.{service,timer}; do
		sed "s|/usr/sbin/iqcn|$TOP/build/iqcn|" "$f" \
			>"$WORK/$(sed 's/@/@eth1/' <<<"${f##*/}")"
	done
	(cd "$WORK" &&
		systemd-analyze verify --man=no ./iqcn-metrics.service \
			./iqcn-metrics.timer ./iqcn-agent@eth1.service) || return 1
	for f in iqcn-metrics.service iqcn-agent@eth1.service; do
		(cd "$WORK" && systemd-analyze security --offline=true \
			--threshold=15 --no-pager "./$f" >security) ||
			{ tail -n 1 "$WORK/security"; return 1; }
	done
}

rm -rf "$OUT"
mkdir -p "$OUT"
echo "TAP version 13"
"$LAB" run uml -s "${IQCN_SEED:-1}" /usr/bin/env METRICS_OUT="$OUT" \
	"$TOP/selftests/run.sh" "$TOP/build/uml/sch_iqcn.ko" \
	"$TOP/selftests/metrics/guest.sh"
result $? "in the lab"
quiet lint "$OUT"/*.prom; result $? "promtool accepts the metrics"
quiet openmetrics; result $? "OpenMetrics is valid and equal"
quiet documented; result $? "every metric is documented"
quiet top_flows; result $? "the flows with most CNPs"
quiet dashboard_form; result $? "the dashboard is well-formed"
quiet rules; result $? "alert rules"
quiet units; result $? "systemd units"
start_daemons && scrape
result $? "node_exporter reads the file and Prometheus scrapes it"
table; result $? "all sources agree"
quiet dashboard_answers; result $? "every expression of the dashboard has an answer"
quiet dashboard_sees; result $? "the dashboard shows the congestion"
quiet alerts; result $? "alerts of the run"
stop_daemons
echo "1..$n"
exit $failed
