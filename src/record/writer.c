/* SPDX-License-Identifier: MIT */
#include "record/writer.h"

#include <zescope/record.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"
#include "base/version.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SUFFIX_MAX = 10000,
    SOURCE_MAX_B = 16 << 20,
    NAME_CHARS_MAX = 64,
};

struct source {
    char *path;
    char file[ZS_STORE_FILE_CHARS]; /* empty: it is not there */
    uint64_t size_B;
};

struct zs_recording_writer {
    char *path;
    bool made_folder; /* it was not there before */
    struct zs_recording_plan plan;
    char host[256];
    char cwd[4096];
    char start_time[32];
    struct {
        struct source *items;
        size_t count, capacity;
    } sources;
};

/* With only characters that every shell and file system takes as they are. */
static void put_plain_name(struct zs_buf *out, const char *name)
{
    for (size_t i = 0; name[i] && i < NAME_CHARS_MAX; i++) {
        bool plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                     (name[i] >= '0' && name[i] <= '9') || strchr(i ? "._+-" : "_+-", name[i]);
        zs_buf_putc(out, plain ? name[i] : '_');
    }
}

static void put_app_name(struct zs_buf *out, const char *command)
{
    const char *slash = strrchr(command, '/');
    put_plain_name(out, slash ? slash + 1 : command);
}

/* "{NAME}" and behind: the value of the variable. Moves *at behind the brace. */
static int put_variable(struct zs_buf *out, const char **at, struct zs_diag *diag)
{
    const char *name = *at + 1, *end = **at == '{' ? strchr(name, '}') : NULL;
    char text[256];
    if (!end || end == name || (size_t)(end - name) >= sizeof(text))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%%q in the name of the recording stands before a variable in braces: "
                           "%%q{PMI_RANK}");
    snprintf(text, sizeof(text), "%.*s", (int)(end - name), name);
    const char *value = getenv(text);
    if (!value || !value[0])
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "the name of the recording asks for the variable %s, which is not set",
                           text);
    put_plain_name(out, value);
    *at = end;
    return 0;
}

static int put_expanded(struct zs_buf *out, const char *pattern, const char *host,
                        struct zs_diag *diag)
{
    int error = 0;
    for (const char *p = pattern; *p && !error; p++) {
        if (p[0] != '%') {
            zs_buf_putc(out, *p);
            continue;
        }
        p++;
        if (*p == 'p') {
            zs_buf_put_u64(out, (uint64_t)getpid());
        } else if (*p == 'h') {
            zs_buf_puts(out, host);
        } else if (*p == '%') {
            zs_buf_putc(out, '%');
        } else if (*p == 'q') {
            p++;
            error = put_variable(out, &p, diag);
        } else {
            error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                                "%%%.1s in the name of the recording means nothing: there are %%p, "
                                "%%h, %%q{NAME}, and %%%% for a percent sign",
                                p);
            break;
        }
    }
    return error;
}

int zs_recording_check_name(const char *name, struct zs_diag *diag)
{
    struct zs_buf out = {0};
    int error = put_expanded(&out, name, "", diag);
    zs_buf_fini(&out);
    return error;
}

/* The absolute path that the plan asks for, or an error with a sentence. */
static int wanted_path(const struct zs_recording_writer *w, char **ret_path, struct zs_diag *diag)
{
    struct zs_buf out = {0}, pattern = {0};
    if (w->plan.path) {
        zs_buf_puts(&pattern, w->plan.path);
    } else {
        zs_buf_puts(&pattern, "zescope-");
        put_app_name(&pattern, w->plan.argv[0]);
        zs_buf_puts(&pattern, "-%p");
    }
    if (zs_buf_cstr(&pattern)[0] != '/') {
        zs_buf_puts(&out, w->cwd);
        zs_buf_putc(&out, '/');
    }
    int error = put_expanded(&out, zs_buf_cstr(&pattern), w->host, diag);
    zs_buf_fini(&pattern);
    while (out.size_B > 1 && out.data[out.size_B - 1] == '/')
        out.size_B--;
    *ret_path = error ? NULL : strdup(zs_buf_cstr(&out));
    if (!error && (out.error || !*ret_path)) {
        free(*ret_path);
        *ret_path = NULL;
        error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    }
    zs_buf_fini(&out);
    return error;
}

static bool is_empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    bool empty = dir != NULL;
    while (dir && empty && (entry = readdir(dir)))
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    if (dir)
        closedir(dir);
    return empty;
}

/* A folder is the one's who makes its meta.json, however many recorders find it empty. -EEXIST: it
 * is another's. */
