# SPDX-License-Identifier: GPL-2.0
#
# Read names of mutants, as printed by mutate.awk, and print a sample of them.
#
# The sample has one mutant per ten mutants of a function, but at most two.  A
# tenth of the remainder of the division by ten is the probability of one more
# mutant.  Two mutants of a function are of different kinds.  The sample depends
# only on hashes of the names, so that a change in one function does not change
# the sample of another.

BEGIN {
	FS = ":"
	for (i = 32; i < 127; i++)
		code[sprintf("%c", i)] = i
}

# hash(S): from 0 to 1
function hash(s,	h, i)
{
	for (i = 1; i <= length(s); i++)
		h = (h * 131 + code[substr(s, i, 1)]) % 16777213
	return h * 1000003 % 16777213 / 16777213
}

function take(fn,	left, i, best, kind)
{
	left = int(all / 10 + hash(fn))
	for (left = left > 2 ? 2 : left; left; left--) {
		best = 0
		for (i = 1; i <= all; i++)
			if (kinds[i] != kind && (!best || rank[i] < rank[best]))
				best = i
		if (!best)
			return
		kind = kinds[best]
		print names[best]
	}
}

$1 FS $2 != fn {
	if (all)
		take(fn)
	fn = $1 FS $2
	all = 0
}
{
	names[++all] = $0
	kinds[all] = $3
	rank[all] = hash($0)
}
END {
	if (all)
		take(fn)
}
