/* SPDX-License-Identifier: MIT */
/* Numbers of DWARF 4 and 5 that are used here; tables in dwarf_forms.def and dwarf_ops.def. */
#ifndef ZS_DWARF_DWARF_H
#define ZS_DWARF_DWARF_H

#include "base/compiler.h"

enum {
    DW_TAG_array_type = 0x01,
    DW_TAG_class_type = 0x02,
    DW_TAG_enumeration_type = 0x04,
    DW_TAG_formal_parameter = 0x05,
    DW_TAG_lexical_block = 0x0b,
    DW_TAG_member = 0x0d,
    DW_TAG_pointer_type = 0x0f,
    DW_TAG_reference_type = 0x10,
    DW_TAG_compile_unit = 0x11,
    DW_TAG_structure_type = 0x13,
    DW_TAG_subroutine_type = 0x15,
    DW_TAG_typedef = 0x16,
    DW_TAG_union_type = 0x17,
    DW_TAG_inheritance = 0x1c,
    DW_TAG_inlined_subroutine = 0x1d,
    DW_TAG_subrange_type = 0x21,
    DW_TAG_base_type = 0x24,
    DW_TAG_const_type = 0x26,
    DW_TAG_enumerator = 0x28,
    DW_TAG_subprogram = 0x2e,
    DW_TAG_variable = 0x34,
    DW_TAG_volatile_type = 0x35,
    DW_TAG_restrict_type = 0x37,
    DW_TAG_namespace = 0x39,
    DW_TAG_unspecified_type = 0x3b,
    DW_TAG_rvalue_reference_type = 0x42,
    DW_TAG_atomic_type = 0x47,

    DW_AT_sibling = 0x01,
    DW_AT_location = 0x02,
    DW_AT_name = 0x03,
    DW_AT_byte_size = 0x0b,
    DW_AT_bit_offset = 0x0c,
    DW_AT_bit_size = 0x0d,
    DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_language = 0x13,
    DW_AT_comp_dir = 0x1b,
    DW_AT_const_value = 0x1c,
    DW_AT_inline = 0x20,
    DW_AT_producer = 0x25,
    DW_AT_upper_bound = 0x2f,
    DW_AT_abstract_origin = 0x31,
    DW_AT_address_class = 0x33,
    DW_AT_artificial = 0x34,
    DW_AT_count = 0x37,
    DW_AT_data_member_location = 0x38,
    DW_AT_decl_file = 0x3a,
    DW_AT_decl_line = 0x3b,
    DW_AT_declaration = 0x3c,
    DW_AT_encoding = 0x3e,
    DW_AT_frame_base = 0x40,
    DW_AT_specification = 0x47,
    DW_AT_type = 0x49,
    DW_AT_ranges = 0x55,
    DW_AT_call_column = 0x57,
    DW_AT_call_file = 0x58,
    DW_AT_call_line = 0x59,
    DW_AT_data_bit_offset = 0x6b,
    DW_AT_linkage_name = 0x6e,
    DW_AT_str_offsets_base = 0x72,
    DW_AT_addr_base = 0x73,
    DW_AT_rnglists_base = 0x74,
    DW_AT_loclists_base = 0x8c,
    DW_AT_GNU_vector = 0x2107,
    DW_AT_INTEL_simd_width = 0x2400,

    DW_UT_compile = 0x01,
    DW_UT_partial = 0x03,

    DW_LNS_copy = 1,
    DW_LNS_advance_pc,
    DW_LNS_advance_line,
    DW_LNS_set_file,
    DW_LNS_set_column,
    DW_LNS_negate_stmt,
    DW_LNS_set_basic_block,
    DW_LNS_const_add_pc,
    DW_LNS_fixed_advance_pc,
    DW_LNS_set_prologue_end,
    DW_LNS_set_epilogue_begin,
    DW_LNS_set_isa,
    DW_LNS_COUNT,

    DW_LNE_end_sequence = 1,
    DW_LNE_set_address,
    DW_LNE_define_file,
    DW_LNE_set_discriminator,

    DW_LNCT_path = 1,
    DW_LNCT_directory_index,
    DW_LNCT_timestamp,
    DW_LNCT_size,
    DW_LNCT_MD5,
};

/* What a form's value is. */
enum zs_form_class {
    ZS_CLASS_NONE, /* a form that is not known */
    ZS_CLASS_ADDRESS,
    ZS_CLASS_NUMBER,
    ZS_CLASS_SIGNED,
    ZS_CLASS_FLAG,
    ZS_CLASS_BLOCK,
    ZS_CLASS_EXPR,
    ZS_CLASS_STRING,     /* inline */
    ZS_CLASS_STR_OFFSET, /* in .debug_str */
    ZS_CLASS_LINE_STR,   /* in .debug_line_str */
    ZS_CLASS_STR_INDEX,  /* in .debug_str_offsets */
    ZS_CLASS_ADDR_INDEX, /* in .debug_addr */
    ZS_CLASS_REF,        /* offset in .debug_info */
    ZS_CLASS_SEC_OFFSET, /* in the section that the attribute implies */
    ZS_CLASS_LOC_INDEX,  /* in the offsets of .debug_loclists */
    ZS_CLASS_RNG_INDEX,  /* ... of .debug_rnglists */
    ZS_CLASS_FOREIGN,    /* another file, a type signature: read over */
};

/* How a form is laid out. */
enum zs_form_size {
    ZS_SIZE_0,
    ZS_SIZE_1,
    ZS_SIZE_2,
    ZS_SIZE_3,
    ZS_SIZE_4,
    ZS_SIZE_8,
    ZS_SIZE_16,
    ZS_SIZE_ADDRESS,
    ZS_SIZE_OFFSET,
    ZS_SIZE_ULEB,
    ZS_SIZE_SLEB,
    ZS_SIZE_CSTR,
    ZS_SIZE_BLOCK1,
    ZS_SIZE_BLOCK2,
    ZS_SIZE_BLOCK4,
    ZS_SIZE_BLOCK_ULEB,
    ZS_SIZE_IMPLICIT,
    ZS_SIZE_INDIRECT,
};

enum {
#define ZS_DWARF_FORM(value, name, size, form_class, local) DW_FORM_##name = (value),
#include "dwarf/dwarf_forms.def"
#undef ZS_DWARF_FORM
};

#endif
