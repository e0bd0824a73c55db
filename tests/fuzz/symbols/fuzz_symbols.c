/* SPDX-License-Identifier: MIT */
/*
 * A recording whose backtraces' files are the input: the parts, separated by the byte 0x1e, are the
 * .maps and the .symbols of a process, and the addresses to look up, eight bytes each.
 */
#include "../folder.h"
#include "symbols/symbols.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static void look_up(struct zs_symbols *symbols, uint64_t pc)
{
    const struct zs_symbol_frame *frames;
    uint32_t count = zs_symbols_frames(symbols, 1, pc, &frames);
    if (!count)
        __builtin_trap();
    for (uint32_t i = 0; i < count; i++) {
        char text[64];
        zs_symbol_format(&frames[i], text, sizeof(text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static const char *const names[] = {"trace/1-0.maps", "trace/1-0.symbols"};
    struct zs_symbols *symbols;
    if (!folder[0]) {
        make_folder("trace");
        put("trace/1-0-0.pftrace", NULL, 0);
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        const uint8_t *end = size_B ? memchr(data, 0x1e, size_B) : NULL;
        size_t part_B = end ? (size_t)(end - data) : size_B;
        put(names[i], data, part_B);
        data += part_B;
        size_B -= part_B;
        if (end) {
            data++;
            size_B--;
        }
    }
    if (zs_symbols_open(folder, &symbols, NULL))
        return 0;
    for (; size_B >= 8; data += 8, size_B -= 8) {
        uint64_t pc;
        memcpy(&pc, data, sizeof(pc));
        look_up(symbols, pc);
    }
    look_up(symbols, 0);
    zs_symbols_close(symbols);
    return 0;
}
