/* SPDX-License-Identifier: MIT */
#include "cli/check_report.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"
#include "base/version.h"
#include "store/store.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 2, WORD_MAX = 1024 };

struct site {
    long long offset_B;
    char access[16];
    unsigned size_B;
    char source[WORD_MAX];
};

struct finding {
    char kind[16], level[16], kernel[256];
    struct site site[SITES_MAX];
    unsigned site_count;
    struct zs_span text; /* without its fields */
    uint64_t times;
};

struct findings {
    struct finding *items;
    size_t count, capacity;
    uint64_t suppressed;
};

/* One of a file: what matches its kind, its kernel and its lines is not shown. */
struct suppression {
    char kind[32], kernel[256], line[SITES_MAX][WORD_MAX], frame[WORD_MAX];
    unsigned line_count;
};

struct suppressions {
    struct suppression *items;
    size_t count, capacity;
};

/* ---- reading -----------------------------------------------------------------------------------
 */

/* The next line, cut to `line`; false: there is none. */
static bool next_line(struct zs_span *from, char *line, size_t size_B)
{
    if (!from->size_B)
        return false;
    const uint8_t *newline = memchr(from->data, '\n', from->size_B);
    size_t length = newline ? (size_t)(newline - from->data) : from->size_B;
    size_t kept = ZS_MIN(length, size_B - 1);
    memcpy(line, from->data, kept);
    line[kept] = '\0';
    length += newline != NULL;
    from->data += length;
    from->size_B -= length;
    return true;
}

static void read_field(struct finding *f, const char *line)
{
    int at = 0;
    if (sscanf(line, "%%finding %15s %15s", f->kind, f->level) == 2 ||
        sscanf(line, "%%kernel %255[^\n]", f->kernel) == 1 || f->site_count == SITES_MAX)
        return;
    struct site *s = &f->site[f->site_count];
    if (sscanf(line, "%%site %lld %15s %u %n", &s->offset_B, s->access, &s->size_B, &at) < 3 || !at)
        return;
    snprintf(s->source, sizeof(s->source), "%s", line + at);
    f->site_count++;
}

/* Fields, text, an empty line. */
static bool read_block(struct zs_span *from, struct finding *f)
{
    char line[2 * WORD_MAX];
    struct zs_span rest = *from;
    *f = (struct finding){.times = 1};
    while (next_line(&rest, line, sizeof(line)) && line[0] == '%') {
        read_field(f, line);
        *from = rest;
    }
    f->text = (struct zs_span){from->data, 0};
    while (next_line(from, line, sizeof(line)) && line[0])
        f->text.size_B = (size_t)(from->data - f->text.data);
    return f->text.size_B > 0;
}

/* A line may have become several instructions. */
static bool is_same_site(const struct site *a, const struct site *b, bool by_line)
{
    if (strcmp(a->access, b->access) != 0)
        return false;
    return by_line && a->source[0] ? !strcmp(a->source, b->source) : a->offset_B == b->offset_B;
}

static bool is_same(const struct finding *a, const struct finding *b)
{
    bool by_line = !strcmp(a->kind, "race") || !strcmp(a->kind, "undefined"),
         crossed = a->site_count == 2;
    bool same = !strcmp(a->kind, b->kind) && !strcmp(a->level, b->level) &&
                !strcmp(a->kernel, b->kernel) && a->site_count == b->site_count;
    if (!same)
        return false;
    if (!a->site_count) /* of a launch; objects are told each */
        return by_line && a->text.size_B == b->text.size_B &&
               !memcmp(a->text.data, b->text.data, a->text.size_B);
    for (unsigned i = 0; i < a->site_count; i++) {
        same = same && is_same_site(&a->site[i], &b->site[i], by_line);
        crossed = crossed && is_same_site(&a->site[i], &b->site[1 - i], by_line);
    }
    return same || crossed;
}

/* ---- suppressions ------------------------------------------------------------------------------
 */

