/* SPDX-License-Identifier: MIT */
/* zescope annotate: source and machine code, correlated. */
#include "cli/demangle.h"
#include "cli/paths.h"
#include "cli/view.h"

#include "base/hash.h"
#include "base/os.h"
#include "report/html_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const struct zs_command zs_command_annotate;

struct annotate_options {
    struct zs_common_options common;
    struct zs_input_select select;
    struct zs_string_list source_paths, path_maps;
    const char *html, *columns;
    uint64_t context;
    int by;
    bool json, pressure, mix, sends, with_source, types, watch;
};

#define AT(member) offsetof(struct annotate_options, member)
static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, AT(select.kernels), "REGEX",
     "only kernels whose name matches; may be given several times"},
    {"device", 'd', ZS_OPTION_STRING, AT(select.device), "NAME",
     "only code for this device, where a file has several; a source is compiled "
     "for it (skl)"},
    {"build-options", 0, ZS_OPTION_STRING, AT(select.options), "OPTIONS",
     "of the compiler, where FILE is a source: '-cl-std=CL3.0 -DN=4'"},
    {"debug", 0, ZS_OPTION_STRING, AT(select.debug), "FILE",
     "debug info of the module, where it is a file of its own (.dbg)"},
    {"source-path", 'S', ZS_OPTION_LIST, AT(source_paths), "DIR",
     "look for sources here, with ever shorter ends of their path; may be given several times"},
    {"path-map", 0, ZS_OPTION_LIST, AT(path_maps), "OLD=NEW",
     "sources below OLD are read below NEW; may be given several times"},
    {"by", 0, ZS_OPTION_CHOICE, AT(by), "source|address",
     "order of the listing: source lines with their code, or code with its source lines"},
    {"context", 0, ZS_OPTION_U64, AT(context), "LINES",
     "source lines shown around those that have code (3)"},
    {"columns", 0, ZS_OPTION_STRING, AT(columns), "NAMES",
     "what recordings with counts show beside the code, separated by commas: share, lanes (both "
     "unless asked otherwise), executions, active_lanes, read_B, written_B; all, none"},
    {"pressure", 'r', ZS_OPTION_FLAG, AT(pressure), NULL,
     "show how many registers are live before each instruction"},
    {"mix", 'm', ZS_OPTION_FLAG, AT(mix), NULL, "show what kinds of instructions a line has"},
    {"sends", 'M', ZS_OPTION_FLAG, AT(sends), NULL, "decode the messages of a line's sends"},
    {"json", 'j', ZS_OPTION_FLAG, AT(json), NULL, "print JSON, schema zescope.module/1"},
    {"with-source", 0, ZS_OPTION_FLAG, AT(with_source), NULL,
     "put the text of the sources into the JSON"},
    {"types", 0, ZS_OPTION_FLAG, AT(types), NULL,
     "put the members of variables' structures into the JSON"},
    {"html", 0, ZS_OPTION_STRING, AT(html), "OUT", "write one self-contained HTML file"},
    {"watch", 0, ZS_OPTION_FLAG, AT(watch), NULL,
     "show it anew whenever one of the files was written, until Ctrl-C"},
};
#undef AT

static const struct annotate_options defaults = {.context = 3};

/* ---- sources ---- */

/* OLD=NEW; the maps point into `texts`, which the caller frees. */
static int read_maps(const struct annotate_options *o, struct zs_path_map **ret_maps,
                     char ***ret_texts)
{
    *ret_maps = calloc(o->path_maps.count + 1, sizeof(**ret_maps));
    *ret_texts = calloc(o->path_maps.count + 1, sizeof(**ret_texts));
    if (!*ret_maps || !*ret_texts)
        return zs_cli_fail("out of memory");
    for (size_t i = 0; i < o->path_maps.count; i++) {
        char *text = strdup(o->path_maps.items[i]);
        if (!text)
            return zs_cli_fail("out of memory");
        (*ret_texts)[i] = text;
        char *equals = strchr(text, '=');
        if (!equals || equals == text)
            return zs_cli_usage(&zs_command_annotate, "--path-map %s: OLD=NEW is expected", text);
        *equals = '\0';
        (*ret_maps)[i] = (struct zs_path_map){text, equals + 1};
    }
    return ZS_EXIT_OK;
}

/* ---- output ---- */

struct work {
    const struct annotate_options *o;
    const struct zs_module_view *view;
};

static int print_json(struct work *w)
{
    const struct annotate_options *o = w->o;
    struct zs_module_json_options json = {.pressure = o->pressure,
                                          .sends = o->sends,
                                          .operands = o->mix,
                                          .types = o->types,
                                          .with_source = o->with_source};
    int status = ZS_EXIT_OK;
    int error = zs_report_module_json(w->view, &json, zs_cli_sink_stdout, &status);
    return zs_cli_ended(error, status);
}

static struct zs_annotate_text_options text_options(const struct annotate_options *o)
{
    return (struct zs_annotate_text_options){
        .by = o->by ? ZS_BY_ADDRESS : ZS_BY_SOURCE,
        .pressure = o->pressure,
        .mix = o->mix,
        .sends = o->sends,
        .columns = o->columns,
        .context_lines = o->context > 1000000 ? 1000000 : (uint32_t)o->context,
    };
}

static int keep_text(void *user, const void *data, size_t size_B)
{
    zs_buf_append(user, data, size_B);
    return ((struct zs_buf *)user)->error;
}

