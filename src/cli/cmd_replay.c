/* SPDX-License-Identifier: MIT */
/* zescope replay: captured launches run again, alone. */
#include "base/default_device.h"
#include "base/file.h"
#include "base/filter.h"
#include "base/vec.h"
#include "cli/demangle.h"
#include "cli/paths.h"
#include "cli/record_into.h"
#include "cli/replay_ze.h"
#include "cli/scratch.h"
#include "cli/source.h"
#include "record/builds.h"
#include "report/counts.h"
#include "report/replayed.h"

#include <zescope/module.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct replay_options {
    struct zs_common_options common;
    struct zs_string_list kernels, metrics;
    const char *device, *build, *flags, *output;
    uint64_t ulp, limit;
    bool system, counts, json;
};

#define AT(member) offsetof(struct replay_options, member)
static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, AT(kernels), "REGEX",
     "only launches of kernels whose name matches; may be given several times"},
    {"device", 'd', ZS_OPTION_STRING, AT(device), "NAME",
     "on the software GPU as this device (the one that it was captured on)"},
    {"system", 0, ZS_OPTION_FLAG, AT(system), NULL,
     "on the drivers that are installed, or that the environment names"},
    {"build", 0, ZS_OPTION_STRING, AT(build), "FILE",
     "another build: OpenCL C (.cl), SPIR-V, or a native binary"},
    {"build-options", 0, ZS_OPTION_STRING, AT(flags), "OPTIONS",
     "of the compiler; then it is built from SPIR-V or source, not from the recorded binary"},
    {"ulp", 0, ZS_OPTION_U64, AT(ulp), "N",
     "floats that differ by at most N units in the last place are the same (0)"},
    {"limit", 'n', ZS_OPTION_U64, AT(limit), "N", "so many differences of an allocation (10)"},
    {"counts", 'c', ZS_OPTION_FLAG, AT(counts), NULL,
     "record it, with counts of executions, as zescope record --counts"},
    {"metrics", 0, ZS_OPTION_LIST, AT(metrics), "GROUP[,GROUP]",
     "record it, with metrics, as zescope record --metrics"},
    {"output", 'o', ZS_OPTION_STRING, AT(output), "DIR", "record it into this folder"},
    {"json", 'j', ZS_OPTION_FLAG, AT(json), NULL, "print JSON, schema zescope.replay/1"},
};
#undef AT
static const struct replay_options defaults = {.limit = 10};

extern const struct zs_command zs_command_replay;

/* ---- one launch ---- */

struct one {
    const struct replay_options *o;
    struct zs_recording *recording;
    const char *path;
    struct zs_launch launch;
    bool is_other_device; /* than it was captured on */
    const struct zs_record_build *build;
    struct zs_module *module; /* what ran; NULL: not there */
    const struct zs_kernel *kernel;
    struct zs_span binary, input;
    struct zs_replay_build builds[3];
    size_t build_count;
    struct {
        char **items;
        size_t count, capacity;
    } notes;
};

static void note(struct one *w, const char *format, ...) ZS_PRINTF(2, 3);
static void note(struct one *w, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    char *copy = strdup(text);
    if (!copy || !ZS_VEC_PUSH(&w->notes, copy))
        free(copy);
}

/* As ocloc and we name it; "": not known. */
static const char *device_of(const struct zs_recording *recording,
                             const struct zs_record_build *build)
{
    uint32_t count;
    const struct zs_record_device *devices = zs_recording_devices(recording, &count);
    return build && build->device < count ? zs_device_ocloc_name(devices[build->device].vendor_id,
                                                                 devices[build->device].device_id)
                                          : "";
}

/* What of the recording it was built from. */
static void find_build(struct one *w)
{
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(w->recording, &count);
    const struct zs_module_options how = {.size_B = sizeof(how)};
    w->build = zs_recording_find_build(w->recording, w->launch.process, w->launch.build_id,
                                       w->launch.time_ns);
    if (!w->build)
        return;
    if (w->build->module < count &&
        !zs_recording_blob_read(w->recording, &modules[w->build->module].binary, &w->binary, NULL))
        zs_module_open_memory(w->binary, &how, &w->module, NULL);
    w->is_other_device = w->o->device && strcmp(w->o->device, device_of(w->recording, w->build));
    w->kernel = w->module ? zs_count_kernel_named(w->module, w->launch.kernel) : NULL;
    if (w->build->format == ZS_RECORD_FORMAT_SPIRV && w->build->input_count == 1)
        zs_recording_blob_read(w->recording, &w->build->inputs[0].blob, &w->input, NULL);
}

