/* SPDX-License-Identifier: MIT */
#include "base/default_device.h"
#include "base/version.h"
#include "cli/doctor.h"

#include "cli/paths.h"

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>
#include <zescope/driver_ext.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUE_CHARS = 512 };

#define APT(package) "apt-get install " package

/* What was found, for the last part: what works with it. */
struct findings {
    bool loader, layer, collector, ocloc;
    bool gpu;          /* some driver has a device */
    bool software_gpu; /* ours has */
    bool intel_blind;  /* Intel's driver works without a GPU */
};

/* --- libraries ------------------------------------------------------------------------------- */

struct library_question {
    const char *file;
    const char *version_function; /* const char *(void), or NULL */
    const char *needed_function;  /* or NULL */
};

static int ask_library(const void *question, FILE *out)
{
    const struct library_question *q = question;
    void *library = dlopen(q->file, RTLD_LAZY);
    if (!library) {
        fprintf(out, "error=%s\n", dlerror());
        return 1;
    }
    struct link_map *map;
    char path[PATH_MAX];
    if (!dlinfo(library, RTLD_DI_LINKMAP, &map) && realpath(map->l_name, path))
        fprintf(out, "path=%s\n", path);
    if (q->needed_function && !dlsym(library, q->needed_function)) {
        fprintf(out, "error=it has no %s\n", q->needed_function);
        return 1;
    }
    fflush(out);
    const char *(*version)(void) =
        q->version_function ? (const char *(*)(void))(uintptr_t)dlsym(library, q->version_function)
                            : NULL;
    if (version)
        fprintf(out, "version=%s\n", version());
    return 0;
}

/* The part behind ".so.", for libraries that do not tell their version. */
static void version_of_name(const char *path, char *ret, size_t size_B)
{
    const char *so = strstr(path, ".so.");
    snprintf(ret, size_B, "%s", so ? so + 4 : "");
}

static bool in_library_path(const char *path)
{
    const char *list = getenv("LD_LIBRARY_PATH");
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    for (const char *p = list; p && *p && length; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL)
        if (!strncmp(p, path, length) && (p[length] == ':' || !p[length]))
            return true;
    return false;
}

static bool add_library(struct doctor_report *r, const char *group, const char *name,
                        const struct library_question *q, enum doctor_status if_missing,
                        const char *advice)
{
    struct doctor_answer answer;
    char path[PATH_MAX], version[VALUE_CHARS], error[VALUE_CHARS];
    doctor_ask(ask_library, q, r->timeout_ms, &answer);
    doctor_value(&answer, "path", path, sizeof(path));
    if (!doctor_value(&answer, "version", version, sizeof(version)))
        version_of_name(path, version, sizeof(version));
    if (answer.asked && !answer.timed_out && !answer.status) {
        doctor_add(r, group, name, DOCTOR_OK, path, NULL, "%s%s", version[0] ? version : "found",
                   in_library_path(path) ? " (through LD_LIBRARY_PATH)" : "");
        return true;
    }
    if (!doctor_value(&answer, "error", error, sizeof(error)))
        doctor_describe_end(&answer, error, sizeof(error));
    doctor_add(r, group, name, if_missing, path, advice, "%s", error);
    return false;
}

/* --- drivers --------------------------------------------------------------------------------- */

struct driver_question {
    const char *driver; /* for ZE_ENABLE_ALT_DRIVERS */
    bool without_gpu;   /* Intel's: simulate one */
};

static int ask_devices(void *loader, FILE *out, ze_driver_handle_t driver)
{
    __typeof__(zeDeviceGet) *get =
        (__typeof__(zeDeviceGet) *)(uintptr_t)dlsym(loader, "zeDeviceGet");
    __typeof__(zeDeviceGetProperties) *properties =
        (__typeof__(zeDeviceGetProperties) *)(uintptr_t)dlsym(loader, "zeDeviceGetProperties");
    ze_device_handle_t devices[16];
    uint32_t count = 0;
    /* asked for more than there are, Intel's driver leaves the count as it was */
    if (!get || !properties || get(driver, &count, NULL))
        return 1;
    count = ZS_MIN(count, (uint32_t)ZS_ARRAY_LEN(devices));
    if (get(driver, &count, devices))
        return 1;
    fprintf(out, "devices=");
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        if (!properties(devices[i], &p))
            fprintf(out, "%s%s", i ? ", " : "", p.name);
    }
    fprintf(out, "\n");
    return count ? 0 : 1;
}