static int print_text(struct work *w)
{
    struct zs_annotate_text_options text = text_options(w->o);
    struct zs_missing_columns missing = {0};
    struct zs_buf kept = {0}; /* whether the columns are there is known at the end */
    text.color = zs_cli_color(&w->o->common, STDOUT_FILENO);
    text.ret_missing = &missing;
    int status = ZS_EXIT_OK;
    int error = w->o->columns ? zs_report_annotate_text(w->view, &text, keep_text, &kept)
                              : zs_report_annotate_text(w->view, &text, zs_cli_sink_text, &status);
    if (!error && missing.kernels && missing.kernels == w->view->kernel_count)
        status =
            zs_cli_usage(&zs_command_annotate, "--columns %s: %s", w->o->columns, missing.text);
    else if (!error && w->o->columns)
        status = zs_cli_write_text(kept.data, kept.size_B);
    zs_buf_fini(&kept);
    return zs_cli_ended(error, status);
}

/* ---- HTML ---- */

static int put_html(const void *opaque, zs_write_fn *write, void *user)
{
    const struct work *w = opaque;
    char command[4096];
    char input[4000];
    zs_cli_quote(w->view->input, input, sizeof(input));
    snprintf(command, sizeof(command), "zescope annotate %s", input);
    const struct zs_module_html_options html = {
        .text = text_options(w->o), .text_command = command, .readable = zs_cli_demangle};
    return zs_report_module_html(w->view, &html, write, user);
}

/* ---- the command ---- */

static int annotate(struct work *w)
{
    if (w->o->html) {
        int status = zs_cli_write_to(&w->o->common, w->o->html, put_html, w);
        return status == ZS_EXIT_OK && w->o->json ? print_json(w) : status;
    }
    return w->o->json ? print_json(w) : print_text(w);
}

static int annotate_once(struct annotate_options *o, int operand_count, char **operands)
{
    struct zs_view view = {0};
    struct zs_path_map *maps = NULL;
    char **texts = NULL;
    int status = read_maps(o, &maps, &texts);
    if (status == ZS_EXIT_OK) {
        struct zs_source_options sources = {.size_B = sizeof(sources),
                                            .search_dirs = o->source_paths.items,
                                            .search_dir_count = o->source_paths.count,
                                            .maps = maps,
                                            .map_count = o->path_maps.count};
        status = zs_view_open(&o->common, &o->select, &sources, operand_count, operands, &view);
        if (status == ZS_EXIT_OK)
            status = annotate(&(struct work){.o = o, .view = &view.view});
        if (status == ZS_EXIT_OK && view.inputs.failed)
            status = ZS_EXIT_FAILED;
        zs_view_close(&view);
    }
    for (size_t i = 0; texts && i < o->path_maps.count; i++)
        free(texts[i]);
    free(texts);
    free(maps);
    return status;
}

/* ---- --watch ---- */

/* What of a file changes when it is written, or another takes its name, as editors do. */
static uint64_t state_of(const char *path)
{
    struct zs_path_info info;
    if (zs_os_path_info(path, &info))
        return 0;
    return zs_hash_u64(zs_hash_u64((uint64_t)info.mtime_s, info.mtime_ns), info.size_B);
}

static uint64_t state_of_all(int count, char **paths)
{
    uint64_t state = 0;
    for (int i = 0; i < count; i++)
        state = zs_hash_u64(state, state_of(paths[i]));
    return state;
}

static int watch(struct annotate_options *o, int operand_count, char **operands)
{
    enum { LOOK_EVERY_NS = 200 * 1000 * 1000 };
    bool clears = isatty(STDOUT_FILENO);
    while (!zs_cli_stdout_closed()) {
        uint64_t shown = state_of_all(operand_count, operands);
        if (clears)
            fputs("\033[H\033[2J\033[3J", stdout);
        annotate_once(o, operand_count, operands); /* what is wrong was said: it may be mended */
        fflush(stdout);
        while (state_of_all(operand_count, operands) == shown)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NS}, NULL);
    }
    return ZS_EXIT_OK;
}

static int run_annotate(void *opaque, int operand_count, char **operands)
{
    struct annotate_options *o = opaque;
    if (operand_count == 0)
        return zs_cli_usage(&zs_command_annotate, "a file or a recording is needed");
    return o->watch ? watch(o, operand_count, operands) : annotate_once(o, operand_count, operands);
}

const struct zs_command zs_command_annotate = {
    .name = "annotate",
    .summary = "source and machine code, correlated",
    .operands = "[FILE|DIR...]",
    .takes_recording = true,
    .description =
        "Prints the source of kernels with the machine code of each line beneath it, inlined "
        "functions included: their code stands at their own lines, with the calls that led "
        "there.\n\n"
        "FILE is OpenCL C (.cl) or SPIR-V, which ocloc then compiles for --device, or what ocloc "
        "writes, a native binary as drivers return it, or an archive for "
        "several devices. DIR is a recording. The module must have been built with -g: ocloc "
        "takes -options \"-g\", Level Zero \"-g\" in pBuildFlags, SYCL compilers -g; "
        "`zescope record --debug-info` adds it to a program as it runs. Without debug info the "
        "machine code is shown alone.\n\n"
        "Sources are read where the debug info says that they were, or as --source-path and "
        "--path-map say; a recording brings its own copies.",
    .examples = "zescope annotate gemm.bin\n    all kernels of a module\n"
                "zescope annotate -d dg2 --watch gemm.cl\n    compiled, on every save anew\n"
                "zescope annotate -k gemm --by address -rmM gemm.bin\n"
                "    one kernel in the order of its code, with register pressure, instruction mix "
                "and decoded sends\n"
                "zescope annotate --html gemm.html gemm.bin\n    a page for the browser\n"
                "zescope annotate --json rec | jq '.devices[].kernels[].name'\n"
                "    what a recording holds, for other programs\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct annotate_options),
    .defaults = &defaults,
    .run = run_annotate,
};