static int claim_folder(const char *path)
{
    char meta[4096];
    int n = snprintf(meta, sizeof(meta), "%s/" ZS_RECORD_META, path);
    if (n < 0 || (size_t)n >= sizeof(meta))
        return -ENAMETOOLONG;
    int fd = open(meta, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

/* The folder becomes ours. 1: a recording stands there; -EEXIST: something else. Recorders that are
 * given the same name may come and go between two looks, so one look says little. */
static int take_folder(struct zs_recording_writer *w, const char *path)
{
    enum { LOOKS = 10 };
    int error = -EEXIST;
    for (int look = 0; look < LOOKS && (error == -EEXIST || error == -ENOENT); look++) {
        w->made_folder = !mkdir(path, 0777);
        if (!w->made_folder && errno != EEXIST)
            return -errno;
        if (w->made_folder || is_empty_folder(path))
            error = claim_folder(path);
        else
            error = -EEXIST;
        if (error == -EEXIST && zs_recording_probe(path))
            return 1;
    }
    return error;
}

static int make_folder(struct zs_recording_writer *w, const char *wanted, struct zs_diag *diag)
{
    int error = 1;
    for (unsigned i = 1; i < SUFFIX_MAX && error > 0; i++) {
        free(w->path);
        w->path = NULL;
        char *path;
        if ((i == 1 ? asprintf(&path, "%s", wanted) : asprintf(&path, "%s.%u", wanted, i)) < 0)
            return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
        error = take_folder(w, path);
        if (error == -EEXIST)
            zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET,
                        "%s exists and is not a recording: choose another place with -o, or "
                        "remove it",
                        path);
        else if (error < 0)
            zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot create %s: %s", path,
                        strerror(-error));
        if (error < 0)
            free(path);
        else
            w->path = path;
    }
    if (error > 0) {
        free(w->path);
        w->path = NULL;
        error = zs_diag_set(diag, -EEXIST, ZS_DIAG_NO_OFFSET, "too many recordings at %s", wanted);
    }
    return error;
}