static const struct zs_arg *argument_of(const struct one *w, uint32_t index)
{
    for (uint32_t i = 0; w->kernel && i < w->kernel->arg_count; i++)
        if (w->kernel->args[i].index == index)
            return &w->kernel->args[i];
    return NULL;
}

static bool is_image(const struct one *w, const struct zs_launch_argument *a)
{
    return a->kind == ZS_LAUNCH_POINTER && w->launch.memory[a->memory].type == ZS_LAUNCH_IMAGE;
}

/* What was not captured, by name. False: without it nothing can be run. */
static bool check_arguments(struct one *w, struct zs_buf *failed)
{
    static const char *const no_value[ZS_ARG_KIND_COUNT] = {
        [ZS_ARG_IMAGE] = "an image", [ZS_ARG_SAMPLER] = "a sampler", [ZS_ARG_QUEUE] = "a queue"};
    for (uint32_t i = 0; i < w->launch.argument_count && !failed->size_B; i++) {
        const struct zs_launch_argument *a = &w->launch.arguments[i];
        const struct zs_arg *arg = argument_of(w, a->index);
        const char *name = arg ? arg->name : "";
        bool kept = arg && (arg->kind == ZS_ARG_IMAGE     ? is_image(w, a)
                            : arg->kind == ZS_ARG_SAMPLER ? a->kind == ZS_LAUNCH_SAMPLER
                                                          : !no_value[arg->kind]);
        if (arg && !kept)
            zs_buf_printf(failed, "argument %u (%s) is %s, which is not captured", a->index, name,
                          no_value[arg->kind]);
        else if (arg && arg->kind == ZS_ARG_BUFFER && a->kind == ZS_LAUNCH_VALUE)
            zs_buf_printf(failed,
                          "argument %u (%s) points into no allocation of Level Zero, which is not "
                          "captured",
                          a->index, name);
        else if (a->kind == ZS_LAUNCH_VALUE && a->value.size_B != a->size_B)
            zs_buf_printf(failed, "argument %u (%s) is too large: it was not captured", a->index,
                          name);
    }
    if (w->launch.flags & ZS_LAUNCH_INDIRECT)
        note(w, "the kernel may follow pointers that are in memory (indirect access): what they "
                "point to was not captured");
    if (w->module)
        for (uint32_t i = 0; i < w->module->image_count; i++)
            if (w->module->images[i].buffers[ZS_BUFFER_GLOBAL].present) {
                note(w, "the module has variables of its own: they begin as they are built");
                break;
            }
    return !failed->size_B;
}

static void add_build(struct one *w, const char *what, bool is_spirv, struct zs_span bytes,
                      const char *flags)
{
    struct zs_replay_build b = {what, is_spirv, bytes, flags, NULL, 0};
    if (is_spirv && w->build && w->build->input_count == 1) {
        b.constants = w->build->inputs[0].constants;
        b.constant_count = w->build->inputs[0].constant_count;
    }
    if (bytes.size_B)
        w->builds[w->build_count++] = b;
}

static bool is_spirv(struct zs_span bytes)
{
    static const uint8_t magic[] = {0x03, 0x02, 0x23, 0x07};
    return bytes.size_B > 4 && !memcmp(bytes.data, magic, sizeof(magic));
}

/* In the order in which they are tried. `own`: the user's file, or empty. */
static void choose_builds(struct one *w, struct zs_span own)
{
    const char *flags = w->o->flags ? w->o->flags : w->build ? w->build->flags : "";
    if (own.size_B) {
        add_build(w, w->o->build, is_spirv(own), own, is_spirv(own) ? flags : "");
        return;
    }
    if (!w->o->flags && !w->is_other_device)
        add_build(w, "the recorded binary", false, w->binary, "");
    add_build(w, "the recorded SPIR-V", true, w->input, flags);
    if (!w->o->flags && w->is_other_device) /* drivers may know what it came from */
        add_build(w, "the recorded binary", false, w->binary, "");
    if (!w->build_count && w->o->flags)
        note(w, "it was not recorded what the module was built from: --build FILE gives it");
}

