# SPDX-License-Identifier: GPL-2.0
# Changes of the simulator: see README.md
s,^\(\s*\)// \(Dynamic.*QbbPfc\),\1\2,
s,^\tSimulator::Run();,&\n\tuint64_t sent = 0;\n\tfor (uint32_t i = 0; i < n.GetN(); i++)\n\t\tfor (uint32_t j = 1; j < n.Get(i)->GetNDevices(); j++)\n\t\t\tsent += DynamicCast<QbbNetDevice>(n.Get(i)->GetDevice(j))->getNumTxBytes();\n\tstd::cout << "sent " << sent << "\\n";,
