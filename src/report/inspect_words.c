/* SPDX-License-Identifier: MIT */
#include "report/inspect.h"

#include "base/compiler.h"

#define WORDS(function, type, ...)                                                                 \
    const char *function(type value)                                                               \
    {                                                                                              \
        static const char *const words[] = {__VA_ARGS__};                                          \
        return (size_t)value < ZS_ARRAY_LEN(words) ? words[value] : "";                            \
    }

WORDS(zs_inspect_arg_kind, enum zs_arg_kind, "unused", "value", "buffer", "local", "image",
      "sampler", "queue")
WORDS(zs_inspect_space, enum zs_address_space, "", "private", "global", "constant", "local")
WORDS(zs_inspect_access, enum zs_access, "", "read_only", "write_only", "read_write")
WORDS(zs_inspect_image_type, enum zs_image_type, "", "buffer", "1d", "1d_array", "2d", "2d_array",
      "3d", "cube", "cube_array", "2d_depth", "2d_array_depth", "2d_msaa", "2d_msaa_depth",
      "2d_array_msaa", "2d_array_msaa_depth", "2d_media", "2d_media_block")
WORDS(zs_inspect_sampler_address, enum zs_sampler_address, "none", "clamp_border", "clamp_edge",
      "repeat", "mirror")
WORDS(zs_inspect_place, enum zs_place_kind, "unresolved", "kernel", "constant", "global", "strings",
      "section")
WORDS(zs_inspect_buffer, enum zs_buffer_kind, "constant", "global", "strings")
WORDS(zs_inspect_debug, enum zs_debug_kind, "none", "kernel ELF", "zebin", "linked zebin")

const char *zs_inspect_mode(uint32_t index)
{
    static const char *const words[] = {"stateless", "stateful", "bindless", "slm"};
    return index < ZS_ARRAY_LEN(words) ? words[index] : NULL;
}

const char *zs_inspect_qualifier(uint32_t index)
{
    static const char *const words[] = {"const", "restrict", "volatile", "pipe"};
    return index < ZS_ARRAY_LEN(words) ? words[index] : NULL;
}
