-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark 4.0 or later: CNPs of RoCEv2, and the telemetry or the window that
-- sch_iqcn writes into them (struct iqcn_telemetry and struct iqcn_grant in
-- linux/iqcn.h; Documentation/back-to-sender.rst has the bits of the former).
--
-- A post-dissector.  Wireshark's own dissector finds the BTH behind tags,
-- tunnels and IP, on the UDP ports that are configured.  But it does not
-- recognize opcode 0x81 as a CNP, and does not decode the 16 reserved bytes.

local loaded, iqcn = pcall(Proto, "iqcn", "RoCEv2 Congestion Notification Packet")
if not loaded then
	return -- another directory has the script, too
end

local OP_CNP = 0x81
local BTH_LEN, RSVD_LEN, ICRC_LEN = 12, 16, 4
local UDP_LEN, ROCE_PORT = 8, 4791
local VERSION, GRANT_VERSION = 1, 2
local U16_MAX = 65535

local causes = {
	[1] = "timer",
	[2] = "wreb",
	[3] = "pi",
	[4] = "poll",
	[5] = "drop",
	[6] = "pfc",
	[7] = "grant",
	[8] = "supplement",
}

local states = {
	[0] = "clear",
	[1] = "congested",
	[2] = "undetermined",
	[3] = "paused",
}

local f = {
	opcode = ProtoField.uint8("iqcn.opcode", "Opcode", base.HEX,
				  { [OP_CNP] = "CNP" }),
	becn = ProtoField.bool("iqcn.becn", "BECN", 8, nil, 0x40),
	destqp = ProtoField.uint24("iqcn.destqp", "Destination Queue Pair",
				   base.HEX),
	reserved = ProtoField.bytes("iqcn.reserved", "Reserved bytes"),
	version = ProtoField.uint8("iqcn.version", "Version", base.DEC, nil,
				   0xf0),
	brief = ProtoField.bool("iqcn.brief", "Only flags and cause", 8, nil,
				0x02),
	was_ce = ProtoField.bool("iqcn.was_ce", "The packet arrived with CE",
				 8, nil, 0x01),
	cause = ProtoField.uint8("iqcn.cause", "Cause", base.DEC, causes),
	depth = ProtoField.double("iqcn.depth",
				  "Depth of the queue in percent of its limit"),
	flows = ProtoField.uint16("iqcn.flows", "Active flows"),
	port_bytes = ProtoField.uint32("iqcn.port_bytes",
				       "Depth of the port's queues in bytes"),
	gradient = ProtoField.int16("iqcn.gradient",
				    "Growth of the queue in bytes per us"),
	tx_bytes = ProtoField.uint32("iqcn.tx_bytes",
				     "Bytes the queue has sent, modulo 2^32"),
	time_us = ProtoField.uint24("iqcn.time_us",
				    "Time of the box in us, modulo 2^24"),
	rate = ProtoField.uint64("iqcn.rate",
				 "Drain rate of the queue in bit/s"),
	window = ProtoField.uint32("iqcn.window",
				   "Bytes that the flow may have in flight"),
	share = ProtoField.double("iqcn.share",
				  "Part of the queued packets in percent"),
	base_rtt_us = ProtoField.uint16("iqcn.base_rtt_us",
					"Round-trip time of the window in us"),
	state = ProtoField.uint8("iqcn.state", "State of the queue", base.DEC,
				 states),
	icrc = ProtoField.uint32("iqcn.icrc", "Invariant CRC", base.HEX),
}
iqcn.fields = f

local function note(name, text, group, severity)
	return ProtoExpert.new("iqcn.expert." .. name, text, group, severity)
end

local e = {
	short = note("short", "No room for 16 reserved bytes",
		     expert.group.MALFORMED, expert.severity.ERROR),
	cut = note("cut", "The frame ends before the reserved bytes do",
		   expert.group.UNDECODED, expert.severity.NOTE),
	foreign = note("foreign",
		       "Reserved bytes are not 0, but not telemetry of iqcn",
		       expert.group.PROTOCOL, expert.severity.NOTE),
	version = note("version", "Unknown version of telemetry",
		       expert.group.UNDECODED, expert.severity.NOTE),
	flags = note("flags", "Unknown flags",
		     expert.group.UNDECODED, expert.severity.NOTE),
	cause = note("cause", "Unknown cause",
		     expert.group.UNDECODED, expert.severity.NOTE),
	brief = note("brief", "Filled in, although the brief flag is set",
		     expert.group.PROTOCOL, expert.severity.WARN),
}
iqcn.experts = e