static void tell_driver(void *loader, FILE *out, ze_driver_handle_t driver)
{
    __typeof__(zeDriverGetProperties) *properties =
        (__typeof__(zeDriverGetProperties) *)(uintptr_t)dlsym(loader, "zeDriverGetProperties");
    __typeof__(zeDriverGetApiVersion) *api =
        (__typeof__(zeDriverGetApiVersion) *)(uintptr_t)dlsym(loader, "zeDriverGetApiVersion");
    ze_driver_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_api_version_t version;
    /* major, minor, build: the way in which Intel's drivers fill it */
    if (properties && !properties(driver, &p))
        fprintf(out, "version=%u.%u.%u\n", p.driverVersion >> 24, p.driverVersion >> 16 & 0xff,
                p.driverVersion & 0xffff);
    if (api && !api(driver, &version))
        fprintf(out, "api=%u.%u\n", (unsigned)version >> 16, (unsigned)version & 0xffff);
}

static int ask_driver(const void *question, FILE *out)
{
    const struct driver_question *q = question;
    setenv("ZE_ENABLE_ALT_DRIVERS", q->driver, 1);
    if (q->without_gpu) {
        setenv("NEOReadDebugKeys", "1", 1);
        setenv("ProductFamilyOverride", "skl", 1);
        setenv("SetCommandStreamReceiver", "1", 1);
    }
    void *driver_file = dlopen(q->driver, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map;
    char path[PATH_MAX];
    if (!driver_file) {
        fprintf(out, "error=%s\n", dlerror());
        return 3;
    }
    if (!dlinfo(driver_file, RTLD_DI_LINKMAP, &map) && realpath(map->l_name, path))
        fprintf(out, "path=%s\n", path);
    void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_LOCAL);
    __typeof__(zeInit) *init =
        loader ? (__typeof__(zeInit) *)(uintptr_t)dlsym(loader, "zeInit") : NULL;
    __typeof__(zeDriverGet) *get =
        loader ? (__typeof__(zeDriverGet) *)(uintptr_t)dlsym(loader, "zeDriverGet") : NULL;
    fflush(out);
    if (!init || !get) {
        fprintf(out, "error=the loader is missing\n");
        return 1;
    }
    ze_result_t result = init(0);
    fprintf(out, "init=0x%x\n", (unsigned)result);
    fflush(out);
    ze_driver_handle_t driver;
    uint32_t one = 1;
    if (result || get(&one, &driver) || !one)
        return 2;
    tell_driver(loader, out, driver);
    fflush(out);
    return ask_devices(loader, out, driver);
}

/* Ask one driver; true when it has a device. */
static bool add_driver(struct doctor_report *r, const char *name, const struct driver_question *q,
                       enum doctor_status if_not, const char *advice)
{
    struct doctor_answer answer;
    char path[PATH_MAX], version[64], api[64], devices[VALUE_CHARS], text[VALUE_CHARS];
    doctor_ask(ask_driver, q, r->timeout_ms, &answer);
    doctor_value(&answer, "path", path, sizeof(path));
    doctor_value(&answer, "version", version, sizeof(version));
    doctor_value(&answer, "api", api, sizeof(api));
    doctor_value(&answer, "devices", devices, sizeof(devices));
    if (answer.asked && !answer.timed_out && !answer.status) {
        doctor_add(r, "drivers", name, DOCTOR_OK, path, NULL, "%s, API %s: %s", version, api,
                   devices);
        return true;
    }
    bool broken = answer.timed_out || answer.status > 128;
    if (broken || !doctor_value(&answer, "error", text, sizeof(text))) {
        char init[64];
        if (!broken && doctor_value(&answer, "init", init, sizeof(init)) && strcmp(init, "0x0"))
            snprintf(text, sizeof(text), "zeInit gives %s", init);
        else if (!broken && version[0])
            snprintf(text, sizeof(text), "%s, API %s: no device", version, api);
        else
            doctor_describe_end(&answer, text, sizeof(text));
    }
    doctor_add(r, "drivers", name, broken ? DOCTOR_FAIL : if_not, path, advice, "%s", text);
    return false;
}

static void add_listed_drivers(struct doctor_report *r, struct findings *f, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    for (char *name; copy && (name = strsep(&rest, ","));) {
        const struct driver_question q = {.driver = name};
        f->gpu |= add_driver(r, name, &q, DOCTOR_FAIL,
                             "listed in ZE_ENABLE_ALT_DRIVERS, which replaces the usual drivers");
    }
    free(copy);
}

