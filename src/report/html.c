/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "base/utf8.h"
#include "report/html_assets.h"

#include <stdio.h>

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

/* JSON has '<', '>' and '&' only within strings, where an escape means the same: so nothing in
 * the document can end the script element or open a comment in it. */
static void put_json(struct zs_buf *out, struct zs_span json)
{
    size_t plain = 0;
    for (size_t i = 0; i < json.size_B; i++) {
        uint8_t c = json.data[i];
        if (c != '<' && c != '>' && c != '&')
            continue;
        zs_buf_append(out, json.data + plain, i - plain);
        zs_buf_printf(out, "\\u%04x", c);
        plain = i + 1;
    }
    if (json.size_B)
        zs_buf_append(out, json.data + plain, json.size_B - plain);
}

static void put_text(struct zs_buf *out, const char *text)
{
    zs_html_escape(out, text, strlen(text));
}

/* Lines that start in the first column are source lines and headings: they stand out. */
static void put_listing_text(struct zs_buf *out, struct zs_span text)
{
    size_t at = 0;
    while (at < text.size_B) {
        const uint8_t *newline = memchr(text.data + at, '\n', text.size_B - at);
        size_t end = newline ? (size_t)(newline - text.data) : text.size_B;
        bool strong = end > at && text.data[at] != ' ' && text.data[at] != '\t';
        zs_buf_puts(out, strong ? "<b>" : "");
        zs_html_escape(out, (const char *)text.data + at, end - at);
        zs_buf_puts(out, strong ? "</b>\n" : "\n");
        at = end + 1;
    }
}

static void put_listings(struct zs_buf *out, const struct zs_html_page *page)
{
    size_t limit_B = page->listing_limit_B ? page->listing_limit_B : ZS_HTML_LISTING_B;
    size_t used_B = 0, shown = 0;
    for (size_t i = 0; i < page->listing_count; i++) {
        const struct zs_html_listing *listing = &page->listings[i];
        if (listing->text.size_B > limit_B - used_B)
            continue;
        used_B += listing->text.size_B;
        shown++;
        zs_buf_puts(out, "<section>\n<h2>");
        put_text(out, listing->title);
        zs_buf_puts(out, "</h2>\n<pre>\n");
        put_listing_text(out, listing->text);
        zs_buf_puts(out, "</pre>\n</section>\n");
    }
    if (shown == page->listing_count)
        return;
    zs_buf_printf(out, "<p class=\"note\">%zu of %zu listings are left out here for their size.",
                  page->listing_count - shown, page->listing_count);
    if (page->text_command) {
        zs_buf_puts(out, " The text of all: <code>");
        put_text(out, page->text_command);
        zs_buf_puts(out, "</code>");
    }
    zs_buf_puts(out, "</p>\n");
}

int zs_report_html(struct zs_buf *out, const struct zs_html_page *page)
{
    for (size_t i = 0; i < zs_html_piece_count; i++) {
        const struct zs_html_piece *piece = &zs_html_pieces[i];
        zs_buf_append(out, piece->text, piece->size_B);
        switch (piece->then) {
        case ZS_HTML_TITLE:
            put_text(out, page->title);
            break;
        case ZS_HTML_LISTINGS:
            put_listings(out, page);
            break;
        case ZS_HTML_DATA:
            put_json(out, page->json);
            break;
        case ZS_HTML_END:
            break;
        }
    }
    return out->error;
}
