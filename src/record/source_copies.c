/* SPDX-License-Identifier: MIT */
#include "record/source_copies.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

static int find(void *user, const char *path, struct zs_span *ret_text)
{
    struct zs_source_copies *c = user;
    for (size_t i = 0; i < c->recording_count; i++) {
        const struct zs_record_source *source = zs_recording_find_source(c->recordings[i], path);
        struct zs_span text;
        if (!source || zs_recording_blob_read(c->recordings[i], &source->blob, &text, NULL))
            continue;
        if (!ZS_VEC_PUSH(&c->texts, text)) {
            zs_recording_blob_free(&text);
            return -ENOMEM;
        }
        *ret_text = text;
        return 0;
    }
    return -ENOENT;
}

struct zs_source_provider zs_source_copies_provider(struct zs_source_copies *copies)
{
    return (struct zs_source_provider){copies, find};
}

void zs_source_copies_fini(struct zs_source_copies *c)
{
    for (size_t i = 0; i < c->texts.count; i++)
        zs_recording_blob_free(&c->texts.items[i]);
    free(c->texts.items);
    *c = (struct zs_source_copies){0};
}
