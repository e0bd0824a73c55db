/* SPDX-License-Identifier: MIT */
/* src/base/windows/regex.c against the C library's expressions. */
#include "own_regex.h"

#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

static int library_match(const char *pattern, const char *text, char why[160])
{
    regex_t regex;
    int error = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (error) {
        regerror(error, &regex, why, 160);
        return -1;
    }
    int matches = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return matches;
}

static void same(const char *pattern, const char *text)
{
    char why[160] = "";
    const char *own_why;
    int expected = library_match(pattern, text, why), is = own_regex_match(pattern, text, &own_why);
    if (is != expected)
        fail_msg("'%s' on '%s': %d, the C library says %d (%s)", pattern, text, is, expected, why);
    if (is < 0 && strcmp(own_why, why) != 0)
        fail_msg("'%s': \"%s\", the C library says \"%s\"", pattern, own_why, why);
}

static void test_written(void **state)
{
    static const char *const patterns[] = {"",
                                           "a",
                                           "abc",
                                           "^abc$",
                                           "^$",
                                           "a|b",
                                           "a|",
                                           "|a",
                                           "(a|b)c",
                                           "()",
                                           "(|a)+b",
                                           "a*",
                                           "a+b",
                                           "a?b",
                                           "a{2}",
                                           "a{2,}b",
                                           "a{,2}b",
                                           "a{1,3}$",
                                           "(ab){2}",
                                           "(a{2}){2}",
                                           "a**",
                                           "a+?",
                                           "[abc]",
                                           "[^abc]",
                                           "[a-c]x",
                                           "[]a]",
                                           "[^]a]",
                                           "[a-]",
                                           "[-a]",
                                           "[[:alpha:]]+$",
                                           "[[:digit:]_]",
                                           "[[.a.]]",
                                           "[[=a=]]",
                                           "[[.a.]-c]x",
                                           "[[.ab.]]",
                                           "a.c",
                                           "a\\.c",
                                           "\\w+",
                                           "\\W",
                                           "\\s",
                                           "\\S\\S",
                                           "\\bab",
                                           "ab\\b",
                                           "\\Bb",
                                           "\\<ab",
                                           "ab\\>",
                                           "\\`ab",
                                           "ab\\'",
                                           "x^",
                                           "$x",
                                           "a^b",
                                           "(^a)",
                                           "(a$)",
                                           "a)",
                                           ")",
                                           "(",
                                           "(a",
                                           "[",
                                           "[a",
                                           "[[:alpha:]",
                                           "[[:nope:]]",
                                           "*",
                                           "*a",
                                           "a|*b",
                                           "(*a)",
                                           "+",
                                           "?",
                                           "^*",
                                           "a{",
                                           "a{1",
                                           "a{x}",
                                           "a{2,1}",
                                           "a{1,2,3}",
                                           "{1}",
                                           "\\",
                                           "a\\",
                                           "[z-a]",
                                           "\\(a\\)",
                                           "a\\{1\\}",
                                           "\\*",
                                           "((((a))))",
                                           "(a|ab)(c|bcd)(d*)",
                                           "a{0}b",
                                           "(a|b){0}c",
                                           "a{0,0}",
                                           "((a*)*)*b",
                                           "(a?){8}a{8}",
                                           "gemm_(nn|nt|t[nt])_[0-9]+",
                                           "[\\w]",
                                           "[a\\]",
                                           "x*|y",
                                           "\xc3\xa4",
                                           "[\xc3]\xa4",
                                           "a{,}b",
                                           "a{32768}"};
    static const char *const texts[] = {
        "",         "a",    "b",        "c",          "ab",       "abc", "aabb", "aaaa",
        "aaab",     "a.c",  "a-c",      "x",          "xab",      "ab ", " ab",  "a b",
        "]",        "a)",   "(a)",      "a{1}",       "*",        "\\",  "w",    "_1",
        "\xc3\xa4", "abcd", "aaaaaaaa", "gemm_nn_16", "gemm_tt_", "0",   "a{x}", "-",
        "^",        "$x",   "bx",       "cx",         "AB",       "a\nb"};
    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
            same(patterns[i], texts[k]);
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Expressions of pieces: most are good, some are none. */
static void test_random(void **state)
{
    static const char *const pieces[] = {
        "a",   "b",     "c",    "a",    "b",    "(", ")", "(a|", "b)",  "|",   "*",   "+",  "?",
        "{2}", "{1,2}", "{,2}", "[ab]", "[^a]", ".", "^", "$",   "\\b", "\\w", "\\<", "(b", ")*"};
    uint64_t seed = 20240229;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char pattern[64] = "", text[12] = "";
        for (uint32_t n = next_random(&seed) % 8; n; n--)
            strcat(pattern, pieces[next_random(&seed) % (sizeof(pieces) / sizeof(pieces[0]))]);
        for (uint32_t k = 0, n = next_random(&seed) % 8; k < n; k++)
            text[k] = "abc "[next_random(&seed) % 4];
        same(pattern, text);
    }
}

/* What costs others time or stack. */
static void test_hostile(void **state)
{
    const char *why;
    char deep[4096], text[4096];
    (void)state;
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(own_regex_match(deep, "a", &why), -1);
    assert_int_equal(own_regex_match("(((a{200}){200}){200}){200}", "a", &why), -1);
    assert_int_equal(own_regex_match("(a)\\1", "aa", &why), -1);
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(own_regex_match("(a*)*(a*)*(a*)*b$", text, &why), 0);
    assert_int_equal(own_regex_match("(a|aa)+$", text, &why), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
