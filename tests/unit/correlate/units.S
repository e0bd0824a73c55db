/* SPDX-License-Identifier: MIT */
/* DWARF 5 of two units with tables of addresses of their own, whose variables are computed. */
	.text
code:
	.zero 0x40

	.section .debug_line, "", @progbits
	.zero 4

	.section .debug_abbrev, "", @progbits
	/* 1: unit: name, low_pc, high_pc, addr_base */
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0x73, 0x17, 0, 0
	/* 2: function: name, low_pc, high_pc, frame_base */
	.uleb128 2, 0x2e
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0x40, 0x18, 0, 0
	/* 3: variable: name, location */
	.uleb128 3, 0x34
	.byte 0
	.uleb128 0x03, 0x08, 0x02, 0x18, 0, 0
	/* 4: base type: name, encoding, size */
	.uleb128 4, 0x24
	.byte 0
	.uleb128 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0
	.byte 0

	.macro base_type label, name, encoding, size
\label:	.uleb128 4
	.asciz "\name"
	.byte \encoding, \size
	.endm

	.macro variable name, bytes:vararg
	.uleb128 3
	.asciz "\name"
	.uleb128 9002f - 9001f
9001:
	.byte \bytes
9002:
	.endm

	.macro unit name, first, size, table
	.long 9102f - 9101f
9101:	.short 5
	.byte 1, 8
	.long 0
	.uleb128 1
	.asciz "\name"
	.quad code + \first
	.long \size
	.long \table
	.endm

	.macro function name, first, size, base:vararg
	.uleb128 2
	.asciz "\name"
	.quad code + \first
	.long \size
	.uleb128 9202f - 9201f
9201:	.byte \base
9202:
	.endm

	.section .debug_info, "", @progbits
unit_a:
	unit a.cl, 0, 0x20, table_a-addresses
	base_type a_float, float, 4, 4
	function f, 0, 0x20, 0x76, 8  /* breg6 + 8 */
	variable ax, 0xa1, 1, 0x9f
	variable cx, 0xa2, 0, 0x9f
	variable fb, 0x91, 0x70       /* fbreg -16 */
	.byte 0, 0
9102:

unit_b:
	unit b.cl, 0x20, 0x20, table_b-addresses
	base_type b_double, double, 4, 8
	base_type b_float, float, 4, 4
	base_type b_int, int, 5, 4
	base_type b_uint, "unsigned int", 7, 4
	base_type b_char, char, 6, 1
	base_type b_uchar, "unsigned char", 8, 1
	base_type b_ushort, "unsigned short", 7, 2
	base_type b_half, half, 4, 2
	.set DOUBLE, b_double - unit_b
	.set FLOAT, b_float - unit_b
	.set INT, b_int - unit_b
	.set UINT, b_uint - unit_b
	.set CHAR, b_char - unit_b
	.set UCHAR, b_uchar - unit_b
	.set USHORT, b_ushort - unit_b
	.set HALF, b_half - unit_b
	.set CALLEE, b_callee - unit_b
	function g, 0x20, 0x20, 0x56  /* reg6: its contents */
b_callee:
	variable callee, 0x39         /* lit9 */
	variable bx, 0xa1, 1, 0x9f
	variable bfb, 0x91, 0x70
	variable entry, 0xa3, 1, 0x55, 0x9f
	variable entry_sum, 0xa3, 2, 0x75, 3, 0x9f
	variable fdiv, 0xa4, FLOAT, 4, 0, 0, 0xc0, 0x3f, 0xa4, FLOAT, 4, 0, 0, 0, 0x3f, 0x1b, 0x9f
	variable wrap, 0xa4, UCHAR, 1, 200, 0xa4, UCHAR, 1, 100, 0x22, 0x9f
	variable signed, 0xa4, CHAR, 1, 156, 0xa4, CHAR, 1, 100, 0x1c, 0x9f
	variable less, 0xa4, DOUBLE, 8, 0, 0, 0, 0, 0, 0, 0xe0, 0xbf, 0xa4, DOUBLE, 8, 0, 0, 0, 0, 0, 0, 0xd0, 0x3f, 0x2d, 0x9f
	variable uless, 0xa4, UINT, 4, 255, 255, 255, 255, 0xa4, UINT, 4, 1, 0, 0, 0, 0x2d, 0x9f
	variable conv, 0xa4, DOUBLE, 8, 0, 0, 0, 0, 0, 0, 0x06, 0xc0, 0xa8, INT, 0xa8, 0, 0x9f
	variable back, 0xa4, INT, 4, 0xfd, 255, 255, 255, 0xa8, FLOAT, 0x9f
	variable reint, 0xa4, FLOAT, 4, 0, 0, 0x80, 0x3f, 0xa9, UINT, 0x9f
	variable gnu, 0xf4, FLOAT, 4, 0, 0, 0x80, 0x3f, 0xf7, INT, 0xf7, 0, 0x31, 0x22, 0x9f
	variable regval, 0xa5, 7, USHORT, 0x9f
	variable deref, 0x40, 0xa6, 2, USHORT, 0x9f
	variable call, 0x99, CALLEE, 0, 0, 0, 0x23, 1, 0x9f
	variable cfa, 0x9c, 0x23, 8
	variable two_types, 0xa4, FLOAT, 4, 0, 0, 0, 0, 0xa4, INT, 4, 0, 0, 0, 0, 0x22, 0x9f
	variable bad_size, 0xa4, FLOAT, 2, 0, 0, 0x9f
	variable bad_reint, 0xa4, FLOAT, 4, 0, 0, 0, 0, 0xa9, DOUBLE, 0x9f
	variable no_type, 0xa8, 1, 0x9f
	variable half_type, 0x31, 0xa8, HALF, 0x9f
	variable float_and, 0xa4, FLOAT, 4, 0, 0, 0, 0, 0x12, 0x1a, 0x9f
	variable deep, 0x99, DEEP & 255, DEEP >> 8, 0, 0
	.set DEEP, b_deep - unit_b
b_deep:
	variable deeper, 0x98, DEEP & 255, DEEP >> 8
	.byte 0, 0
9102:

	.section .debug_addr, "", @progbits
addresses:
	.long 20
	.short 5
	.byte 8, 0
table_a:
	.quad 0x1111, 0x2222
	.long 20
	.short 5
	.byte 8, 0
table_b:
	.quad 0x3333, 0x4444