/* Variables that decide how drivers and compilers behave: worth knowing afterwards. */
static bool is_telling(const char *entry)
{
    static const char *const prefixes[] = {"ZE_",
                                           "ZET_",
                                           "ZES_",
                                           "ZEL_",
                                           "NEO",
                                           "IGC_",
                                           "SYCL_",
                                           "ONEAPI_",
                                           "UR_",
                                           "ZESCOPE_",
                                           "Override",
                                           "ProductFamilyOverride=",
                                           "SetCommandStreamReceiver=",
                                           "LD_PRELOAD=",
                                           "LD_LIBRARY_PATH="};
    for (size_t i = 0; i < ZS_ARRAY_LEN(prefixes); i++)
        if (!strncmp(entry, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static int write_meta(const struct zs_recording_writer *w, const struct zs_recording_result *result,
                      struct zs_diag *diag)
{
    struct zs_buf out = {0};
    struct zs_json j = zs_json_make(&out, 1);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", ZS_RECORDING_SCHEMA);
    zs_json_string(&j, "zescope", ZS_VERSION);
    zs_json_array(&j, "argv");
    for (char *const *arg = w->plan.argv; *arg; arg++)
        zs_json_string(&j, NULL, *arg);
    zs_json_end(&j);
    zs_json_string(&j, "cwd", w->cwd);
    zs_json_string(&j, "host", w->host);
    zs_json_string(&j, "start_time", w->start_time);
    zs_json_bool(&j, "debug_info", w->plan.debug_info);
    zs_json_bool(&j, "trace", !w->plan.no_trace);
    zs_json_bool(&j, "activity", !w->plan.no_trace && !w->plan.no_activity);
    if (w->plan.is_emulated)
        zs_json_bool(&j, "emulated", true);
    if (w->plan.timing)
        zs_json_string(&j, "timing", w->plan.timing);
    zs_json_array(&j, "environment");
    for (char **entry = environ; entry && *entry; entry++)
        if (is_telling(*entry))
            zs_json_string(&j, NULL, *entry);
    zs_json_end(&j);
    zs_json_bool(&j, "finished", result != NULL);
    if (result) {
        zs_json_i64(&j, "exit_status", result->exit_status);
        zs_json_u64(&j, "duration_ns", result->duration_ns);
    }
    zs_json_end(&j);
    zs_buf_putc(&out, '\n');
    int error = out.error ? out.error : zs_store_file(w->path, ZS_RECORD_META, zs_buf_span(&out));
    zs_buf_fini(&out);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot write %s/%s: %s", w->path,
                               ZS_RECORD_META, strerror(-error))
                 : 0;
}

static int fill_folder(const struct zs_recording_writer *w, struct zs_diag *diag)
{
    static const char *const folders[] = {ZS_RECORD_MODULES, ZS_RECORD_PROCESSES,
                                          ZS_RECORD_SOURCES};
    int error = write_meta(w, NULL, diag);
    for (size_t i = 0; !error && i < ZS_ARRAY_LEN(folders); i++) {
        char path[4096];
        int n = snprintf(path, sizeof(path), "%s/%s", w->path, folders[i]);
        error = n < 0 || (size_t)n >= sizeof(path) ? -ENAMETOOLONG : mkdir(path, 0777) ? -errno : 0;
    }
    if (!error)
        error = zs_store_counters_create(w->path);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot write to %s: %s", w->path,
                               strerror(-error))
                 : 0;
}

static void free_writer(struct zs_recording_writer *w)
{
    for (size_t i = 0; i < w->sources.count; i++)
        free(w->sources.items[i].path);
    free(w->sources.items);
    free(w->path);
    free(w);
}

int zs_recording_create(const struct zs_recording_plan *plan,
                        struct zs_recording_writer **ret_writer, struct zs_diag *diag)
{
    *ret_writer = NULL;
    struct zs_recording_writer *w = calloc(1, sizeof(*w));
    if (!w)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    w->plan = *plan;
    if (gethostname(w->host, sizeof(w->host) - 1) || strchr(w->host, '/'))
        strcpy(w->host, "localhost");
    if (!getcwd(w->cwd, sizeof(w->cwd)))
        strcpy(w->cwd, ".");
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(w->start_time, sizeof(w->start_time), "%Y-%m-%dT%H:%M:%SZ", &utc);
    char *wanted;
    int error = wanted_path(w, &wanted, diag);
    if (!error)
        error = make_folder(w, wanted, diag);
    free(wanted);
    if (!error)
        error = fill_folder(w, diag);
    if (error) {
        if (w->path)
            zs_recording_abandon(w);
        else
            free_writer(w);
        return error;
    }
    *ret_writer = w;
    return 0;
}

const char *zs_recording_writer_path(const struct zs_recording_writer *writer)
{
    return writer->path;
}

static bool looks_like_text(struct zs_span span)
{
    return span.size_B > 0 && !memchr(span.data, '\0', ZS_MIN(span.size_B, (size_t)65536));
}

int zs_recording_add_source(struct zs_recording_writer *w, const char *path)
{
    for (size_t i = 0; i < w->sources.count; i++)
        if (!strcmp(w->sources.items[i].path, path))
            return w->sources.items[i].file[0] ? 0 : 1;
    struct source source = {.path = strdup(path)};
    if (!source.path || !ZS_VEC_PUSH(&w->sources, source)) {
        free(source.path);
        return -ENOMEM;
    }
    struct source *kept = &w->sources.items[w->sources.count - 1];
    char folder[4096 + 16], full[8192];
    snprintf(folder, sizeof(folder), "%s/" ZS_RECORD_SOURCES, w->path);
    snprintf(full, sizeof(full), "%s%s%s", path[0] == '/' ? "" : w->cwd, path[0] == '/' ? "" : "/",
             path);
    struct stat st;
    struct zs_file file;
    if (stat(full, &st) || !S_ISREG(st.st_mode) || zs_file_read(full, SOURCE_MAX_B, &file, NULL))
        return 1;
    int error =
        looks_like_text(file.span) ? zs_store_blob(folder, "txt", file.span, kept->file) : 1;
    kept->size_B = file.span.size_B;
    if (error)
        kept->file[0] = '\0';
    zs_file_close(&file);
    return error;
}

static int write_sources(const struct zs_recording_writer *w, struct zs_diag *diag)
{
    struct zs_buf out = {0};
    struct zs_json j = zs_json_make(&out, 2);
    zs_json_object(&j, NULL);
    zs_json_array(&j, "sources");
    for (size_t i = 0; i < w->sources.count; i++) {
        const struct source *s = &w->sources.items[i];
        if (!s->file[0])
            continue;
        zs_json_object(&j, NULL);
        zs_json_string(&j, "path", s->path);
        zs_json_string(&j, "blob", s->file);
        zs_json_u64(&j, "size_B", s->size_B);
        zs_json_end(&j);
    }
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_putc(&out, '\n');
    int error = out.error ? out.error
                          : zs_store_file(w->path, ZS_RECORD_SOURCES ".json", zs_buf_span(&out));
    zs_buf_fini(&out);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot write to %s: %s", w->path,
                               strerror(-error))
                 : 0;
}

int zs_recording_finish(struct zs_recording_writer *w, const struct zs_recording_result *result,
                        struct zs_diag *diag)
{
    int error = w->sources.count ? write_sources(w, diag) : 0;
    int meta_error = write_meta(w, result, diag);
    free_writer(w);
    return error ? error : meta_error;
}

void zs_recording_abandon(struct zs_recording_writer *w)
{
    /* what makes the folder ours goes last */
    static const char *const names[] = {ZS_RECORD_COUNTERS, ZS_RECORD_MODULES, ZS_RECORD_PROCESSES,
                                        ZS_RECORD_SOURCES, ZS_RECORD_META};
    int fd = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; fd >= 0 && i < ZS_ARRAY_LEN(names); i++)
        if (unlinkat(fd, names[i], 0) && errno == EISDIR)
            unlinkat(fd, names[i], AT_REMOVEDIR);
    if (fd >= 0)
        close(fd);
    if (w->made_folder)
        rmdir(w->path);
    free_writer(w);
}
