/* SPDX-License-Identifier: MIT */
/* Names of the model's enumerations. */
#include "module/module.h"

#define NAME_TABLE(function, type, table)                                                          \
    const char *function(enum type value)                                                          \
    {                                                                                              \
        return (size_t)value < ZS_ARRAY_LEN(table) && table[value] ? table[value] : "";            \
    }

static const char *const container_names[ZS_CONTAINER_COUNT] = {
    "unknown",      "ar archive",     "NEO ELF", "zebin",
    "patch tokens", "IGC debug data", "SPIR-V",  "debug ELF",
};
NAME_TABLE(zs_container_name, zs_container, container_names)

static const char *const payload_names[ZS_PAYLOAD_COUNT] = {
#define ZS_PAYLOAD(name, text, token, arg_type, scope, patched) [ZS_PAYLOAD_##name] = text,
#include <zescope/module_payload.def>
#undef ZS_PAYLOAD
};
NAME_TABLE(zs_payload_name, zs_payload_kind, payload_names)

static const bool payload_patched[ZS_PAYLOAD_COUNT] = {
#define ZS_PAYLOAD(name, text, token, arg_type, scope, patched) [ZS_PAYLOAD_##name] = patched,
#include <zescope/module_payload.def>
#undef ZS_PAYLOAD
};
bool zs_payload_is_patched(enum zs_payload_kind kind)
{
    return (size_t)kind < ZS_PAYLOAD_COUNT && payload_patched[kind];
}

static const char *const surface_names[ZS_SURFACE_KIND_COUNT] = {
    "buffer", "image",      "queue",         "constant", "global",    "private",
    "printf", "event pool", "default queue", "sync",     "rt global", "system routine",
};
NAME_TABLE(zs_surface_kind_name, zs_surface_kind, surface_names)

static const char *const symbol_names[ZS_SYMBOL_KIND_COUNT] = {
    "none",          "undefined", "function", "global variable", "constant variable",
    "const sampler", "kernel",    "section",  "label",
};
NAME_TABLE(zs_symbol_kind_name, zs_symbol_kind, symbol_names)

static const char *const relocation_names[ZS_RELOCATION_KIND_COUNT] = {
    "none",          "address", "address_32", "address_32_hi", "per_thread_payload_offset_32",
    "global_imm_32", "send",    "address_16", "add_base",
};
NAME_TABLE(zs_relocation_kind_name, zs_relocation_kind, relocation_names)

uint32_t zs_relocation_size_B(enum zs_relocation_kind kind)
{
    static const uint8_t sizes_B[ZS_RELOCATION_KIND_COUNT] = {0, 8, 4, 4, 4, 4, 0, 2, 8};
    return (size_t)kind < ZS_ARRAY_LEN(sizes_B) ? sizes_B[kind] : 0;
}

const char *zs_kernel_flag_name(uint32_t flag)
{
    static const struct {
        uint32_t flag;
        const char *text;
    } flags[] = {
#define ZS_KERNEL_FLAG(bit, name, text, key, offset) {ZS_KERNEL_##name, text},
#include <zescope/module_flags.def>
#undef ZS_KERNEL_FLAG
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(flags); i++)
        if (flags[i].flag == flag)
            return flags[i].text;
    return "";
}