static const char *why_not_compared(const struct zs_launch_memory *m)
{
    static const char *const whys[] = {
        [ZS_LAUNCH_TOO_LARGE] = "it is larger than the limit of the capture (--capture-limit), and "
                                "began as zeros",
        [ZS_LAUNCH_NO_COPY] = "the driver refused to copy it, and it began as zeros"};
    return whys[m->state];
}

/* "__global float4 *" and the like: what stands in front of the star. */
static void describe(const struct one *w, uint32_t memory, struct zs_replayed_memory *ret)
{
    for (uint32_t i = 0; i < w->launch.argument_count; i++) {
        const struct zs_launch_argument *a = &w->launch.arguments[i];
        if (a->kind != ZS_LAUNCH_POINTER || a->memory != memory)
            continue;
        const struct zs_arg *arg = argument_of(w, a->index);
        ret->argument = a->index;
        ret->name = arg ? arg->name : "";
        ret->type = arg ? arg->type : "";
        return;
    }
}

static int show(const struct one *w, const struct zs_replayed *replayed, struct zs_json *json,
                struct zs_buf *out)
{
    if (w->o->json)
        zs_replayed_json(replayed, w->o->ulp, w->o->limit, json);
    else
        zs_replayed_text(replayed, w->o->ulp, w->o->limit,
                         zs_cli_color(&w->o->common, STDOUT_FILENO), out);
    return out->error                                 ? zs_cli_fail("out of memory")
           : replayed->failed                         ? ZS_EXIT_FAILED
           : zs_replayed_is_same(replayed, w->o->ulp) ? ZS_EXIT_OK
                                                      : ZS_EXIT_UNMET;
}

static int replay_one(struct one *w, struct zs_span own, struct zs_json *json, struct zs_buf *out)
{
    struct zs_replay replay = {.launch = &w->launch};
    struct zs_replay_result result = {.time_ns = NAN};
    const struct zs_launch *l = &w->launch;
    struct zs_replayed_memory *memory = calloc((size_t)l->memory_count + 1, sizeof(*memory));
    if (!memory)
        return zs_cli_fail("out of memory");
    find_build(w);
    choose_builds(w, own);
    replay.builds = w->builds;
    replay.build_count = w->build_count;
    struct zs_buf failed = {0};
    bool ran = check_arguments(w, &failed) && zs_replay_run(&replay, &result);
    for (uint32_t i = 0; i < l->memory_count; i++) {
        const struct zs_launch_memory *m = &l->memory[i];
        memory[i] = (struct zs_replayed_memory){.name = "", .type = "", .size_B = m->size_B};
        describe(w, i, &memory[i]);
        memory[i].why_not = why_not_compared(m);
        memory[i].before = m->before;
        memory[i].after = m->after;
        memory[i].now = zs_span_make(ran ? result.now[i] : NULL, ran ? (size_t)m->size_B : 0);
    }
    const struct zs_replayed replayed = {
        .kernel = l->kernel,
        .recording = w->path,
        .file = l->file,
        .number = l->number,
        .groups = {l->groups[0], l->groups[1], l->groups[2]},
        .size = {l->size[0], l->size[1], l->size[2]},
        .device = *result.device ? result.device : "no device",
        .built = result.built ? result.built->what : "",
        .failed = ran             ? NULL
                  : failed.size_B ? zs_buf_cstr(&failed)
                                  : zs_buf_cstr(&result.failed),
        .time_ns = result.time_ns,
        .clock = w->o->system                                   ? ""
                 : !strcmp(getenv("ZESCOPE_TIMING"), "formula") ? "estimated from counts"
                                                                : "modelled",
        .notes = (const char *const *)w->notes.items,
        .note_count = w->notes.count,
        .memory = memory,
        .memory_count = l->memory_count,
    };
    int status = show(w, &replayed, json, out);
    if (replay.launch && result.now)
        zs_replay_free(&replay, &result);
    zs_buf_fini(&failed);
    free(memory);
    return status;
}

static void close_one(struct one *w)
{
    zs_module_close(w->module);
    zs_recording_blob_free(&w->binary);
    zs_recording_blob_free(&w->input);
    for (size_t i = 0; i < w->notes.count; i++)
        free(w->notes.items[i]);
    free(w->notes.items);
    zs_launch_close(&w->launch);
}

/* ---- all of them ---- */