static bool read_suppression(struct zs_span *from, struct suppression *s)
{
    char line[2 * WORD_MAX], word[WORD_MAX];
    *s = (struct suppression){.line_count = 0};
    while (next_line(from, line, sizeof(line)) && !strchr(line, '}')) {
        if (sscanf(line, " zescope:%31s", s->kind) == 1 ||
            sscanf(line, " kernel:%255[^\n]", s->kernel) == 1 ||
            sscanf(line, " frame:%1023[^\n]", s->frame) == 1)
            continue;
        if (sscanf(line, " line:%1023[^\n]", word) == 1 && s->line_count < SITES_MAX)
            memcpy(s->line[s->line_count++], word, sizeof(word));
    }
    return s->kind[0] != '\0';
}

static int read_suppressions(const char *path, struct suppressions *ret)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    char line[WORD_MAX];
    if (zs_file_read(path, 0, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    struct zs_span rest = file.span;
    int status = ZS_EXIT_OK;
    while (!status && next_line(&rest, line, sizeof(line))) {
        struct suppression s;
        if (!strchr(line, '{'))
            continue;
        if (!read_suppression(&rest, &s))
            status = zs_cli_fail("%s: a suppression has no line 'zescope:KIND'", path);
        else if (!ZS_VEC_PUSH(ret, s))
            status = zs_cli_fail("out of memory");
    }
    zs_file_close(&file);
    return status;
}

/* The next of its text's lines that are calls of the application, from its path on. */
static bool next_frame(struct zs_span *text, char *line, size_t size_B, const char **ret_frame)
{
    unsigned number;
    int at = 0;
    while (next_line(text, line, size_B))
        if (sscanf(line, " #%u %n", &number, &at) == 1 && at) {
            *ret_frame = line + at;
            return true;
        }
    return false;
}

static bool has_frame(const struct finding *f, const char *pattern)
{
    struct zs_span text = f->text;
    char line[2 * WORD_MAX];
    const char *frame;
    while (next_frame(&text, line, sizeof(line), &frame))
        if (!fnmatch(pattern, frame, 0))
            return true;
    return false;
}

static bool matches(const struct suppression *s, const struct finding *f)
{
    if (s->frame[0] && !has_frame(f, s->frame))
        return false;
    if (fnmatch(s->kind, f->kind, 0) || (s->kernel[0] && fnmatch(s->kernel, f->kernel, 0)))
        return false;
    for (unsigned i = 0; i < s->line_count; i++) {
        bool found = false;
        for (unsigned k = 0; k < f->site_count; k++)
            found |= fnmatch(s->line[i], f->site[k].source, 0) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* ---- all that was found ------------------------------------------------------------------------
 */

static bool is_suppressed(const struct suppressions *by, const struct finding *f)
{
    for (size_t i = 0; i < by->count; i++) {
        if (matches(&by->items[i], f))
            return true;
    }
    return false;
}

static struct finding *find_same(const struct findings *all, const struct finding *f)
{
    for (size_t i = 0; i < all->count; i++) {
        if (is_same(&all->items[i], f))
            return &all->items[i];
    }
    return NULL;
}

static int collect(struct zs_span report, const struct suppressions *by, struct findings *all)
{
    struct finding f;
    while (report.size_B) {
        if (!read_block(&report, &f))
            continue;
        struct finding *same = find_same(all, &f);
        if (is_suppressed(by, &f))
            all->suppressed++;
        else if (same)
            same->times++;
        else if (!ZS_VEC_PUSH(all, f))
            return zs_cli_fail("out of memory");
    }
    return ZS_EXIT_OK;
}

static bool is_note(const struct finding *f)
{
    return !strcmp(f->level, "note");
}

/* A failed launch, and not what a check noted in one that went on. */
static bool is_fault(const struct finding *f)
{
    return !strcmp(f->kind, "memory") || !strcmp(f->kind, "swsb") ||
           (!f->site_count && f->kernel[0]);
}

/* ---- text --------------------------------------------------------------------------------------
 */

static void put_suppression(struct zs_buf *out, const struct finding *f)
{
    struct zs_span text = f->text;
    char frame_line[2 * WORD_MAX];
    const char *frame;
    zs_buf_printf(out, "{\n   <name it>\n   zescope:%s\n", f->kind);
    if (f->kernel[0])
        zs_buf_printf(out, "   kernel:%s\n", f->kernel);
    else if (next_frame(&text, frame_line, sizeof(frame_line), &frame))
        zs_buf_printf(out, "   frame:%s\n", frame);
    for (unsigned i = 0; i < f->site_count; i++) {
        if (f->site[i].source[0])
            zs_buf_printf(out, "   line:%s\n", f->site[i].source);
    }
    zs_buf_printf(out, "}\n\n");
}

static void put_heading(struct zs_buf *out, const struct findings *all)
{
    uint64_t faults = 0, found = 0, notes = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];
        if (is_note(f))
            notes++;
        else if (is_fault(f))
            faults += f->times;
        else
            found++;
    }
    const char *before = "zescope: ";
    if (faults) {
        zs_buf_printf(out, "%s%llu launch%s failed", before, (unsigned long long)faults,
                      faults == 1 ? "" : "es");
        before = ", ";
    }
    if (found) {
        zs_buf_printf(out, "%s%llu finding%s", before, (unsigned long long)found,
                      found == 1 ? "" : "s");
        before = ", ";
    }
    if (notes)
        zs_buf_printf(out, "%s%llu note%s", before, (unsigned long long)notes,
                      notes == 1 ? "" : "s");
    if (all->count)
        zs_buf_printf(out, ":\n\n");
}

static int write_text(const struct zs_check_report *r, const struct findings *all)
{
    struct zs_buf text = {0}, *out = &text;
    put_heading(out, all);
    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];
        zs_check_put_text(out, f->text);
        if (f->times > 1)
            zs_buf_printf(out, "  (%llu times)\n", (unsigned long long)f->times);
        zs_buf_printf(out, "\n");
        if (r->gen_suppressions)
            put_suppression(out, f);
    }
    if (all->suppressed)
        zs_buf_printf(out, "zescope: %llu suppressed\n", (unsigned long long)all->suppressed);
    int error = text.error;
    if (!error && text.size_B && r->to_stdout)
        zs_cli_write_text(text.data, text.size_B);
    else if (!error && text.size_B)
        zs_cli_print_stderr("%s", zs_buf_cstr(&text));
    zs_buf_fini(&text);
    return error ? zs_cli_fail("out of memory") : ZS_EXIT_OK;
}