static void add_drivers(struct doctor_report *r, struct findings *f)
{
    static const char *const known[] = {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1",
                                        "libze_intel_npu.so.1", "libze_intel_vpu.so.1"};
    const char *alternative = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (alternative)
        add_listed_drivers(r, f, alternative);
    for (size_t i = 0; !alternative && i < ZS_ARRAY_LEN(known); i++) {
        struct doctor_answer answer;
        const struct library_question there = {.file = known[i]};
        doctor_ask(ask_library, &there, r->timeout_ms, &answer);
        bool missing = answer.asked && answer.status == 1;
        if (i && missing)
            continue; /* only Intel's GPU driver is missed */
        const struct driver_question q = {.driver = known[i]};
        f->gpu |= add_driver(
            r, known[i], &q, DOCTOR_WARN,
            missing ? "install the driver: " APT("intel-opencl-icd") " (Debian 12), " APT(
                          "libze-intel-gpu1") " (later ones)"
                    : "the driver finds no GPU that it knows (see machine)");
    }
    const struct driver_question blind = {.driver = "libze_intel_gpu.so.1", .without_gpu = true};
    if (!f->gpu)
        f->intel_blind =
            add_driver(r, "Intel's driver without a GPU", &blind, DOCTOR_WARN,
                       "drivers of today want a GPU: zescope run --intel emulates one");
    char ours[PATH_MAX];
    if (zs_cli_find_library("libze_zescope.so.1", "ZESCOPE_DRIVER", "driver", ours) ||
        zs_cli_find_library("libze_zescope.so", "ZESCOPE_DRIVER", "driver", ours)) {
        const struct driver_question q = {.driver = ours};
        f->software_gpu = add_driver(r, "zescope's software GPU", &q, DOCTOR_FAIL,
                                     "this is a fault of zescope, or of its installation");
    } else {
        doctor_add(r, "drivers", "zescope's software GPU", DOCTOR_WARN, NULL,
                   "reinstall zescope, or name it with ZESCOPE_DRIVER",
                   "libze_zescope.so.1 is not beside the command");
    }
}

/* --- the compiler ---------------------------------------------------------------------------- */

static int ask_ocloc(const void *question, FILE *out)
{
    char query[] = "query", version[] = "OCL_DRIVER_VERSION";
    char *const words[] = {(char *)(uintptr_t)question, query, version, NULL};
    char line[256];
    int status = 1;
    pid_t pid;
    if (access(words[0], X_OK) || posix_spawn(&pid, words[0], NULL, NULL, words, environ))
        return 1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status) /* stdout goes nowhere; the answer is a file in the scratch folder */
        return 1;
    FILE *in = fopen("OCL_DRIVER_VERSION", "r");
    if (in && fgets(line, sizeof(line), in))
        fprintf(out, "version=%s\n", line);
    return 0;
}

static int ask_compiled(const void *question, FILE *out)
{
    void *driver = dlopen(question, RTLD_NOW | RTLD_LOCAL);
    zescope_pfnCheckCompiled_t check =
        driver ? (zescope_pfnCheckCompiled_t)(uintptr_t)dlsym(driver, ZESCOPE_CHECK_COMPILED_NAME)
               : NULL;
    char why[VALUE_CHARS] = "the driver does not say";
    int error = check ? check(why, sizeof(why)) : -ENOSYS;
    if (error)
        fprintf(out, "error=%s\n", why);
    return error ? 1 : 0;
}

/* Code of the host for kernels, by the software GPU. */
static void add_compiled(struct doctor_report *r, const char *driver)
{
    struct doctor_answer answer;
    char error[VALUE_CHARS] = "yes";
    doctor_ask(ask_compiled, driver, r->timeout_ms, &answer);
    bool good = answer.asked && !answer.timed_out && !answer.status;
    if (!good && !doctor_value(&answer, "error", error, sizeof(error)))
        doctor_describe_end(&answer, error, sizeof(error));
    doctor_add(r, "compiler", "kernels compiled for this machine", good ? DOCTOR_OK : DOCTOR_WARN,
               NULL,
               good ? NULL
                    : "kernels are interpreted, which is slower; needs " APT(
                          "libllvm14") " (libllvm19 in Debian 13, libllvm21 in 14)",
               "%s", error);
}

