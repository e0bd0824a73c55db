/* SPDX-License-Identifier: MIT */
/* Code and bytes. Addresses are those of the device, "0x..." in the protocol. */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    INSTS_MAX = 1 << 14,  /* of one request */
    READ_MAX_B = 4 << 20, /* likewise */
    PAGE_B = 4096,
};

/* `memoryReference` and the offset in bytes of a request. */
static int parse_place(const json_t *arguments, uint64_t *ret_va, struct zs_diag *diag)
{
    const char *text = dap_text(arguments, "memoryReference");
    if (!dap_parse_address(text, ret_va))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`%.64s` is no address",
                           text ? text : "");
    *ret_va += (uint64_t)dap_int(arguments, "offset", 0);
    return 0;
}

/* ---- disassembly ---- */

static void put_inst(struct zs_dap *dap, struct zs_json *json, const struct zs_debug_inst *inst,
                     bool starts_kernel, bool with_source)
{
    char bytes[64];
    size_t at = 0;
    for (uint32_t i = 0; i < ZS_MIN(inst->size_B, 16); i++)
        at += (size_t)snprintf(bytes + at, sizeof(bytes) - at, "%s%02x", i ? " " : "",
                               inst->bytes[i]);
    zs_json_object(json, NULL);
    dap_put_address(json, "address", inst->gpu_va);
    zs_json_string_n(json, "instructionBytes", bytes, at);
    zs_json_string(json, "instruction", inst->text);
    if (starts_kernel && inst->kernel)
        zs_json_string(json, "symbol", inst->kernel);
    if (inst->file && inst->line) {
        if (with_source)
            dap_put_source(dap, json, inst->file, "location");
        zs_json_i64(json, "line", dap_line_out(dap, inst->line));
    }
    zs_json_end(json);
}

/* What is asked for and is not there: clients count on the number of instructions. */
static void put_nothing(struct zs_json *json, uint64_t gpu_va)
{
    zs_json_object(json, NULL);
    dap_put_address(json, "address", gpu_va);
    zs_json_string(json, "instruction", "");
    zs_json_string(json, "presentationHint", "invalid");
    zs_json_end(json);
}

/* insts[count], of which insts[here] is at offset 0; [first, first + wanted) of offsets is told. */
static void put_insts(struct zs_dap *dap, struct zs_json *json, const struct zs_debug_inst *insts,
                      int64_t count, int64_t here, uint64_t gpu_va, int64_t first, int64_t wanted)
{
    enum { INST_B = 16 }; /* steps of addresses where there is no code */
    uint64_t before_va = count ? insts[0].gpu_va : gpu_va;
    uint64_t behind_va = count ? insts[count - 1].gpu_va + insts[count - 1].size_B : gpu_va;
    for (int64_t k = first; k < first + wanted; k++) {
        int64_t i = here + k;
        if (i < 0)
            put_nothing(json, before_va + (uint64_t)(i * INST_B));
        else if (i >= count)
            put_nothing(json, behind_va + (uint64_t)((i - count) * INST_B));
        else
            put_inst(dap, json, &insts[i], !insts[i].offset_B,
                     k == first || !i || insts[i - 1].file != insts[i].file);
    }
}

int handle_disassemble(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                       struct zs_diag *diag)
{
    int64_t first = dap_int(arguments, "instructionOffset", 0);
    int64_t wanted = dap_int(arguments, "instructionCount", 0);
    uint64_t gpu_va;
    int error = parse_place(arguments, &gpu_va, diag);
    if (error)
        return error;
    if (wanted < 0 || wanted > INSTS_MAX || first < -INSTS_MAX || first > INSTS_MAX)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "no more than %d instructions at once",
                           INSTS_MAX);
    uint32_t before = first < 0 ? (uint32_t)-first : 0;
    uint32_t capacity = before + (uint32_t)ZS_MAX(first + wanted, 1);
    struct zs_debug_inst *insts = calloc(capacity, sizeof(*insts));
    if (!insts)
        return -ENOMEM;
    struct zs_diag unknown = {0}; /* no known code: told as instructions that are invalid */
    int count = zs_debug_disassemble(dap->debug, gpu_va, before, insts, capacity, &unknown);
    int64_t here = 0;
    count = ZS_MAX(count, 0);
    while (here < count && insts[here].gpu_va < gpu_va)
        here++;
    zs_json_array(body, "instructions");
    put_insts(dap, body, insts, count, here, gpu_va, first, wanted);
    zs_json_end(body);
    free(insts);
    return 0;
}