/* ---- files -------------------------------------------------------------------------------------
 */

/* "file:line": the line, and the length of the file's name. */
static unsigned long line_of(const char *source, size_t *ret_length)
{
    const char *colon = strrchr(source, ':');
    *ret_length = colon ? (size_t)(colon - source) : strlen(source);
    return colon ? strtoul(colon + 1, NULL, 10) : 0;
}

static void put_text(struct zs_json *j, const char *key, const struct finding *f)
{
    zs_json_string_n(j, key, (const char *)f->text.data, f->text.size_B - 1);
}

static void put_known(struct zs_json *j, const char *key, const char *text)
{
    if (*text)
        zs_json_string(j, key, text);
    else
        zs_json_null(j, key);
}

static void put_findings(struct zs_json *j, const char *key, const struct findings *all)
{
    zs_json_array(j, key);
    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "kind", f->kind);
        zs_json_string(j, "level", f->level);
        put_known(j, "kernel", f->kernel);
        zs_json_u64(j, "times", f->times);
        zs_json_array(j, "sites");
        for (unsigned k = 0; k < f->site_count; k++) {
            const struct site *s = &f->site[k];
            zs_json_object(j, NULL);
            zs_json_i64(j, "offset", s->offset_B);
            put_known(j, "access", strcmp(s->access, "-") ? s->access : "");
            zs_json_u64(j, "size", s->size_B);
            put_known(j, "source", s->source);
            zs_json_end(j);
        }
        zs_json_end(j);
        put_text(j, "text", f);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_json(struct zs_buf *out, const struct findings *all)
{
    struct zs_json j = zs_json_make(out, 2);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", "zescope.check/1");
    zs_json_u64(&j, "suppressed", all->suppressed);
    put_findings(&j, "findings", all);
    zs_json_end(&j);
    zs_buf_puts(out, "\n");
}

static const struct rule {
    const char *id, *is, *means, *help;
} rules[] = {
#define ZS_CHECK_KIND(NAME, word, is, means, help) {word, is, means, help},
#include "base/checks.def"
#undef ZS_CHECK_KIND
};