static void add_compiler(struct doctor_report *r, struct findings *f)
{
    static const struct library_question libocloc = {"libocloc.so", NULL, "oclocInvoke"};
    static const struct library_question igc[2] = {{"libigc.so.1", NULL, NULL},
                                                   {"libigc.so.2", NULL, NULL}};
    add_library(r, "compiler", "IGC (libigc)", &igc[zs_has_igc2(getenv("LD_LIBRARY_PATH"))],
                DOCTOR_WARN, "install it: " APT("libigc1"));
    if (zs_has_igc2(getenv("LD_LIBRARY_PATH")))
        add_library(r, "compiler", "IGC 1, for Gen9 to Gen11", &igc[0], DOCTOR_WARN,
                    "SPIR-V is compiled for Gen12LP and later only: " APT("libigc1"));
    doctor_add(r, "compiler", "default device", DOCTOR_OK, NULL, NULL, "%s", zs_default_device());
    add_library(r, "compiler", "libocloc", &libocloc, DOCTOR_WARN,
                "the software GPU cannot compile SPIR-V: " APT("intel-opencl-icd"));
    char path[PATH_MAX], version[VALUE_CHARS];
    struct doctor_answer answer;
    if (f->software_gpu &&
        zs_cli_find_library("libze_zescope.so.1", "ZESCOPE_DRIVER", "driver", path))
        add_compiled(r, path);
    if (zs_cli_find_program("ocloc", path)) {
        doctor_add(r, "compiler", "ocloc", DOCTOR_WARN, NULL,
                   "needed to compile kernels from the command line: " APT("intel-opencl-icd"),
                   "not in PATH");
        return;
    }
    doctor_ask(ask_ocloc, path, r->timeout_ms, &answer);
    f->ocloc = true;
    if (!doctor_value(&answer, "version", version, sizeof(version)))
        snprintf(version, sizeof(version), "n/a");
    doctor_add(r, "compiler", "ocloc", DOCTOR_OK, path, NULL, "%s", version);
}

/* --- machine and environment ----------------------------------------------------------------- */

static void add_dri(struct doctor_report *r)
{
    DIR *dir = opendir("/dev/dri");
    const struct dirent *entry;
    unsigned nodes = 0;
    while (dir && (entry = readdir(dir))) {
        char path[PATH_MAX];
        if (strncmp(entry->d_name, "renderD", 7) != 0)
            continue;
        nodes++;
        snprintf(path, sizeof(path), "/dev/dri/%.200s", entry->d_name);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0)
            doctor_add(r, "machine", entry->d_name, DOCTOR_OK, path, NULL, "can be opened");
        else
            doctor_add(
                r, "machine", entry->d_name, DOCTOR_WARN, path,
                errno == EACCES ? "join its group: usermod -aG render USER, then log in again" : "",
                "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
    if (!nodes)
        doctor_add(r, "machine", "GPU", DOCTOR_INFO, "/dev/dri",
                   "zescope run executes kernels on the software GPU; zescope record works on "
                   "Intel's driver without a GPU too",
                   "no render node: there is no GPU here, or its kernel driver is not loaded");
}

static void add_paranoid(struct doctor_report *r)
{
    static const char path[] = "/proc/sys/dev/i915/perf_stream_paranoid";
    FILE *in = fopen(path, "r");
    int value = 0;
    if (!in)
        return;
    if (fscanf(in, "%d", &value) == 1)
        doctor_add(r, "machine", "i915 metrics", value ? DOCTOR_WARN : DOCTOR_OK, path,
                   value ? "metrics need root, or: sysctl dev.i915.perf_stream_paranoid=0" : NULL,
                   value ? "for root only" : "for all users");
    fclose(in);
}

/* Variables that change what Level Zero does; `remark` says what is worth knowing. */
static const struct {
    const char *name;
    const char *remark;
} variables[] = {
    {"ZE_ENABLE_ALT_DRIVERS", "replaces the drivers that the loader knows"},
    {"ZE_ENABLE_NULL_DRIVER", "adds a driver that does nothing"},
    {"ZE_ENABLE_VALIDATION_LAYER", "checks every call"},
    {"ZE_ENABLE_TRACING_LAYER", "set by zescope record where it is needed"},
    {"ZE_ENABLE_LOADER_INTERCEPT", "wraps all handles"},
    {"ZE_AFFINITY_MASK", "hides devices"},
    {"ZE_FLAT_DEVICE_HIERARCHY", "tiles as devices or not"},
    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", ""},
    {"ZET_ENABLE_METRICS", "zeInit fails with it where there is no metrics library or GPU"},
    {"ZET_ENABLE_PROGRAM_DEBUGGING", ""},
    {"ZET_ENABLE_PROGRAM_INSTRUMENTATION", ""},
    {"ZET_ENABLE_API_TRACING_EXP", ""},
    {"ZES_ENABLE_SYSMAN", ""},
    {"NEOReadDebugKeys", "lets Intel's driver read further variables"},
    {"ProductFamilyOverride", "Intel's driver pretends to have this GPU"},
    {"SetCommandStreamReceiver", "1: work is written to .aub files instead of being run"},
    {"IGC_EnableZEBinary", "1: modules are zebin, not patch tokens"},
    {"ZESCOPE_IGC", "this IGC compiles SPIR-V for all devices"},
    {"IGC_ShaderDumpEnable", "the compiler dumps what it does"},
    {"LD_PRELOAD", "kept by zescope record"},
    {"LD_LIBRARY_PATH", ""},
    {"ZESCOPE_COLLECT", "another collector"},
    {"ZESCOPE_DRIVER", "another software GPU"},
};

static void add_environment(struct doctor_report *r)
{
    size_t set = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(variables); i++) {
        const char *value = getenv(variables[i].name);
        if (!value)
            continue;
        set++;
        doctor_add(r, "environment", variables[i].name, DOCTOR_INFO, NULL, variables[i].remark,
                   "%.400s", value);
    }
    if (!set)
        doctor_add(r, "environment", "variables", DOCTOR_INFO, NULL, NULL,
                   "none of those that change what Level Zero does is set");
}

