/* SPDX-License-Identifier: MIT */
#include "report/check.h"

#include "metrics/unit.h"

#include "base/json.h"
#include "base/text.h"
#include "report/html.h"

#include <math.h>
#include <string.h>

static const char *const status_names[] = {
    [ZS_CHECK_PASSED] = "passed", [ZS_CHECK_FAILED] = "failed", [ZS_CHECK_UNKNOWN] = "unknown"};

/* "spills is 320 B, at most 0 B is allowed", "it does not hold: ...", or why it is not known. */
static void put_sentence(const struct zs_check_result *r, struct zs_buf *out)
{
    bool has_limit = r->relation[0] && !isnan(r->limit);
    if (r->status == ZS_CHECK_UNKNOWN) {
        zs_buf_printf(out, "%s cannot be judged: %s", r->what, r->why);
        return;
    }
    if (!has_limit) {
        zs_buf_printf(out, r->status == ZS_CHECK_PASSED ? "holds: %s" : "does not hold: %s",
                      r->what);
        return;
    }
    zs_buf_printf(out, "%s is ", r->what);
    zs_unit_put_value(out, r->value, r->unit);
    if (!isnan(r->baseline)) {
        zs_buf_puts(out, ", in the baseline ");
        zs_unit_put_value(out, r->baseline, r->unit);
        if (r->baseline != 0)
            zs_buf_printf(out, " (%+.3g %%)", (r->value / r->baseline - 1) * 100);
    }
    zs_buf_printf(out, ", %s ", r->relation);
    zs_unit_put_value(out, r->limit, r->unit);
    zs_buf_puts(out, r->relation[3] == 'm' ? " is allowed" : " is wanted");
}

static void put_place(const struct zs_check_result *r, struct zs_buf *out)
{
    zs_buf_puts(out, "        ");
    zs_text_puts(out, r->place.path);
    zs_buf_printf(out, ":%u", r->place.line);
    if (r->place.text.size_B) {
        zs_buf_puts(out, ": ");
        zs_text_put(out, r->place.text.data, ZS_MIN(r->place.text.size_B, (size_t)160));
    }
    zs_buf_putc(out, '\n');
}

void zs_check_text(const struct zs_check *check, bool all, bool color, struct zs_buf *out)
{
    static const struct {
        const char *word, *color;
    } marks[] = {[ZS_CHECK_PASSED] = {"passed  ", "\033[32m"},
                 [ZS_CHECK_FAILED] = {"FAILED  ", "\033[1;31m"},
                 [ZS_CHECK_UNKNOWN] = {"FAILED  ", "\033[1;31m"}};
    const struct zs_check_result *r;
    for (uint32_t i = 0; (r = zs_check_result(check, i)); i++) {
        if (r->status == ZS_CHECK_PASSED && !all)
            continue;
        struct zs_buf sentence = {0};
        put_sentence(r, &sentence);
        zs_buf_printf(out, "%s%s%s", color ? marks[r->status].color : "", marks[r->status].word,
                      color ? "\033[0m" : "");
        if (*r->kernel_name) {
            zs_text_puts(out, r->kernel_name);
            if (r->ordinal)
                zs_buf_printf(out, " (%s)", r->module);
            if (*r->rank) {
                zs_buf_puts(out, " of ");
                zs_text_puts(out, r->rank);
            }
            if (r->summed)
                zs_buf_printf(out, " of all %u recordings", r->summed);
            zs_buf_puts(out, ": ");
        }
        zs_text_put(out, sentence.data, sentence.size_B);
        zs_buf_puts(out, " [");
        zs_text_puts(out, r->origin);
        if (strcmp(r->origin, r->assertion)) {
            zs_buf_puts(out, " ");
            zs_text_puts(out, r->assertion);
        }
        zs_buf_puts(out, "]\n");
        if (*r->place.path && r->status != ZS_CHECK_PASSED)
            put_place(r, out);
        zs_buf_fini(&sentence);
    }
}

/* ---- JSON ---- */

