/* SPDX-License-Identifier: MIT */
#include "record/recording_priv.h"

#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

json_t *parse_json(struct zs_span text, struct zs_diag *diag)
{
    json_error_t error;
    json_t *json = json_loadb((const char *)text.data, text.size_B, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        zs_diag_set(diag, -EINVAL, error.position < 0 ? 0 : (uint64_t)error.position, "%s",
                    error.text);
    return json;
}

static const char *keep(struct zs_recording *r, const json_t *string)
{
    const char *text = json_string_value(string);
    if (!text)
        return "";
    char *copy = zs_arena_strndup(&r->arena, text, json_string_length(string));
    r->out_of_memory |= !copy;
    return copy ? copy : "";
}

const char *member_text(struct zs_recording *r, const json_t *object, const char *key)
{
    return keep(r, json_object_get(object, key));
}

uint64_t member_u64(const json_t *object, const char *key, uint64_t max)
{
    const json_t *value = json_object_get(object, key);
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    return n < 0 ? 0 : ZS_MIN((uint64_t)n, max);
}

uint64_t member_hex(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && !strncmp(text, "0x", 2) ? strtoull(text + 2, NULL, 16) : 0;
}

const char *const *member_texts(struct zs_recording *r, const json_t *object, const char *key,
                                uint32_t *ret_count)
{
    const json_t *array = json_object_get(object, key);
    size_t size = ZS_MIN(json_array_size(array), (size_t)UINT32_MAX);
    const char **texts = ZS_ARENA_ARRAY(&r->arena, size + 1, const char *);
    *ret_count = 0;
    r->out_of_memory |= !texts;
    for (size_t i = 0; texts && i < size; i++)
        if (json_is_string(json_array_get(array, i)))
            texts[(*ret_count)++] = keep(r, json_array_get(array, i));
    return texts;
}

/* "<64 hex digits>.<1 to 6 letters>" */
static bool is_blob_name(const char *name)
{
    size_t length = strlen(name);
    if (length < ZS_SHA256_HEX_CHARS + 2 || length > ZS_SHA256_HEX_CHARS + 7 ||
        name[ZS_SHA256_HEX_CHARS] != '.')
        return false;
    return strspn(name, "0123456789abcdef") == ZS_SHA256_HEX_CHARS &&
           strspn(name + ZS_SHA256_HEX_CHARS + 1, "abcdefghijklmnopqrstuvwxyz") ==
               length - ZS_SHA256_HEX_CHARS - 1;
}

struct zs_record_blob member_blob(struct zs_recording *r, const json_t *object, const char *key,
                                  int fd, const char *folder, uint32_t process)
{
    const json_t *member = key ? json_object_get(object, key) : object;
    const char *name = json_string_value(json_object_get(member, "blob"));
    struct zs_record_blob blob = {.size_B = member_u64(member, "size_B", UINT64_MAX)};
    struct stat st;
    if (!name)
        return blob;
    if (!is_blob_name(name)) {
        recording_note(r, process, "%.80s is not a name of a file in %s", name, folder);
        return blob;
    }
    if (fd < 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) {
        recording_note(r, process, "%s/%s is missing, or no file", folder, name);
        return blob;
    }
    if ((uint64_t)st.st_size != blob.size_B) {
        recording_note(r, process, "%s/%s is not as it was recorded: %jd bytes of %" PRIu64, folder,
                       name, (intmax_t)st.st_size, blob.size_B);
        return blob;
    }
    size_t size_B = strlen(folder) + strlen(name) + 2;
    char *file = zs_arena_alloc(&r->arena, size_B);
    r->out_of_memory |= !file;
    if (file)
        snprintf(file, size_B, "%s/%s", folder, name);
    blob.file = file;
    return blob;
}