/* --- what works ------------------------------------------------------------------------------ */

static void add_conclusion(struct doctor_report *r, const char *what, bool works,
                           enum doctor_status if_not, const char *how, const char *why_not)
{
    doctor_add(r, "what works here", what, works ? DOCTOR_OK : if_not, NULL, works ? NULL : why_not,
               "%s", works ? how : "no");
}

static void add_conclusions(struct doctor_report *r, const struct findings *f)
{
    bool tracing = f->loader && f->layer && f->collector;
    add_conclusion(r, "inspect, disasm, annotate", true, DOCTOR_FAIL, "yes", NULL);
    add_conclusion(r, "compile kernels with ocloc", f->ocloc, DOCTOR_WARN, "yes",
                   "ocloc is missing (see above)");
    add_conclusion(r, "record", tracing && (f->gpu || f->software_gpu || f->intel_blind),
                   DOCTOR_FAIL,
                   f->gpu ? "yes"
                          : "yes, on the software GPU or on Intel's driver without a GPU "
                            "(NEOReadDebugKeys=1 ProductFamilyOverride=skl "
                            "SetCommandStreamReceiver=1, in a scratch folder)",
                   tracing ? "no driver works (see above)"
                           : "the loader, its tracing layer or the collector is missing");
    add_conclusion(r, "run kernels on a GPU", f->gpu, DOCTOR_INFO, "yes",
                   "there is no GPU with a working driver");
    add_conclusion(r, "run kernels on the software GPU", f->software_gpu, DOCTOR_WARN, "yes",
                   "zescope's driver does not answer (see above)");
}

void doctor_examine(struct doctor_report *r)
{
    static const struct library_question loader = {"libze_loader.so.1", NULL, "zeInit"};
    static const struct library_question layer = {"libze_tracing_layer.so.1", NULL,
                                                  "zelGetTracerApiProcAddrTable"};
    struct findings f = {0};
    char path[PATH_MAX];
    f.loader =
        add_library(r, "level zero", "loader", &loader, DOCTOR_FAIL, "install it: " APT("libze1"));
    f.layer = add_library(r, "level zero", "tracing layer", &layer, DOCTOR_FAIL,
                          "zescope record needs it; it comes with the loader: " APT("libze1"));
    f.collector = zs_cli_find_library("libzescope_collect.so", "ZESCOPE_COLLECT", "collect", path);
    doctor_add(r, "level zero", "collector", f.collector ? DOCTOR_OK : DOCTOR_FAIL,
               f.collector ? path : NULL,
               f.collector ? NULL : "reinstall zescope, or name it with ZESCOPE_COLLECT", "%s",
               f.collector ? ZS_VERSION : "libzescope_collect.so is not beside the command");
    add_drivers(r, &f);
    add_compiler(r, &f);
    add_dri(r);
    add_paranoid(r);
    add_environment(r);
    add_conclusions(r, &f);
}