iqcn.prefs.info = Pref.bool("Telemetry in the Info column", true,
	"Cause, depth and flows after CNP and QP")
iqcn.prefs.rate_us = Pref.uint("Minimum distance of the CNPs for a rate, in us",
	1000, "iqcn.rate is computed from two CNPs of a flow, up to 100 ms " ..
	"apart, with an error of 256 bytes and a packet.  0: no rate")

local get_infiniband = Field.new("infiniband")
local get_udp = Field.new("udp")

-- first: by flow, the CNP at which the interval of the next rate starts.
-- rates: by frame, the rate, or false if there is none.  A rate is computed
-- when its frame is dissected for the first time, because only then are frames
-- dissected in order.  pinfo.visited does not suffice to detect the first time,
-- because the first of tshark's two passes may skip fields.
local first, rates

-- The counter of sent bytes wraps at 4 GiB, which is after 343 ms at 100 Gbit/s
local RATE_MAX_US = 100000

function iqcn.init()
	first, rates = {}, {}
end

local function find_rate(pinfo, qp, tx_bytes, time_us)
	local flow = tostring(pinfo.net_src) .. " " ..
		     tostring(pinfo.net_dst) .. " " .. qp
	local now = { at = pinfo.abs_ts, tx = tx_bytes, us = time_us }
	local from = first[flow] or now
	local us = (now.us - from.us) % 2^24

	-- the timestamps of the capture show whether the box's clock wrapped
	if us > RATE_MAX_US or
	   math.abs(now.at - from.at) * 1e6 > 2 * RATE_MAX_US then
		from = now
	elseif us > 0 and us >= iqcn.prefs.rate_us then
		rates[pinfo.number] = (now.tx - from.tx) % 2^32 * 8e6 / us
		from = now
	end
	first[flow] = from
	rates[pinfo.number] = rates[pinfo.number] or false
end

-- Add the bytes after the cause.  Returns text for the Info column
local function add_state(tree, rsvd, pinfo, qp)
	local n = rsvd:len()
	local said = ""

	if n >= 4 then
		local depth = rsvd(2, 2):uint()
		local percent = depth * 100 / U16_MAX

		tree:add(f.depth, rsvd(2, 2), percent):append_text(
			string.format(" (%d/%d)", depth, U16_MAX))
		said = string.format(" depth %.1f%%", percent)
	end
	if n >= 6 then
		local flows = rsvd(4, 2):uint()
		local more = flows == U16_MAX and " or more" or ""

		tree:add(f.flows, rsvd(4, 2)):append_text(more)
		said = said .. " flows " .. flows .. more
	end
	if n >= 8 then
		local port_4k = rsvd(6, 2):uint()

		tree:add(f.port_bytes, rsvd(6, 2), port_4k * 4096):append_text(
			port_4k == U16_MAX and " or more" or "")
	end
	if n >= 10 then
		tree:add(f.gradient, rsvd(8, 2))
	end
	if n >= 13 then
		tree:add(f.tx_bytes, rsvd(10, 3), rsvd(10, 3):uint() * 256)
	end
	if n >= 16 then
		tree:add(f.time_us, rsvd(13, 3))
		if iqcn.prefs.rate_us > 0 and rates[pinfo.number] == nil then
			find_rate(pinfo, qp, rsvd(10, 3):uint() * 256,
				  rsvd(13, 3):uint())
		end
		if rates[pinfo.number] then
			tree:add(f.rate,
				 UInt64(rates[pinfo.number])):set_generated()
		end
	end
	return said
end

-- Add the bytes after the cause of a grant.  Returns text for the Info column
local function add_grant(tree, rsvd)
	local window, flows, share, rtt

	tree:add(f.depth, rsvd(2, 2), rsvd(2, 2):uint() * 100 / U16_MAX)
	window = rsvd(4, 4):uint()
	tree:add(f.window, rsvd(4, 4))
	flows = rsvd(8, 2):uint()
	tree:add(f.flows, rsvd(8, 2)):append_text(
		flows == U16_MAX and " or more" or "")
	share = rsvd(10, 2):uint() * 100 / U16_MAX
	tree:add(f.share, rsvd(10, 2), share)
	rtt = rsvd(12, 2):uint()
	tree:add(f.base_rtt_us, rsvd(12, 2)):append_text(
		rtt == U16_MAX and " or more" or "")
	tree:add(f.state, rsvd(14, 1))
	return string.format(" window %d share %.1f%%", window, share)
end

local function all_zero(range)
	return not tostring(range:bytes()):find("[^0]")
end

