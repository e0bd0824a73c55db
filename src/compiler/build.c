/* SPDX-License-Identifier: MIT */
/*
 * A build: what memory has, or what files have, or what a worker makes.
 *
 * The key of a result is a checksum of the request, of the settings of the environment that the
 * compiler reads, and of the compiler's identity, which the helper gives. So that a program that
 * starts again need not ask the helper, the identity is kept in a file, too, under a key of what
 * decides which compiler would be loaded (the helper, the paths of libraries); it holds the sizes
 * and times of the compiler's files, and counts as long as they still have them.
 */
#include "compiler/cache.h"
#include "compiler/disk.h"
#include "compiler/process.h"
#include "compiler/request.h"

#include "base/reader.h"
#include "base/version.h"

#include <errno.h>
#include <stdlib.h>

struct zs_compiler {
    struct zs_processes processes;
    struct zs_cache cache;
    struct zs_disk disk;
    bool remembers;
    _Atomic uint64_t compiled, from_files, from_memory;
    pthread_mutex_t lock; /* of the rest */
    bool has_identity;
    uint8_t identity[ZS_SHA256_B];
};

struct zs_compiler *zs_compiler_create(const struct zs_compiler_settings *settings)
{
    struct zs_compiler *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    if (zs_processes_init(&c->processes, settings) != 0) {
        free(c);
        return NULL;
    }
    c->remembers = settings->remembers && !c->processes.environment.has_effects;
    zs_cache_init(&c->cache, settings->cache_memory_B);
    zs_disk_init(&c->disk, settings->cache_folder, c->remembers ? settings->cache_B : 0);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void zs_compiler_destroy(struct zs_compiler *compiler)
{
    if (!compiler)
        return;
    zs_processes_fini(&compiler->processes);
    zs_cache_fini(&compiler->cache);
    zs_disk_fini(&compiler->disk);
    pthread_mutex_destroy(&compiler->lock);
    free(compiler);
}

void zs_compiler_abandon(struct zs_compiler *compiler)
{
    if (compiler)
        zs_processes_abandon(&compiler->processes);
}

void zs_compiler_count(struct zs_compiler *compiler, struct zs_compiler_counts *ret_counts)
{
    *ret_counts = (struct zs_compiler_counts){.compiled = compiler->compiled,
                                              .from_files = compiler->from_files,
                                              .from_memory = compiler->from_memory};
}

/* ---- Who the compiler is -----------------------------------------------------------------------
 */

/* What decides which libraries the helper loads. */
static void lookup_key(const struct zs_compiler *c, uint8_t ret_key[ZS_SHA256_B])
{
    struct zs_buf text = {0};
    zs_buf_puts(&text, "zescope compiler " ZS_VERSION "\n");
    zs_put_file(&text, c->processes.helper);
    zs_put_file(&text, "/etc/ld.so.cache");
    for (char **s = c->processes.environment.strings; *s; s++) {
        if (strncmp(*s, "ZESCOPE_IGC=", 12) == 0)
            zs_buf_printf(&text, "%s\n", *s);
        if (strncmp(*s, "LD_LIBRARY_PATH=", 16) != 0)
            continue;
        zs_buf_printf(&text, "%s\n", *s);
        for (const char *at = *s + 16; *at; at += *at == ':') {
            struct zs_buf folder = {0};
            size_t length = strcspn(at, ":");
            zs_buf_append(&folder, at, length);
            zs_put_file(&text, zs_buf_cstr(&folder));
            zs_buf_fini(&folder);
            at += length;
        }
    }
    zs_sha256(zs_buf_span(&text), ret_key);
    zs_buf_fini(&text);
}

/* Each line is a path and what zs_put_file said of it. */
static bool is_current(const struct zs_buf *identity)
{
    struct zs_buf now = {0}, path = {0};
    const char *text = (const char *)identity->data;
    for (size_t at = 0; at < identity->size_B;) {
        const char *end = memchr(text + at, '\n', identity->size_B - at);
        const char *space = NULL;
        size_t length = end ? (size_t)(end - text) - at : identity->size_B - at;
        for (size_t i = length, found = 0; i > 0 && !space; i--) { /* the second from the end */
            found += text[at + i - 1] == ' ';
            space = found == 2 ? text + at + i - 1 : NULL;
        }
        path.size_B = 0;
        zs_buf_append(&path, text + at, space ? (size_t)(space - (text + at)) : length);
        zs_put_file(&now, zs_buf_cstr(&path));
        at += length + 1;
    }
    bool same = zs_span_equal(zs_buf_span(&now), zs_buf_span(identity));
    zs_buf_fini(&now);
    zs_buf_fini(&path);
    return same;
}

/* The identity, from the file or from the helper, which is not started for what is only asked. */
static int identify(struct zs_compiler *c, bool only_known, uint8_t ret_identity[ZS_SHA256_B],
                    struct zs_buf *ret_why)
{
    uint8_t key[ZS_SHA256_B];
    struct zs_buf text = {0};
    int error = 0;
    pthread_mutex_lock(&c->lock);
    if (!c->has_identity) {
        lookup_key(c, key);
        if (!zs_disk_get(&c->disk, key, &text) || !is_current(&text)) {
            text.size_B = 0;
            error = only_known ? -ENOENT : zs_processes_identity(&c->processes, &text, ret_why);
            if (!error && is_current(&text))
                zs_disk_put(&c->disk, key, zs_buf_span(&text));
        }
        c->has_identity = !error;
        if (!error)
            zs_sha256(zs_buf_span(&text), c->identity);
        zs_buf_fini(&text);
    }
    memcpy(ret_identity, c->identity, ZS_SHA256_B);
    pthread_mutex_unlock(&c->lock);
    return error;
}

static void result_key(const struct zs_compiler *c, const uint8_t identity[ZS_SHA256_B],
                       struct zs_span request, uint8_t ret_key[ZS_SHA256_B])
{
    struct {
        char what[32];
        uint8_t identity[ZS_SHA256_B], environment[ZS_SHA256_B], request[ZS_SHA256_B];
    } parts = {.what = "zescope result " ZS_VERSION};
    memcpy(parts.identity, identity, ZS_SHA256_B);
    zs_sha256(zs_buf_span(&c->processes.environment.key), parts.environment);
    zs_sha256(request, parts.request);
    zs_sha256(zs_span_make(&parts, sizeof(parts)), ret_key);
}

/* ---- Results -----------------------------------------------------------------------------------
 */

static bool load_result(struct zs_compiler *c, struct zs_built *built)
{
    struct zs_buf file = {0};
    bool found = zs_disk_get(&c->disk, built->key, &file);
    struct zs_reader r = zs_reader_make(zs_buf_span(&file), 0, NULL);
    struct zs_span text = zs_read_bytes(&r, zs_read_u64(&r, "bytes of text"), "text");
    struct zs_span binary = zs_read_bytes(&r, zs_reader_left(&r), "binary");
    found = found && !r.error && binary.size_B > 0;
    if (found) {
        zs_buf_append(&built->text, text.data, text.size_B);
        zs_buf_append(&built->binary, binary.data, binary.size_B);
    }
    zs_buf_fini(&file);
    return found && !built->text.error && !built->binary.error;
}

static void save_result(struct zs_compiler *c, const struct zs_built *built)
{
    struct zs_buf file = {0};
    zs_put_result(&file, zs_buf_span(&built->text), zs_buf_span(&built->binary));
    if (!file.error)
        zs_disk_put(&c->disk, built->key, zs_buf_span(&file));
    zs_buf_fini(&file);
}

/* The compiler that ran may be another than the one that was asked for at first: it was replaced
 * while this process ran. Then its result has another key. */
static bool ran_as(struct zs_compiler *c, const uint8_t identity[ZS_SHA256_B])
{
    uint8_t ran[ZS_SHA256_B];
    pthread_mutex_lock(&c->processes.start_lock);
    memcpy(ran, c->processes.identity, sizeof(ran));
    pthread_mutex_unlock(&c->processes.start_lock);
    if (memcmp(ran, identity, sizeof(ran)) == 0)
        return true;
    pthread_mutex_lock(&c->lock);
    memcpy(c->identity, ran, sizeof(ran));
    pthread_mutex_unlock(&c->lock);
    return false;
}

/* A request, and its bytes, of which the first name it. */
struct asked {
    const struct zs_compiler_request *request;
    struct zs_buf bytes;
    size_t named_B;
};

static struct zs_span name_of(const struct asked *asked)
{
    return zs_span_make(asked->bytes.data, asked->named_B);
}

static enum zs_compiler_status build_anew(struct zs_compiler *c, const struct asked *asked,
                                          struct zs_span keep, struct zs_buf *ret_binary,
                                          struct zs_buf *ret_text)
{
    if (asked->request->only_known || (asked->request->is_background && zs_spawn_adopts()))
        return ZS_COMPILER_UNAVAILABLE;
    c->compiled++;
    return zs_processes_build(&c->processes, zs_buf_span(&asked->bytes), keep,
                              asked->request->is_background, ret_binary, ret_text);
}

static void put_keep(const struct zs_compiler *c, const struct zs_built *built,
                     const uint8_t identity[ZS_SHA256_B], struct zs_buf *ret_keep)
{
    struct zs_keep keep = {.limit_B = c->disk.limit_B, .folder = c->disk.folder};
    memcpy(keep.identity, identity, ZS_SHA256_B);
    memcpy(keep.key, built->key, ZS_SHA256_B);
    zs_keep_put(&keep, ret_keep);
}

/* Nobody has made it yet. Whether it was asked for before, perhaps by a process that has ended. */
static bool is_wanted(const struct zs_compiler *c, const struct asked *asked)
{
    static const uint8_t none[ZS_SHA256_B];
    uint8_t key[ZS_SHA256_B];
    struct zs_buf note = {0};
    result_key(c, none, name_of(asked), key);
    bool before = zs_disk_get(&c->disk, key, &note);
    if (!before)
        zs_disk_put(&c->disk, key, zs_span_make("wanted", 6));
    zs_buf_fini(&note);
    return before;
}

static void settle(struct zs_compiler *c, struct zs_built *built, const struct asked *asked,
                   const uint8_t identity[ZS_SHA256_B])
{
    enum zs_compiler_status status = ZS_COMPILER_OK;
    if (!asked->request->is_anew && load_result(c, built)) {
        c->from_files++;
    } else {
        struct zs_buf keep = {0};
        built->text.size_B = built->binary.size_B = 0;
        if (asked->request->is_background && c->disk.folder)
            put_keep(c, built, identity, &keep);
        status = build_anew(c, asked, zs_buf_span(&keep), &built->binary, &built->text);
        zs_buf_fini(&keep);
        if (status == ZS_COMPILER_OK && ran_as(c, identity))
            save_result(c, built);
    }
    zs_cache_settle(&c->cache, built, status);
}

static enum zs_compiler_status build_known(struct zs_compiler *c, const struct asked *asked,
                                           struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    uint8_t identity[ZS_SHA256_B], key[ZS_SHA256_B];
    bool is_mine;
    if (identify(c, asked->request->only_known, identity, ret_log) != 0)
        return ZS_COMPILER_UNAVAILABLE;
    result_key(c, identity, name_of(asked), key);
    if (asked->request->is_anew)
        zs_cache_forget(&c->cache, key);
    struct zs_built *built = zs_cache_take(&c->cache, key, &is_mine);
    if (!built)
        return ZS_COMPILER_NO_MEMORY;
    if (is_mine)
        settle(c, built, asked, identity);
    else
        c->from_memory++;
    enum zs_compiler_status status = built->status;
    zs_buf_append(ret_log, built->text.data, built->text.size_B);
    zs_buf_append(ret_binary, built->binary.data, built->binary.size_B);
    zs_cache_release(&c->cache, built);
    return status;
}

enum zs_compiler_status zs_compiler_build(struct zs_compiler *compiler,
                                          const struct zs_compiler_request *request,
                                          struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    struct asked asked = {.request = request};
    enum zs_compiler_status status;
    int cancel, error = zs_request_put(request, &asked.bytes, &asked.named_B);
    /* a thread that is cancelled here would leave turns and builds taken for ever */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (error == -EINVAL) {
        zs_buf_printf(ret_log, "%u modules are more than can be linked\n", request->unit_count);
        status = ZS_COMPILER_LINK_FAILED;
    } else if (error) {
        status = ZS_COMPILER_NO_MEMORY;
    } else if (compiler->remembers) {
        status = build_known(compiler, &asked, ret_binary, ret_log);
        if (request->only_known && status == ZS_COMPILER_UNAVAILABLE && is_wanted(compiler, &asked))
            status = ZS_COMPILER_WANTED;
    } else {
        status = build_anew(compiler, &asked, zs_span_make(NULL, 0), ret_binary, ret_log);
    }
    zs_processes_rest(&compiler->processes);
    pthread_setcancelstate(cancel, NULL);
    zs_buf_fini(&asked.bytes);
    return status == ZS_COMPILER_OK && ret_binary->error ? ZS_COMPILER_NO_MEMORY : status;
}
