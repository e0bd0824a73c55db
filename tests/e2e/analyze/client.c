/* SPDX-License-Identifier: MIT */
/*
 * A client of <zescope/analyze.h>: client RECORDING [max|min|assert TEXT]..., [define TEXT],
 * [value KERNEL NAME]. Prints what it is given, one fact a line, for test_check.py to hold against
 * what the commands say.
 */
#include <zescope/analyze.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_kernels(struct zs_analysis *analysis)
{
    const struct zs_analyzed *k;
    for (uint32_t i = 0; (k = zs_analysis_kernel(analysis, i)); i++) {
        printf("kernel\t%s\t%s\t%s\t%llu\t%.17g\t%s\n", k->name, k->rank, k->module,
               (unsigned long long)k->launches, k->roofline->attainable, k->roofline->bound);
        for (uint32_t f = 0; f < k->finding_count; f++) {
            const struct zs_finding *finding = &k->findings[f];
            printf("finding\t%s\t%s\t%u\t%s\n", k->name, finding->rule,
                   finding->place_count ? finding->places[0].line : 0, finding->text);
            if (!finding->title[0] || !finding->advice[0])
                printf("empty\n");
        }
        for (uint32_t r = 0; r < k->not_judged_count; r++)
            printf("not judged\t%s\t%s\n", k->name, k->not_judged[r].rule);
    }
}

static void print_value(struct zs_analysis *analysis, const char *kernel, const char *name)
{
    const struct zs_analyzed *k;
    struct zs_named_value value;
    for (uint32_t i = 0; (k = zs_analysis_kernel(analysis, i)); i++) {
        uint32_t same = 0, all = 0;
        if (strcmp(k->name, kernel))
            continue;
        for (; zs_analysis_value(analysis, k, all, &value); all++) {
            struct zs_named_value again; /* programs list values as often as they like */
            same += !strcmp(value.name, name);
            if (!zs_analysis_value(analysis, k, all, &again) || again.name != value.name ||
                again.why != value.why)
                printf("another\t%s\t%s\n", value.name, value.why);
        }
        if (zs_analysis_find(analysis, k, name, &value))
            printf("value\t%s\t%s\t%.17g\t%s\t%u\n", k->rank, name, value.value, value.unit, same);
        else
            printf("no value\t%s\t%s\n", name, value.why);
    }
}

static int judge(struct zs_check *check, const char *kind, const char *text)
{
    struct zs_formula_error where;
    int error = zs_check_assert(check,
                                !strcmp(kind, "max")   ? ZS_ASSERT_MAX
                                : !strcmp(kind, "min") ? ZS_ASSERT_MIN
                                                       : ZS_ASSERT_HOLDS,
                                text, "client", &where);
    if (error)
        printf("wrong\t%u\t%s\n", where.column, where.text);
    return error;
}

static void print_results(const struct zs_check *check)
{
    static const char *const status[] = {"passed", "failed", "unknown"};
    const struct zs_check_result *r;
    uint32_t failed, count = zs_check_count(check, &failed);
    for (uint32_t i = 0; (r = zs_check_result(check, i)); i++)
        printf("result\t%s\t%s\t%s\t%s\t%.17g\t%s\n", status[r->status], r->kernel_name, r->rank,
               r->what, r->value, r->unit);
    printf("results\t%u\t%u\n", count, failed);
}

int main(int argc, char **argv)
{
    struct zs_analysis *analysis;
    struct zs_check *check;
    struct zs_diag diag = {0};
    struct zs_formula_error where;
    if (argc < 2 || zs_analysis_open(argv[1], &analysis, &diag)) {
        printf("cannot open\t%s\n", diag.text);
        return 1;
    }
    const struct zs_analysis_info *info = zs_analysis_info(analysis);
    printf("recording\t%u\t%u\t%d\t%d\t%s\n", info->recording_count, info->kernel_count,
           info->is_modelled, info->has_counts, info->unfit);
    print_kernels(analysis);
    if (zs_check_create(analysis, &check))
        return 1;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "define") && i + 1 < argc) {
            const char *text = argv[++i], *name;
            if (zs_analysis_define(analysis, text, strlen(text), "client", &where) ||
                zs_check_defined(check, &name, &where))
                printf("wrong\t%u\t%s\n", where.column, where.text);
        } else if (!strcmp(argv[i], "value") && i + 2 < argc) {
            print_value(analysis, argv[i + 1], argv[i + 2]);
            i += 2;
        } else if (i + 1 < argc) {
            (void)judge(check, argv[i], argv[i + 1]);
            i++;
        }
    }
    print_results(check);
    zs_check_destroy(check);
    zs_analysis_close(analysis);
    zs_check_destroy(NULL);
    zs_analysis_close(NULL);
    return 0;
}