/* ---- bytes ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(struct zs_buf *out, const uint8_t *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i += 3) {
        size_t n = ZS_MIN(size_B - i, 3);
        uint32_t value = (uint32_t)bytes[i] << 16 | (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (n > 2 ? bytes[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            zs_buf_putc(out, k > n ? '=' : digits[value >> (18 - 6 * k) & 0x3f]);
    }
}

/* False: no base64 (RFC 4648, with its padding). */
static bool decode(struct zs_buf *out, const char *text, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t n = text[i + 3] != '=' ? 3 : text[i + 2] != '=' ? 2 : 1;
        uint32_t value = 0;
        if (n < 3 && i + 4 != size)
            return false;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = k > n ? digits : strchr(digits, text[i + k]);
            if (!digit || !text[i + k])
                return false;
            value = value << 6 | (uint32_t)(digit - digits);
        }
        for (size_t k = 0; k < n; k++)
            zs_buf_putc(out, (char)(value >> (16 - 8 * k) & 0xff));
    }
    return size % 4 == 0 && !out->error;
}

/* The thread whose memory is looked at: the one in focus. */
static uint32_t memory_thread(struct zs_dap *dap)
{
    uint32_t thread = 0;
    zs_debug_focus(dap->debug, &thread, NULL, NULL);
    return thread;
}

/* How many bytes can be read from the start on: all, or up to the first page that cannot. */
static size_t read_bytes(struct zs_dap *dap, uint64_t gpu_va, uint8_t *bytes, size_t size_B)
{
    struct zs_diag diag = {0};
    uint32_t thread = memory_thread(dap);
    size_t at = 0;
    if (!zs_debug_memory_read(dap->debug, thread, ZS_DEBUG_SPACE_GLOBAL, gpu_va, bytes, size_B,
                              &diag))
        return size_B;
    while (at < size_B) {
        size_t part = ZS_MIN(size_B - at, PAGE_B - (size_t)((gpu_va + at) % PAGE_B));
        if (zs_debug_memory_read(dap->debug, thread, ZS_DEBUG_SPACE_GLOBAL, gpu_va + at, bytes + at,
                                 part, &diag))
            break;
        at += part;
    }
    return at;
}

int handle_readMemory(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                      struct zs_diag *diag)
{
    int64_t count = dap_int(arguments, "count", -1);
    uint64_t gpu_va;
    int error = parse_place(arguments, &gpu_va, diag);
    if (error)
        return error;
    if (count < 0 || count > READ_MAX_B || gpu_va > UINT64_MAX - (uint64_t)count)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "no more than %d bytes at once",
                           READ_MAX_B);
    uint8_t *bytes = malloc((size_t)count + 1);
    if (!bytes)
        return -ENOMEM;
    size_t size_B = count ? read_bytes(dap, gpu_va, bytes, (size_t)count) : 0;
    struct zs_buf text = {0};
    encode(&text, bytes, size_B);
    dap_put_address(body, "address", gpu_va);
    if (size_B < (size_t)count)
        zs_json_u64(body, "unreadableBytes", (uint64_t)count - size_B);
    zs_json_string_n(body, "data", (const char *)text.data, text.size_B);
    error = text.error;
    zs_buf_fini(&text);
    free(bytes);
    return error;
}

int handle_writeMemory(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                       struct zs_diag *diag)
{
    const char *text = dap_text(arguments, "data");
    struct zs_buf bytes = {0};
    uint64_t gpu_va;
    int error = parse_place(arguments, &gpu_va, diag);
    if (!error && (!text || !decode(&bytes, text, strlen(text))))
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`data` is no base64");
    if (!error && bytes.size_B)
        error = zs_debug_memory_write(dap->debug, memory_thread(dap), ZS_DEBUG_SPACE_GLOBAL, gpu_va,
                                      bytes.data, bytes.size_B, diag);
    if (!error) {
        zs_json_u64(body, "bytesWritten", bytes.size_B);
        dap_memory_changed(dap, gpu_va, bytes.size_B);
        dap_invalidated(dap, false);
    }
    zs_buf_fini(&bytes);
    return error;
}