static void put_words(struct zs_json *j, const char *key, const char *text)
{
    zs_json_object(j, key);
    zs_json_string(j, "text", text);
    zs_json_end(j);
}

/* Code hosts refuse a file without them. */
static void put_rules(struct zs_json *j)
{
    zs_json_array(j, "rules");
    for (size_t i = 0; i < ZS_ARRAY_LEN(rules); i++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "id", rules[i].id);
        put_words(j, "shortDescription", rules[i].is);
        put_words(j, "fullDescription", rules[i].means);
        put_words(j, "help", rules[i].help);
        zs_json_object(j, "defaultConfiguration");
        zs_json_string(j, "level", "error");
        zs_json_end(j);
        zs_json_end(j);
    }
    zs_json_end(j);
}

/* A URI of a path, which may be relative, or of another name. */
static void put_uri(struct zs_json *j, const char *path, size_t length)
{
    struct zs_buf uri = {0};
    if (length && path[0] == '/')
        zs_buf_puts(&uri, "file://");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr("/-._~", c));
        zs_buf_printf(&uri, plain ? "%c" : "%%%02X", c);
    }
    zs_json_string_n(j, "uri", (const char *)uri.data, uri.size_B);
    zs_buf_fini(&uri);
}

static void put_location(struct zs_json *j, const char *path, size_t length, unsigned long line)
{
    zs_json_object(j, NULL);
    zs_json_object(j, "physicalLocation");
    zs_json_object(j, "artifactLocation");
    put_uri(j, path, length);
    zs_json_end(j);
    if (line) {
        zs_json_object(j, "region");
        zs_json_u64(j, "startLine", line);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_end(j);
}

/* Without a line: the application's file whose call is named, or the kernel. */
static void put_other_location(struct zs_json *j, const struct finding *f)
{
    struct zs_span text = f->text;
    char line[2 * WORD_MAX];
    const char *frame = "";
    if (next_frame(&text, line, sizeof(line), &frame))
        put_location(j, frame, strcspn(frame, "+\n"), 0);
    else
        put_location(j, f->kernel, strlen(f->kernel), 0);
}

static void put_locations(struct zs_json *j, const struct finding *f)
{
    bool first = true;
    for (unsigned i = 0; i < f->site_count; i++) {
        size_t length;
        unsigned long line = line_of(f->site[i].source, &length);
        if (!length)
            continue;
        zs_json_array(j, first ? "locations" : "relatedLocations");
        put_location(j, f->site[i].source, length, line);
        zs_json_end(j);
        first = false;
    }
    if (first) {
        zs_json_array(j, "locations");
        put_other_location(j, f);
        zs_json_end(j);
    }
}

static void put_result(struct zs_json *j, const struct finding *f)
{
    zs_json_object(j, NULL);
    zs_json_string(j, "ruleId", f->kind);
    for (size_t i = 0; i < ZS_ARRAY_LEN(rules); i++) {
        if (!strcmp(rules[i].id, f->kind))
            zs_json_u64(j, "ruleIndex", i);
    }
    zs_json_string(j, "level", f->level);
    zs_json_object(j, "message");
    put_text(j, "text", f);
    zs_json_end(j);
    put_locations(j, f);
    zs_json_end(j);
}

static void put_sarif(struct zs_buf *out, const struct findings *all)
{
    struct zs_json j = zs_json_make(out, 2);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    zs_json_string(&j, "version", "2.1.0");
    zs_json_array(&j, "runs");
    zs_json_object(&j, NULL);
    zs_json_object(&j, "tool");
    zs_json_object(&j, "driver");
    zs_json_string(&j, "name", "zescope");
    zs_json_string(&j, "version", ZS_VERSION);
    put_rules(&j);
    zs_json_end(&j);
    zs_json_end(&j);
    zs_json_array(&j, "results");
    for (size_t i = 0; i < all->count; i++)
        put_result(&j, &all->items[i]);
    zs_json_end(&j);
    zs_json_end(&j);
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_puts(out, "\n");
}

static void put_xml(struct zs_buf *out, const char *text, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++) {
        unsigned char c = (unsigned char)text[i];
        if (strchr("<>&\"", c) && c)
            zs_buf_printf(out, "&#%u;", c);
        else
            zs_buf_printf(out, "%c", c < ' ' && c != '\n' ? '?' : c);
    }
}