/* The user's own build: a source is compiled for the device. */
static int read_own(const struct replay_options *o, const char *device, struct zs_file *ret)
{
    char folder[PATH_MAX], compiled[PATH_MAX];
    struct zs_diag diag = {0};
    const char *path = o->build;
    size_t length = path ? strlen(path) : 0;
    bool is_source = length > 3 && !strcmp(path + length - 3, ".cl");
    if (!path)
        return ZS_EXIT_OK;
    int status = is_source ? zs_cli_compile(path, device, o->flags, folder, compiled) : ZS_EXIT_OK;
    if (status == ZS_EXIT_OK && zs_file_read(is_source ? compiled : path, 0, ret, &diag))
        status = zs_cli_fail("%s", diag.text);
    if (is_source && status == ZS_EXIT_OK)
        zs_cli_scratch_remove(folder);
    return status;
}

struct all {
    const struct replay_options *o;
    const char *path;
    struct zs_recording *recording;
    struct zs_filter filter;
    char **names;
    size_t count, shown;
};

static int replay_all(struct all *a, struct zs_span own, struct zs_json *json, struct zs_buf *out)
{
    int status = ZS_EXIT_OK;
    for (size_t i = 0; i < a->count; i++) {
        struct one w = {.o = a->o, .recording = a->recording, .path = a->path};
        struct zs_diag diag = {0};
        int own_status = ZS_EXIT_OK;
        if (zs_launch_open(a->path, a->names[i], &w.launch, &diag)) {
            own_status = zs_cli_fail("%s: %s: %s", a->path, a->names[i], diag.text);
        } else if (zs_filter_matches(&a->filter, w.launch.kernel)) {
            a->shown++;
            own_status = replay_one(&w, own, json, out);
        }
        close_one(&w);
        if (!a->o->json && out->size_B) {
            int written = zs_cli_write_text(out->data, out->size_B);
            own_status = own_status ? own_status : written;
            out->size_B = 0;
        }
        status = status == ZS_EXIT_FAILED || !own_status ? status : own_status;
    }
    return status;
}

static int replay_here(struct all *a, const char *device)
{
    struct zs_file own = {0};
    struct zs_buf out = {0};
    struct zs_json json = zs_json_make(&out, 3);
    int status = read_own(a->o, device, &own);
    if (status != ZS_EXIT_OK)
        return status;
    if (a->o->json) {
        zs_json_object(&json, NULL);
        zs_json_string(&json, "schema", "zescope.replay/1");
        zs_json_string(&json, "recording", a->path);
        zs_json_array(&json, "launches");
    }
    status = replay_all(a, own.span, &json, &out);
    if (a->o->json) {
        zs_json_end(&json);
        zs_json_end(&json);
        zs_buf_putc(&out, '\n');
        int written =
            out.error ? zs_cli_fail("out of memory") : zs_cli_write_stdout(out.data, out.size_B);
        status = status ? status : written;
    }
    if (!a->shown && status == ZS_EXIT_OK)
        status = zs_cli_fail("%s: no captured launch matches --kernel", a->path);
    zs_buf_fini(&out);
    zs_file_close(&own);
    return status;
}

/* The device of the first launch, as ocloc and we name it. */
static const char *captured_device(const struct all *a)
{
    struct zs_launch l;
    const char *name = "";
    if (!zs_launch_open(a->path, a->names[0], &l, NULL))
        name = device_of(a->recording,
                         zs_recording_find_build(a->recording, l.process, l.build_id, l.time_ns));
    zs_launch_close(&l);
    return *name ? name : zs_default_device();
}

