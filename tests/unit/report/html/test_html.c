/* SPDX-License-Identifier: MIT */
/* The writer of the HTML view: escaping, and what may stand where. The page itself: tests/html. */
#include "../../test.h"
#include "report/html.h"

#include <errno.h>
#include <stdlib.h>

static void test_escape(void **state)
{
    static const struct {
        const char *text, *html;
    } rows[] = {
        {"", ""},
        {"plain text\n\ttab", "plain text\n\ttab"},
        {"a<b>&\"'c", "a&lt;b&gt;&amp;&quot;&#39;c"},
        {"</script><!--", "&lt;/script&gt;&lt;!--"},
        {"bell\a del\x7f cr\r", "bell\xef\xbf\xbd del\xef\xbf\xbd cr\xef\xbf\xbd"},
        {"\xff\xc3(\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc2\x85next line", "\xef\xbf\xbdnext line"},
        {"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"},
        {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c",
         "&lt;U+202E&gt;&lt;U+2066&gt;&lt;U+200F&gt;&lt;U+061C&gt;"},
        {"cut \xe2\x80", "cut \xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct zs_buf out = {0};
        zs_html_escape(&out, rows[i].text, strlen(rows[i].text));
        assert_string_equal(zs_buf_cstr(&out), rows[i].html);
        zs_buf_fini(&out);
    }
    struct zs_buf out = {0};
    zs_html_escape(&out, "a\0b", 3);
    assert_string_equal(zs_buf_cstr(&out), "a\xef\xbf\xbd"
                                           "b");
    zs_buf_fini(&out);
}

struct input {
    const char *title, *json;
    const char *listings[64];
    int fails; /* of the listing or the document, -errno */
};

static const char *title_of(void *user, size_t index)
{
    return index == 0 ? "<first>" : "next";
}

static int listing_of(void *user, size_t index, zs_html_write_fn *write, void *sink)
{
    const struct input *in = user;
    /* in two pieces, and an error of the sink is passed on */
    size_t size_B = strlen(in->listings[index]), half = size_B / 2;
    int error = in->fails ? in->fails : write(sink, in->listings[index], half);
    return error ? error : write(sink, in->listings[index] + half, size_B - half);
}

static int json_of(void *user, zs_html_write_fn *write, void *sink)
{
    const struct input *in = user;
    for (const char *p = in->json; *p; p++) { /* byte by byte: escapes do not hang on pieces */
        int error = write(sink, p, 1);
        if (error)
            return error;
    }
    return 0;
}

static int to_buf(void *sink, const void *data, size_t size_B)
{
    zs_buf_append(sink, data, size_B);
    return ((struct zs_buf *)sink)->error;
}

static int write_page(struct input *in, size_t count, size_t limit_B, struct zs_buf *out)
{
    struct zs_html_page page = {
        .title = in->title,
        .text_command = "zescope annotate 'a&b'",
        .user = in,
        .json = json_of,
        .listing_count = count,
        .listing_title = title_of,
        .listing = listing_of,
        .listing_limit_B = limit_B,
    };
    return zs_report_html(&page, to_buf, out);
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void test_page(void **state)
{
    struct input in = {.title = "</title><script>alert(1)</script>",
                       .json = "{\"name\":\"</script><!--<script>&\"}",
                       .listings = {"k.cl:1 if (a < b)\n  0000 mov r1<1>\n",
                                    "   7 \xe2\x94\x82 int\n     \xe2\x94\x82 mov\n"}};
    struct zs_buf out = {0};
    assert_int_equal(write_page(&in, 2, 0, &out), 0);
    const char *html = zs_buf_cstr(&out);
    assert_int_equal(strncmp(html, "<!doctype html>", 15), 0);
    assert_int_equal(count_of(html, "</script>"), 4); /* boot, data, names, script */
    assert_null(strstr(html, "<script>alert"));
    assert_non_null(strstr(html, "{\"name\":\"\\u003c/script\\u003e\\u003c!--\\u003cscript\\u003e"
                                 "\\u0026\"}</script>"));
    assert_non_null(strstr(html, "<h2>&lt;first&gt;</h2>\n<pre>\n<b>k.cl:1 if (a &lt; b)</b>\n"
                                 "  0000 mov r1&lt;1&gt;\n</pre>"));
    assert_non_null(
        strstr(html, "<pre>\n<b>   7 \xe2\x94\x82 int</b>\n     \xe2\x94\x82 mov\n</pre>"));
    assert_non_null(strstr(html, "default-src 'none'; script-src 'sha256-"));
    assert_null(strstr(html, "unsafe-inline"));
    static const char *const fetching[] = {"https:", "url(", "@import", " src=", "import("};
    for (size_t i = 0; i < sizeof(fetching) / sizeof(fetching[0]); i++)
        assert_null(strstr(html, fetching[i]));
    assert_int_equal(count_of(html, "http:"), 1); /* the icon's XML namespace */
    assert_null(strstr(html, "{{"));
    assert_null(strstr(html, "listings are left out"));
    zs_buf_fini(&out);
}

static void test_listings_stop_at_the_limit(void **state)
{
    struct input in = {
        .title = "t", .json = "{}", .listings = {"12345678\n", "123\n", "12345678\n", "\n"}};
    struct zs_buf out = {0};
    assert_int_equal(write_page(&in, 4, 15, &out), 0);
    const char *html = zs_buf_cstr(&out);
    assert_int_equal(count_of(html, "<section>\n<h2>"), 3); /* the third would be too much */
    assert_non_null(strstr(html, "1 of 4 listings are left out"));
    assert_non_null(strstr(html, "<code>zescope annotate &#39;a&amp;b&#39;</code>"));
    zs_buf_fini(&out);

    for (size_t i = 0; i < 64; i++)
        in.listings[i] = i < 60 ? "too long" : "x";
    assert_int_equal(write_page(&in, 64, 4, &out), 0);
    assert_non_null(strstr(zs_buf_cstr(&out), "64 of 64 listings are left out"));
    zs_buf_fini(&out);
}

static int fail_late(void *sink, const void *data, size_t size_B)
{
    size_t *left_B = sink;
    if (size_B > *left_B)
        return -ENOSPC;
    *left_B -= size_B;
    return 0;
}

static void test_errors_are_passed_on(void **state)
{
    struct input in = {
        .title = "t", .json = "{\"a\":\"<\"}", .listings = {"text\n"}, .fails = -EBADMSG};
    struct zs_buf out = {0};
    assert_int_equal(write_page(&in, 1, 0, &out), -EBADMSG);
    zs_buf_fini(&out);
    in.fails = 0;
    assert_int_equal(write_page(&in, 1, 0, &out), 0);
    /* the sink fails at any byte: the error comes back, nothing else happens */
    for (size_t left_B = 0; left_B < out.size_B; left_B += 97) {
        size_t left = left_B;
        struct zs_html_page page = {.title = "t",
                                    .user = &in,
                                    .json = json_of,
                                    .listing_count = 1,
                                    .listing_title = title_of,
                                    .listing = listing_of};
        assert_int_equal(zs_report_html(&page, fail_late, &left), -ENOSPC);
    }
    zs_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_listings_stop_at_the_limit),
        cmocka_unit_test(test_errors_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