/* A test case for each finding that is no note; one that passed when there is none. */
static void put_junit(struct zs_buf *out, const struct findings *all)
{
    size_t failures = 0;
    for (size_t i = 0; i < all->count; i++)
        failures += !is_note(&all->items[i]);
    zs_buf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"zescope\" tests=\"%zu\" failures=\"%zu\">\n",
                  ZS_MAX(failures, (size_t)1), failures);
    if (!failures)
        zs_buf_puts(out, "  <testcase classname=\"zescope\" name=\"check\"/>\n");
    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];
        if (is_note(f))
            continue;
        zs_buf_printf(out, "  <testcase classname=\"zescope.%s\" name=\"", f->kind);
        const char *name = f->kernel[0] ? f->kernel : f->kind;
        put_xml(out, name, strlen(name));
        zs_buf_puts(out, "\">\n    <failure>");
        put_xml(out, (const char *)f->text.data, f->text.size_B);
        zs_buf_puts(out, "</failure>\n  </testcase>\n");
    }
    zs_buf_puts(out, "</testsuite>\n");
}

static int write_file(const struct zs_check_report *r, const struct findings *all)
{
    static void (*const put[])(struct zs_buf *, const struct findings *) = {
        [ZS_CHECK_JSON] = put_json, [ZS_CHECK_SARIF] = put_sarif, [ZS_CHECK_JUNIT] = put_junit};
    struct zs_buf out = {0};
    put[r->format](&out, all);
    int status = ZS_EXIT_OK;
    if (r->output || r->to_stdout)
        status = zs_cli_write_to(NULL, r->output ? r->output : "-", zs_cli_put_buf, &out);
    else if (out.error || fwrite(out.data, 1, out.size_B, stderr) != out.size_B)
        status = zs_cli_fail("stderr cannot be written");
    zs_buf_fini(&out);
    return status;
}

int zs_check_report_write(const struct zs_check_report *r, size_t *ret_found)
{
    struct suppressions by = {0};
    struct findings all = {0};
    int status = ZS_EXIT_OK;
    *ret_found = 0;
    for (size_t i = 0; !status && i < r->suppressions->count; i++)
        status = read_suppressions(r->suppressions->items[i], &by);
    if (!status)
        status = collect(r->report, &by, &all);
    for (size_t i = 0; i < all.count; i++)
        *ret_found += !is_note(&all.items[i]);
    if (!status && !r->only_counts && r->format == ZS_CHECK_TEXT)
        status = write_text(r, &all);
    else if (!status && !r->only_counts)
        status = write_file(r, &all);
    free(by.items);
    free(all.items);
    return status;
}

static int read_kept(const char *recording, struct zs_file *ret)
{
    struct zs_buf path = {0};
    struct zs_diag diag = {0};
    zs_buf_printf(&path, "%s/" ZS_RECORD_CHECKS "%c", recording, '\0');
    int error = path.error ? path.error : zs_file_read((const char *)path.data, 0, ret, &diag);
    zs_buf_fini(&path);
    return error;
}

int zs_check_report_show(const char *recording, bool to_stdout, enum zs_check_format format)
{
    static const struct zs_string_list none = {0};
    struct zs_file file;
    size_t found;
    if (read_kept(recording, &file))
        return zs_cli_fail("%s has no findings: zescope record -d DEVICE --check, with zescope's "
                           "driver, keeps them",
                           recording);
    const struct zs_check_report report = {
        .report = file.span, .suppressions = &none, .format = format, .to_stdout = to_stdout};
    int status = zs_check_report_write(&report, &found);
    zs_file_close(&file);
    return status;
}

void zs_check_report_put(const char *recording, struct zs_json *json)
{
    static const struct suppressions none = {0};
    struct findings all = {0};
    struct zs_file file;
    if (read_kept(recording, &file))
        return;
    if (!collect(file.span, &none, &all))
        put_findings(json, "checks", &all);
    free(all.items);
    zs_file_close(&file);
}
