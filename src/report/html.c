/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "base/json.h"
#include "base/name_map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "report/html_assets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* U+200E, U+200F, U+202A..U+202E, U+2066..U+2069, U+061C: shown by name, for they would let text
 * show other than as it is compiled. */
static bool is_bidi_control(uint32_t c)
{
    return c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x061c;
}

static const char *entity(uint8_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
    case '\t':
        return NULL;
    default:
        return c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
    }
}

void zs_html_escape(struct zs_buf *out, const char *text, size_t size_B)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t plain = 0, i = 0;
    while (i < size_B) {
        const char *instead = NULL;
        char name[24];
        size_t n = 1;
        if (p[i] < 0x80) {
            instead = entity(p[i]);
        } else {
            uint32_t c = 0;
            n = zs_utf8_decode(p + i, size_B - i, &c);
            if (n == 0 || c < 0xa0) {
                instead = "\xef\xbf\xbd";
                n = n ? n : 1;
            } else if (is_bidi_control(c)) {
                snprintf(name, sizeof(name), "&lt;U+%04X&gt;", c);
                instead = name;
            }
        }
        if (instead) {
            zs_buf_append(out, p + plain, i - plain);
            zs_buf_puts(out, instead);
            plain = i + n;
        }
        i += n;
    }
    zs_buf_append(out, p + plain, size_B - plain);
}

/* Strings of the documents that begin with "_Z", each once. */
struct mangled {
    struct zs_buf now; /* the one that is being read, with its '"' */
    bool is_reading;
    struct zs_name_map known;
    struct {
        char **items;
        size_t count, capacity;
    } list;
};

struct html_writer {
    const struct zs_html_page *page;
    zs_html_write_fn *write;
    void *sink;
    struct mangled *mangled;
};

static int put(const struct html_writer *w, const void *data, size_t size_B)
{
    return size_B ? w->write(w->sink, data, size_B) : 0;
}

/* Empties the buffer. */
static int put_buf(const struct html_writer *w, struct zs_buf *buf)
{
    int error = buf->error ? buf->error : put(w, buf->data, buf->size_B);
    buf->size_B = 0;
    return error;
}

enum { MANGLED_MOST = 10000, MANGLED_MOST_B = 8 << 10 };

static void keep_name(struct mangled *m)
{
    const char *name = zs_buf_cstr(&m->now) + 1;
    if (zs_name_map_get(&m->known, name) != ZS_NAME_MAP_NONE || m->list.count == MANGLED_MOST)
        return;
    char *copy = strdup(name);
    bool is_listed = copy && ZS_VEC_PUSH(&m->list, copy);
    if (!is_listed)
        free(copy);
    if (!is_listed || !zs_name_map_put(&m->known, copy, 0))
        m->now.error = -ENOMEM;
}

/* Pieces of JSON may end anywhere. */
static void look_for_names(struct mangled *m, const uint8_t *p, size_t size_B)
{
    static const char start[] = "\"_Z";
    for (size_t i = 0; i < size_B; i++) {
        if (!m->is_reading) {
            const uint8_t *quote = memchr(p + i, '"', size_B - i);
            if (!quote)
                return;
            i = (size_t)(quote - p);
            m->is_reading = true;
            m->now.size_B = 0;
            zs_buf_putc(&m->now, '"');
            continue;
        }
        size_t at = m->now.size_B;
        if (at >= 3 && p[i] == '"')
            keep_name(m);
        m->is_reading = at < MANGLED_MOST_B && p[i] != '"' && p[i] != '\\' &&
                        (at >= 3 || p[i] == (uint8_t)start[at]);
        zs_buf_putc(&m->now, (char)p[i]);
    }
}

/* JSON has '<', '>' and '&' only within strings, where an escape means the same: so nothing in
 * the document can end the script element or open a comment in it. */
static int put_json_piece(void *user, const void *data, size_t size_B)
{
    static const char *const escapes[] = {['<'] = "\\u003c", ['>'] = "\\u003e", ['&'] = "\\u0026"};
    const struct html_writer *w = user;
    const uint8_t *p = data;
    size_t plain = 0;
    if (w->page->readable)
        look_for_names(w->mangled, p, size_B);
    for (size_t i = 0; i < size_B; i++) {
        if (p[i] != '<' && p[i] != '>' && p[i] != '&')
            continue;
        int error = put(w, p + plain, i - plain);
        error = error ? error : put(w, escapes[p[i]], 6);
        if (error)
            return error;
        plain = i + 1;
    }
    return put(w, p + plain, size_B - plain);
}

static void escape_text(struct zs_buf *out, const char *text)
{
    zs_html_escape(out, text, strlen(text));
}

/* What stands out in a listing: headings, which start in the first column, and source lines, which
 * start with their number and a bar. */
static bool stands_out(const uint8_t *line, size_t size_B)
{
    size_t at = 0;
    while (at < size_B && line[at] == ' ')
        at++;
    size_t number = at;
    while (at < size_B && line[at] >= '0' && line[at] <= '9')
        at++;
    if (at > number && size_B - at >= 4 && memcmp(line + at, " \xe2\x94\x82", 4) == 0)
        return true;
    return size_B > 0 && number == 0 && line[0] != '\t';
}

