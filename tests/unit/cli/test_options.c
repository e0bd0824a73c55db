/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

struct probe_options {
    struct zs_common_options common;
    struct zs_string_list kernels;
    const char *output;
    uint64_t limit;
    int by;
    bool json;
};

static int run_probe(void *options, int count, char **operands)
{
    return ZS_EXIT_OK;
}

static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, offsetof(struct probe_options, kernels), "REGEX", "kernels"},
    {"output", 'o', ZS_OPTION_STRING, offsetof(struct probe_options, output), "FILE", "output"},
    {"size-limit", 0, ZS_OPTION_U64, offsetof(struct probe_options, limit), "N", "limit"},
    {"by", 0, ZS_OPTION_CHOICE, offsetof(struct probe_options, by), "source|address", "order"},
    {"json", 'j', ZS_OPTION_FLAG, offsetof(struct probe_options, json), NULL, "json"},
};
static const struct probe_options defaults = {.limit = 7};
static struct zs_command command = {.name = "probe",
                                    .summary = "s",
                                    .operands = "FILE",
                                    .options = options,
                                    .option_count = ZS_ARRAY_LEN(options),
                                    .options_size_B = sizeof(struct probe_options),
                                    .defaults = &defaults,
                                    .run = run_probe};

/* Words separated by single spaces; the operands that are left come back joined by ','. */
static int parse(const char *line, struct probe_options *o, char *ret_operands)
{
    static char text[512];
    char *argv[32], *save = NULL, **operands;
    int argc = 0, count;
    strcpy(text, line);
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    argv[argc] = NULL;
    int status = zs_options_parse(&command, argc, argv, o, &count, &operands);
    ret_operands[0] = '\0';
    for (int i = 0; i < count && !status; i++) {
        strcat(ret_operands, operands[i]);
        strcat(ret_operands, ",");
    }
    return status;
}

static void words_are_understood(void **state)
{
    struct probe_options o;
    char rest[128];
    assert_int_equal(parse("probe a -k x --kernel=y -jo out --by address b -- -z", &o, rest), 0);
    assert_string_equal(rest, "a,b,-z,");
    assert_int_equal(o.kernels.count, 2);
    assert_string_equal(o.kernels.items[1], "y");
    assert_string_equal(o.output, "out");
    assert_true(o.json);
    assert_int_equal(o.by, 1);
    assert_int_equal(o.limit, 7);
    zs_options_free(&command, &o);
    assert_int_equal(parse("probe --size-limit 0x10k --json --no-json -", &o, rest), 0);
    assert_int_equal(o.limit, 16384);
    assert_false(o.json);
    assert_string_equal(rest, "-,");
    zs_options_free(&command, &o);
    assert_int_equal(parse("probe --kernel=--json -o --strange -k -", &o, rest), 0);
    assert_string_equal(o.kernels.items[0], "--json");
    assert_string_equal(o.output, "--strange");
    assert_string_equal(o.kernels.items[1], "-");
    zs_options_free(&command, &o);
}

static void the_application_keeps_its_words(void **state)
{
    struct probe_options o;
    char rest[128];
    command.takes_app = true;
    assert_int_equal(parse("probe -j app -k --json -- x", &o, rest), 0);
    assert_string_equal(rest, "app,-k,--json,--,x,");
    assert_int_equal(o.kernels.count, 0);
    assert_int_equal(parse("probe -j -- -app -k", &o, rest), 0);
    assert_string_equal(rest, "-app,-k,");
    command.takes_app = false;
}

static void wrong_words_are_usage_errors(void **state)
{
    static const char *const lines[] = {
        "probe --kernal x",
        "probe -z",
        "probe -o",
        "probe --by nowhere",
        "probe --json=1",
        "probe --by",
        "probe --no-by",
        "probe --size-limit -1",
        "probe --size-limit 1x",
        "probe --size-limit 99999999999999G",
        "probe --kernel --json", /* a value was forgotten */
        "probe -k --by=source",
        "probe -o -- app",
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(lines); i++) {
        struct probe_options o;
        char rest[128];
        assert_int_equal(parse(lines[i], &o, rest), ZS_EXIT_USAGE);
        zs_options_free(&command, &o);
    }
}

static void environment_comes_first(void **state)
{
    struct probe_options o;
    char rest[128];
    setenv("ZESCOPE_PROBE_SIZE_LIMIT", "9", 1);
    setenv("ZESCOPE_SIZE_LIMIT", "8", 1); /* the command's own wins */
    setenv("ZESCOPE_KERNEL", "a;b", 1);   /* an old name */
    setenv("ZESCOPE_PROBE_BY", "address", 1);
    setenv("ZESCOPE_QUIET", "1", 1); /* common to all commands */
    assert_int_equal(parse("probe --by source -k c", &o, rest), 0);
    assert_int_equal(o.limit, 9);
    assert_int_equal(o.kernels.count, 3);
    assert_int_equal(o.by, 0);
    zs_options_free(&command, &o);
    assert_true(o.common.quiet);
    setenv("ZESCOPE_PROBE_QUIET", "0", 1);
    assert_int_equal(parse("probe", &o, rest), 0);
    assert_false(o.common.quiet);
    zs_options_free(&command, &o);
    setenv("ZESCOPE_PROBE_BY", "sideways", 1);
    assert_int_equal(parse("probe", &o, rest), ZS_EXIT_USAGE);
    zs_options_free(&command, &o);
    unsetenv("ZESCOPE_PROBE_SIZE_LIMIT");
    unsetenv("ZESCOPE_SIZE_LIMIT");
    unsetenv("ZESCOPE_KERNEL");
    unsetenv("ZESCOPE_PROBE_BY");
    unsetenv("ZESCOPE_QUIET");
    unsetenv("ZESCOPE_PROBE_QUIET");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_understood),
        cmocka_unit_test(the_application_keeps_its_words),
        cmocka_unit_test(wrong_words_are_usage_errors),
        cmocka_unit_test(environment_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
