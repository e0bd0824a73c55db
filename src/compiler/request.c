/* SPDX-License-Identifier: MIT */
#include "compiler/request.h"

#include "base/reader.h"

#include <errno.h>
#include <sys/stat.h>

void zs_put_u64(struct zs_buf *buf, uint64_t value)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    zs_buf_append(buf, bytes, sizeof(bytes));
}

void zs_put_file(struct zs_buf *buf, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        zs_buf_printf(buf, "%s none\n", path);
    else
        zs_buf_printf(buf, "%s %lld %lld.%09ld\n", path, (long long)st.st_size,
                      (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

void zs_put_result(struct zs_buf *file, struct zs_span text, struct zs_span binary)
{
    zs_put_u64(file, text.size_B);
    zs_buf_append(file, text.data, text.size_B);
    zs_buf_append(file, binary.data, binary.size_B);
}

void zs_keep_put(const struct zs_keep *keep, struct zs_buf *ret_bytes)
{
    zs_buf_append(ret_bytes, keep->identity, sizeof(keep->identity));
    zs_buf_append(ret_bytes, keep->key, sizeof(keep->key));
    zs_put_u64(ret_bytes, keep->limit_B);
    zs_buf_append(ret_bytes, keep->folder, strlen(keep->folder) + 1);
}

int zs_keep_parse(struct zs_span bytes, struct zs_keep *ret_keep)
{
    struct zs_reader r = zs_reader_make(bytes, 0, NULL);
    struct zs_span identity = zs_read_bytes(&r, ZS_SHA256_B, "identity");
    struct zs_span key = zs_read_bytes(&r, ZS_SHA256_B, "key");
    ret_keep->limit_B = zs_read_u64(&r, "size of the cache");
    ret_keep->folder = zs_read_cstr(&r, "folder");
    if (r.error || zs_reader_left(&r))
        return -EBADMSG;
    memcpy(ret_keep->identity, identity.data, ZS_SHA256_B);
    memcpy(ret_keep->key, key.data, ZS_SHA256_B);
    return 0;
}

static void put_string(struct zs_buf *buf, const char *text)
{
    zs_buf_append(buf, text ? text : "", text ? strlen(text) + 1 : 1);
}

int zs_request_put(const struct zs_compiler_request *request, struct zs_buf *ret_bytes,
                   size_t *ret_named_B)
{
    *ret_named_B = 0;
    if (request->unit_count == 0 || request->unit_count > ZS_COMPILER_UNITS_MAX)
        return -EINVAL;
    put_string(ret_bytes, request->device);
    put_string(ret_bytes, request->options);
    put_string(ret_bytes, request->internal_options);
    zs_put_u64(ret_bytes, request->is_source);
    zs_put_u64(ret_bytes, request->unit_count);
    for (uint32_t i = 0; i < request->unit_count; i++)
        zs_put_u64(ret_bytes, request->units[i].size_B);
    for (uint32_t i = 0; i < request->unit_count; i++)
        zs_buf_append(ret_bytes, request->units[i].data, request->units[i].size_B);
    *ret_named_B = ret_bytes->size_B;
    zs_buf_append(ret_bytes, request->hint.data, request->hint.size_B);
    return ret_bytes->error;
}

int zs_request_parse(struct zs_span bytes, struct zs_parsed_request *ret_parsed)
{
    struct zs_reader r = zs_reader_make(bytes, 0, NULL);
    struct zs_compiler_request *request = &ret_parsed->request;
    *ret_parsed = (struct zs_parsed_request){0};
    request->device = zs_read_cstr(&r, "device");
    request->options = zs_read_cstr(&r, "options");
    request->internal_options = zs_read_cstr(&r, "internal options");
    request->is_source = zs_read_u64(&r, "is it a source") != 0;
    uint64_t count = zs_read_u64(&r, "number of units");
    if (r.error || count == 0 || count > ZS_COMPILER_UNITS_MAX)
        return -EBADMSG;
    request->unit_count = (uint32_t)count;
    request->units = ret_parsed->units;
    uint64_t size_B[ZS_COMPILER_UNITS_MAX];
    for (uint32_t i = 0; i < request->unit_count; i++)
        size_B[i] = zs_read_u64(&r, "size of a unit");
    for (uint32_t i = 0; i < request->unit_count; i++)
        ret_parsed->units[i] = zs_read_bytes(&r, size_B[i], "unit");
    request->hint = zs_read_bytes(&r, zs_reader_left(&r), "hint");
    return r.error ? -EBADMSG : 0;
}