static void escape_listing(struct zs_buf *out, struct zs_span text)
{
    size_t at = 0;
    while (at < text.size_B) {
        const uint8_t *newline = memchr(text.data + at, '\n', text.size_B - at);
        size_t end = newline ? (size_t)(newline - text.data) : text.size_B;
        bool strong = stands_out(text.data + at, end - at);
        zs_buf_puts(out, strong ? "<b>" : "");
        zs_html_escape(out, (const char *)text.data + at, end - at);
        zs_buf_puts(out, strong ? "</b>\n" : "\n");
        at = end + 1;
    }
}

/* One listing, gathered until it is known to fit. */
struct listing {
    struct zs_buf text;
    size_t left_B;
    bool too_long;
};

static int gather_listing(void *user, const void *data, size_t size_B)
{
    struct listing *listing = user;
    listing->too_long = size_B > listing->left_B - listing->text.size_B;
    if (listing->too_long)
        return -E2BIG;
    zs_buf_append(&listing->text, data, size_B);
    return listing->text.error;
}

static int put_listing(const struct html_writer *w, size_t index, struct listing *listing,
                       struct zs_buf *out)
{
    const struct zs_html_page *page = w->page;
    listing->text.size_B = 0;
    listing->too_long = false;
    int error = page->listing(page->user, index, gather_listing, listing);
    if (listing->too_long || error)
        return listing->too_long ? 0 : error;
    listing->left_B -= listing->text.size_B;
    zs_buf_puts(out, "<section>\n<h2>");
    escape_text(out, page->listing_title(page->user, index));
    zs_buf_puts(out, "</h2>\n<pre>\n");
    escape_listing(out, zs_buf_span(&listing->text));
    zs_buf_puts(out, "</pre>\n</section>\n");
    return put_buf(w, out);
}

static void omission_note(const struct zs_html_page *page, size_t omitted, struct zs_buf *out)
{
    zs_buf_printf(out, "<p class=\"note\">%zu of %zu listings are left out here for their size.",
                  omitted, page->listing_count);
    if (page->text_command) {
        zs_buf_puts(out, " The text of all: <code>");
        escape_text(out, page->text_command);
        zs_buf_puts(out, "</code>");
    }
    zs_buf_puts(out, "</p>\n");
}

/* What is too long costs time before it is known to be: so much of that, and no more is tried. */
enum { LISTING_MISSES_MAX = 16 };

static int put_listings(const struct html_writer *w)
{
    const struct zs_html_page *page = w->page;
    struct zs_buf out = {0};
    struct listing listing = {.left_B = page->listing_limit_B ? page->listing_limit_B
                                                              : (size_t)ZS_HTML_LISTING_B};
    size_t omitted = 0;
    int error = 0;
    for (size_t i = 0; i < page->listing_count && !error; i++) {
        bool tried = omitted < LISTING_MISSES_MAX;
        if (tried)
            error = put_listing(w, i, &listing, &out);
        omitted += !tried || listing.too_long;
    }
    if (omitted && !error) {
        omission_note(page, omitted, &out);
        error = put_buf(w, &out);
    }
    zs_buf_fini(&listing.text);
    zs_buf_fini(&out);
    return error;
}

static int put_title(const struct html_writer *w)
{
    struct zs_buf out = {0};
    escape_text(&out, w->page->title);
    int error = put_buf(w, &out);
    zs_buf_fini(&out);
    return error;
}

/* {"_ZTS...": "main::..."} */
static int put_names(const struct html_writer *w)
{
    struct zs_buf out = {0};
    out.error = w->mangled->now.error;
    zs_buf_putc(&out, '{');
    for (size_t i = 0, count = 0; i < w->mangled->list.count; i++) {
        const char *name = w->mangled->list.items[i];
        const char *readable = w->page->readable(name, strlen(name));
        if (!readable)
            continue;
        zs_buf_puts(&out, count++ ? "," : "");
        zs_json_escape(&out, name, strlen(name), true);
        zs_buf_putc(&out, ':');
        zs_json_escape(&out, readable, strlen(readable), true);
    }
    zs_buf_putc(&out, '}');
    int error = put_buf(w, &out);
    zs_buf_fini(&out);
    return error;
}

static int put_slot(const struct html_writer *w, enum zs_html_slot slot)
{
    switch (slot) {
    case ZS_HTML_TITLE:
        return put_title(w);
    case ZS_HTML_LISTINGS:
        return put_listings(w);
    case ZS_HTML_DATA:
        return w->page->json(w->page->user, put_json_piece, (void *)(uintptr_t)w);
    case ZS_HTML_RECORD:
        return w->page->record(w->page->user, put_json_piece, (void *)(uintptr_t)w);
    case ZS_HTML_NAMES:
        return put_names(w);
    default:
        return 0;
    }
}

int zs_report_html(const struct zs_html_page *page, zs_html_write_fn *write, void *sink)
{
    struct mangled mangled = {0};
    const struct html_writer w = {page, write, sink, &mangled};
    const struct zs_html_bundle *bundle = page->bundle   ? page->bundle
                                          : page->record ? &zs_html_recording
                                                         : &zs_html_module;
    int error = 0;
    for (size_t i = 0; i < bundle->count && !error; i++) {
        const struct zs_html_piece *piece = &bundle->pieces[i];
        error = put(&w, piece->text, piece->size_B);
        error = error ? error : put_slot(&w, piece->then);
    }
    zs_name_map_fini(&mangled.known);
    for (size_t i = 0; i < mangled.list.count; i++)
        free(mangled.list.items[i]);
    free(mangled.list.items);
    zs_buf_fini(&mangled.now);
    return error;
}