static void put_result(struct zs_json *j, const struct zs_check_result *r)
{
    struct zs_buf sentence = {0};
    put_sentence(r, &sentence);
    zs_json_object(j, NULL);
    zs_json_string(j, "status", status_names[r->status]);
    if (*r->kernel_name)
        zs_json_string(j, "kernel", r->kernel_name);
    else
        zs_json_null(j, "kernel");
    if (*r->module)
        zs_json_string(j, "module", r->module);
    else
        zs_json_null(j, "module");
    if (*r->rank)
        zs_json_string(j, "rank", r->rank);
    if (r->summed)
        zs_json_u64(j, "summed", r->summed);
    zs_json_string(j, "assertion", r->assertion);
    zs_json_string(j, "origin", r->origin);
    zs_json_string(j, "what", r->what);
    zs_json_exact(j, "value", r->value);
    zs_json_exact(j, "limit", r->limit);
    zs_json_string(j, "unit", r->unit);
    zs_json_string(j, "relation", r->relation);
    zs_json_exact(j, "baseline", r->baseline);
    zs_json_string(j, "text", zs_buf_cstr(&sentence));
    if (*r->place.path) {
        zs_json_object(j, "source");
        zs_json_string(j, "path", r->place.path);
        zs_json_u64(j, "line", r->place.line);
        zs_json_string_n(j, "text", (const char *)r->place.text.data, r->place.text.size_B);
        zs_json_end(j);
    } else {
        zs_json_null(j, "source");
    }
    zs_json_end(j);
    zs_buf_fini(&sentence);
}

void zs_check_json(const struct zs_check *check, const char *recording, const char *baseline,
                   struct zs_buf *out)
{
    uint32_t failed, count = zs_check_count(check, &failed);
    struct zs_json j = zs_json_make(out, 3);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", "zescope.check/1");
    zs_json_string(&j, "recording", recording);
    if (baseline)
        zs_json_string(&j, "baseline", baseline);
    else
        zs_json_null(&j, "baseline");
    zs_json_u64(&j, "passed", count - failed);
    zs_json_u64(&j, "failed", failed);
    zs_json_array(&j, "results");
    for (uint32_t i = 0; i < count; i++)
        put_result(&j, zs_check_result(check, i));
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_putc(out, '\n');
}

/* ---- JUnit ---- */

/* XML has no U+FFFE and U+FFFF. */
static void put_xml(struct zs_buf *out, const char *text, size_t size_B)
{
    size_t start = 0;
    for (size_t i = 0; i + 2 < size_B; i++) {
        if (memcmp(text + i, "\xef\xbf\xbe", 3) && memcmp(text + i, "\xef\xbf\xbf", 3))
            continue;
        zs_html_escape(out, text + start, i - start);
        zs_buf_puts(out, "\xef\xbf\xbd");
        start = i + 3;
        i += 2;
    }
    zs_html_escape(out, text + start, size_B - start);
}

static void put_attribute(struct zs_buf *out, const char *name, const char *value)
{
    zs_buf_printf(out, " %s=\"", name);
    put_xml(out, value, strlen(value));
    zs_buf_putc(out, '"');
}

static void put_case(const struct zs_check_result *r, struct zs_buf *out)
{
    struct zs_buf sentence = {0};
    put_sentence(r, &sentence);
    zs_buf_puts(out, "    <testcase");
    put_attribute(out, "classname", *r->kernel_name ? r->kernel_name : "(no kernel)");
    zs_buf_puts(out, " name=\"");
    put_xml(out, r->origin, strlen(r->origin));
    zs_buf_putc(out, ' ');
    put_xml(out, r->assertion, strlen(r->assertion));
    if (*r->rank) {
        zs_buf_puts(out, " of ");
        put_xml(out, r->rank, strlen(r->rank));
    }
    if (r->summed)
        zs_buf_printf(out, " of all %u recordings", r->summed);
    zs_buf_putc(out, '"');
    if (*r->place.path) {
        put_attribute(out, "file", r->place.path);
        zs_buf_printf(out, " line=\"%u\"", r->place.line);
    }
    if (r->status == ZS_CHECK_PASSED) {
        zs_buf_puts(out, "/>\n");
    } else {
        zs_buf_puts(out, ">\n      <failure");
        put_attribute(out, "type", status_names[r->status]);
        put_attribute(out, "message", zs_buf_cstr(&sentence));
        zs_buf_putc(out, '>');
        put_xml(out, (const char *)sentence.data, sentence.size_B);
        if (*r->place.path) {
            zs_buf_putc(out, '\n');
            put_xml(out, r->place.path, strlen(r->place.path));
            zs_buf_printf(out, ":%u", r->place.line);
        }
        zs_buf_puts(out, "</failure>\n    </testcase>\n");
    }
    zs_buf_fini(&sentence);
}

void zs_check_junit(const struct zs_check *check, struct zs_buf *out)
{
    uint32_t failed, count = zs_check_count(check, &failed);
    zs_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    zs_buf_printf(out, "<testsuites tests=\"%u\" failures=\"%u\" errors=\"0\">\n", count, failed);
    zs_buf_puts(out, "  <testsuite");
    put_attribute(out, "name", "zescope check");
    zs_buf_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"0\">\n", count,
                  failed);
    for (uint32_t i = 0; i < count; i++)
        put_case(zs_check_result(check, i), out);
    zs_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}
