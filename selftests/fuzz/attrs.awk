# SPDX-License-Identifier: GPL-2.0
#
# Print the attributes described in the uapi headers as a table for C: name,
# number, set, and type.  The type is the first word of the attribute's comment.
# If that word is not a type, the attribute has the type of the last one whose
# comment says "and so are all that follow", or else none.

BEGIN {
	print "/* made by attrs.awk */"
}

/^ \* @(TCA_IQCN|IQCN_A)_[A-Z0-9_]*: / {
	name = $2
	sub(/^@/, "", name)
	sub(/:$/, "", name)
	type[name] = $3
	sub(/,$/, "", type[name])
	if ($0 ~ /and so are all that follow/)
		follow = type[name]
	else if (type[name] !~ /^(u8|u16|u32|u64|s32|string|flag|array|struct|bitmap)$/)
		type[name] = follow ? follow : "none"
}

/^enum (tca_iqcn|iqcn_a_[a-z]*) \{/ {
	set = $2
	in_enum = 1
	follow = ""
	next
}

/^};/ {
	in_enum = 0
	follow = ""
}

in_enum && /^\t(TCA_IQCN|IQCN_A)_[A-Z0-9_]*,/ {
	name = $1
	sub(/,$/, "", name)
	printf "{ \"%s\", %s, SET_%s, TYPE_%s },\n", name, name, toupper(set),
		toupper(type[name] ? type[name] : "none")
}