/* This command again, under `zescope record`. */
static int record(const struct replay_options *o, const char *device, const char *path)
{
    enum { WORDS_MOST = 64, LISTED_MOST = 8 };
    const char *words[WORDS_MOST], *app[WORDS_MOST];
    char self[PATH_MAX], ulp[32], limit[32];
    size_t at = 0, app_at = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return zs_cli_fail("/proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    if (o->kernels.count > LISTED_MOST || o->metrics.count > LISTED_MOST)
        return zs_cli_usage(&zs_command_replay, "too many --kernel or --metrics");
    words[at++] = "--debug-info";
    if (!o->system) {
        words[at++] = "--device";
        words[at++] = device;
    }
    if (o->counts)
        words[at++] = "--counts";
    for (size_t i = 0; i < o->metrics.count; i++) {
        words[at++] = "--metrics";
        words[at++] = o->metrics.items[i];
    }
    if (o->output) {
        words[at++] = "--output";
        words[at++] = o->output;
    }
    app[app_at++] = self;
    app[app_at++] = "replay";
    app[app_at++] = "--system"; /* those that the recorder sets */
    for (size_t i = 0; i < o->kernels.count; i++) {
        app[app_at++] = "--kernel";
        app[app_at++] = o->kernels.items[i];
    }
    if (o->build) {
        app[app_at++] = "--build";
        app[app_at++] = o->build;
        app[app_at++] = "--device"; /* that a source is compiled for */
        app[app_at++] = device;
    }
    if (o->flags) {
        app[app_at++] = "--build-options";
        app[app_at++] = o->flags;
    }
    if (o->json)
        app[app_at++] = "--json";
    snprintf(ulp, sizeof(ulp), "--ulp=%llu", (unsigned long long)o->ulp);
    snprintf(limit, sizeof(limit), "--limit=%llu", (unsigned long long)o->limit);
    app[app_at++] = ulp;
    app[app_at++] = limit;
    app[app_at++] = path;
    return zs_cli_record_with(words, at, (int)app_at, (char **)(uintptr_t)app);
}

static int replay(const struct replay_options *o, const char *path)
{
    struct zs_diag diag = {0};
    struct all a = {.o = o, .path = path};
    if (zs_filter_compile(&a.filter, o->kernels.items, o->kernels.count, &diag))
        return zs_cli_usage(&zs_command_replay, "--kernel %s", diag.text);
    a.filter.other_form = zs_cli_demangle;
    if (zs_recording_open(path, &a.recording, &diag))
        return zs_cli_fail("%s: %s", path, diag.text);
    int status = zs_launches_list(path, &a.names, &a.count, &diag)
                     ? zs_cli_fail("%s: %s", path, diag.text)
                 : !a.count ? zs_cli_fail("%s: it holds no captured launches: zescope record "
                                          "--capture KERNEL keeps some",
                                          path)
                            : ZS_EXIT_OK;
    const char *device = status || o->device ? o->device : captured_device(&a);
    if (status == ZS_EXIT_OK && (o->counts || o->metrics.count || o->output)) {
        status = record(o, device, path);
    } else if (status == ZS_EXIT_OK) {
        status = o->system ? ZS_EXIT_OK : zs_cli_use_software_gpu(&zs_command_replay, device);
        if (!o->system) /* as record --counts: times of the original are mostly from there */
            setenv("ZESCOPE_TIMING", "model", 0);
        status = status ? status : replay_here(&a, device);
    }
    zs_launches_free(a.names, a.count);
    zs_recording_close(a.recording);
    zs_filter_fini(&a.filter);
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct replay_options *o = parsed;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_replay, "one recording is needed");
    if (o->system && o->device && !o->build)
        return zs_cli_usage(&zs_command_replay, "--device is the software GPU, --system is not");
    return replay(o, operands[0]);
}

const struct zs_command zs_command_replay = {
    .name = "replay",
    .summary = "captured launches of kernels run again, alone, and their results compared",
    .operands = "[DIR]",
    .takes_recording = true,
    .description =
        "Runs launches again that zescope record --capture kept, each alone: with their arguments "
        "and their memory as it was, on the device that they ran on or another, from the recorded "
        "binary, or where the device cannot run that, from the recorded SPIR-V, or from another "
        "build. What they leave in memory is compared with what the original left: which "
        "elements, in which allocation, by how many units in the last place.\n\n"
        "The exit status is 0 when everything is the same, 3 when something differs or could not "
        "be compared, 1 when a launch could not be run. OpenCL's launches, memory that is reached "
        "through pointers in memory only, and the state of a module's variables "
        "are not captured, and are told by name.",
    .examples = "zescope record --capture gemm:2 -o rec -- ./app\n"
                "    the second launch of gemm is kept\n"
                "zescope replay -k gemm -d dg2 rec\n"
                "    run again as on another GPU, and compared\n"
                "zescope replay -k gemm --build new.cl --ulp 2 rec\n"
                "    from another source\n"
                "zescope replay -k gemm --counts -o again rec\n"
                "    with exact counts: zescope annotate again\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct replay_options),
    .run = run,
};