-- Add the reserved bytes, which may be truncated.  Returns text for the Info
-- column
local function add_reserved(tree, rsvd, pinfo, qp)
	local n = rsvd:len()
	local version = rsvd(0, 1):bitfield(0, 4)
	local brief = rsvd(0, 1):bitfield(6, 1) == 1
	local t = tree:add(f.reserved, rsvd)
	local item, cause, said

	item = t:add(f.version, rsvd(0, 1))
	if version == 0 then
		item:append_text(" (no telemetry)")
		if not all_zero(rsvd) then
			t:add_proto_expert_info(e.foreign)
		end
		return ""
	end
	if version ~= VERSION and version ~= GRANT_VERSION then
		t:add_proto_expert_info(e.version)
		return " telemetry version " .. version
	end
	if version == VERSION then
		t:add(f.brief, rsvd(0, 1))
	end
	t:add(f.was_ce, rsvd(0, 1))
	if rsvd(0, 1):bitfield(4, version == VERSION and 2 or 3) ~= 0 then
		t:add_proto_expert_info(e.flags)
	end
	if n < 2 then
		return ""
	end

	cause = rsvd(1, 1):uint()
	item = t:add(f.cause, rsvd(1, 1))
	if not causes[cause] then
		item:add_proto_expert_info(e.cause)
	end
	said = " " .. (causes[cause] or "cause " .. cause)
	if rsvd(0, 1):bitfield(7, 1) == 1 then
		said = said .. " was-CE"
	end
	if version == GRANT_VERSION then
		return n < RSVD_LEN and said or said .. add_grant(t, rsvd)
	end
	if not brief then
		return said .. add_state(t, rsvd, pinfo, qp)
	end
	if n > 2 and not all_zero(rsvd(2)) then
		t:add_proto_expert_info(e.brief)
	end
	return said
end

-- Add a CNP, from the BTH on: @len captured bytes of the @wanted bytes that the
-- UDP header announces
local function add_cnp(root, bth, len, wanted, pinfo)
	local qp = bth(5, 3):uint()
	local tree = root:add(iqcn, bth(0, len))
	local n = math.min(len - BTH_LEN, RSVD_LEN)
	local said = ""

	tree:set_text(string.format("RoCEv2 CNP, QP 0x%06x", qp))
	tree:add(f.opcode, bth(0, 1))
	tree:add(f.becn, bth(4, 1))
	tree:add(f.destqp, bth(5, 3))
	if n > 0 then
		said = add_reserved(tree, bth(BTH_LEN, n), pinfo, qp)
	end
	if n < RSVD_LEN then
		tree:add_proto_expert_info(
			wanted < BTH_LEN + RSVD_LEN and e.short or e.cut)
	elseif len >= BTH_LEN + RSVD_LEN + ICRC_LEN then
		tree:add(f.icrc, bth(BTH_LEN + RSVD_LEN, ICRC_LEN))
	end
	tree:append_text(said ~= "" and "," .. said or "")
	return said
end

-- Replace "Unknown OpCode", Wireshark's text for a CNP, and append @said.  If
-- the column contains neither this text nor "CNP", it describes another part of
-- the frame.
local function set_info(pinfo, said)
	local info, n = tostring(pinfo.cols.info):gsub("Unknown OpCode", "CNP ")

	if n == 0 and not info:find("CNP", 1, true) then
		return
	end
	if iqcn.prefs.info and said ~= "" then
		info = info:gsub("%s+$", "") .. said
	end
	pinfo.cols.info = info
end

-- Dissect a BTH that Wireshark found behind a UDP header, if it is a CNP
local function dissect(pinfo, root, udp, ib)
	local header = udp.source(udp.offset, UDP_LEN)
	local bth = ib.source(ib.offset, ib.len)

	-- Wireshark also treats packets from source port 4791 as RoCEv2
	if bth(0, 1):uint() ~= OP_CNP or
	   header(0, 2):uint() == ROCE_PORT and
	   header(2, 2):uint() ~= ROCE_PORT then
		return
	end
	set_info(pinfo, add_cnp(root, bth, ib.len,
				header(4, 2):uint() - UDP_LEN, pinfo))
end

-- A frame may have several UDP headers, because ICMP quotes packets
function iqcn.dissector(_, pinfo, root)
	local headers = { get_udp() }

	for _, ib in ipairs({ get_infiniband() }) do
		for _, udp in ipairs(headers) do
			if udp.offset + UDP_LEN == ib.offset and
			   ib.len >= BTH_LEN then
				dissect(pinfo, root, udp, ib)
			end
		end
	end
end

register_postdissector(iqcn)
