/* SPDX-License-Identifier: MIT */
#include "compiler/igc.h"

#include "compiler/request.h"

#include "module/elf.h"
#include "module/patch.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* ---- Interfaces --------------------------------------------------------------------------------
 * Slots of tables of functions: cif/common/cif.h, cif/common/cif_main.h (0 to 11), and behind the
 * nine of every object and GetImpl() twice, those of ocl_igc_interface and cif/builtins.
 */

enum slot {
    RELEASE = 0,
    SUPPORTED_VERSIONS = 5,
    CREATE_INTERFACE = 8,
    FIND_SUPPORTED_VERSIONS = 11, /* of the main object */

    BUFFER_SET_CONST = 13,
    BUFFER_MEMORY = 15,
    BUFFER_SIZE = 17,

    DEVICE_SET_TIMER = 11,
    DEVICE_PLATFORM = 12,
    DEVICE_SYSTEM = 13,
    DEVICE_FEATURES = 14,
    DEVICE_TRANSLATION = 15,

    PLATFORM_SET_PRODUCT = 12,
    PLATFORM_SET_DISPLAY_CORE = 16,
    PLATFORM_SET_RENDER_CORE = 18,
    PLATFORM_SET_PCI_ID = 22,
    PLATFORM_SET_REVISION = 24,
    PLATFORM_SET_RENDER_BLOCK = 31, /* from version 2 on */

    SYSTEM_SET_MAX_EUS = 46,
    SYSTEM_SET_MAX_SLICES = 48,
    SYSTEM_SET_MAX_SUBSLICES = 50,

    FEATURES_SET_MID_THREAD_PREEMPT = 50,

    TRANSLATE = 11,

    OUTPUT_SUCCESSFUL = 11,
    OUTPUT_LOG = 14,
    OUTPUT_OUTPUT = 15,
    OUTPUT_DEBUG = 16,
};

enum interface { BUFFER, DEVICE, PLATFORM, SYSTEM, FEATURES, TRANSLATION, OUTPUT, INTERFACES };

/* The last version whose functions before it are known to stay where they are. */
static const struct {
    const char *name;
    uint64_t newest;
} interfaces[INTERFACES] = {
    [BUFFER] = {"CIF_BUFFER", 1},  [DEVICE] = {"IGC_OCL_DEVC", 6},
    [PLATFORM] = {"PLATFORM", 2},  [SYSTEM] = {"GT_SYS_INFO", 5},
    [FEATURES] = {"IGC_FE_WA", 4}, [TRANSLATION] = {"IGC_OCL_TRAC", 4},
    [OUTPUT] = {"OCL_TRA_OUT", 1},
};

/* A name as a number: letters of 5 bits, digits of 4; a code of its own changes from one kind to
 * the other, and fills what is left (cif/common/coder.h). */
static uint64_t encode(const char *name)
{
    static const char *const letters[] = {"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_:@.", "0123456789-_:#."};
    uint64_t value = 0;
    for (unsigned at = 0, kind = 0, bits = 5; at + bits <= 64; bits = 5 - kind) {
        const char *found = *name ? strchr(letters[kind], *name) : NULL;
        uint64_t code = found ? (uint64_t)(found - letters[kind]) : strlen(letters[kind]);
        value |= code << at;
        at += bits;
        if (found)
            name++;
        else
            kind = !kind;
    }
    return value;
}

static void *function(void *object, enum slot slot)
{
    return (*(void ***)object)[slot];
}

#define CALL(object, slot, type, ...)                                                              \
    ((type)(uintptr_t)function((object), (slot)))((object), ##__VA_ARGS__)

typedef void *(*make_fn)(void *, uint64_t, uint64_t);
typedef void *(*get_fn)(void *, uint64_t);
typedef void *(*make_translation_fn)(void *, uint64_t, uint64_t, uint64_t);
typedef void *(*translate_fn)(void *, uint64_t, void *, void *, void *, void *, uint32_t);
typedef bool (*versions_fn)(const void *, uint64_t, uint64_t *, uint64_t *);
typedef bool (*find_versions_fn)(const void *, uint64_t, uint64_t, uint64_t *, uint64_t *);
typedef void (*set_bytes_fn)(void *, const void *, size_t);
typedef const void *(*bytes_fn)(const void *);
typedef size_t (*size_fn)(const void *);
typedef bool (*bool_fn)(const void *);
typedef void (*set_u64_fn)(void *, uint64_t);
typedef void (*set_u32_fn)(void *, uint32_t);
typedef void (*set_u16_fn)(void *, unsigned short);
typedef void (*set_bool_fn)(void *, bool);
typedef void (*set_float_fn)(void *, float);
typedef void (*release_fn)(void *);

static void release(void *object)
{
    if (object)
        CALL(object, RELEASE, release_fn);
}

/* ---- Loading -----------------------------------------------------------------------------------
 */

static bool agree(struct zs_igc *igc, struct zs_buf *ret_why)
{
    igc->versions[OUTPUT] =
        interfaces[OUTPUT].newest; /* none is said of it; another gives no output */
    for (unsigned i = 0; i < OUTPUT; i++) {
        uint64_t id = encode(interfaces[i].name), first = 0, last = 0;
        bool found = i == BUFFER || i == DEVICE
                         ? CALL(igc->main, SUPPORTED_VERSIONS, versions_fn, id, &first, &last)
                         : CALL(igc->main, FIND_SUPPORTED_VERSIONS, find_versions_fn,
                                encode(interfaces[DEVICE].name), id, &first, &last);
        if (!found || first > interfaces[i].newest) {
            zs_buf_printf(ret_why, "%s has no version of its interface %s that zescope knows\n",
                          igc->path, interfaces[i].name);
            return false;
        }
        igc->versions[i] = ZS_MIN(last, interfaces[i].newest);
    }
    return true;
}

bool zs_igc_load(struct zs_igc *igc, const char *library, struct zs_buf *ret_why)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    void *(*create)(void) = NULL;
    struct link_map *map = NULL;
    if (handle)
        *(void **)&create = dlsym(handle, "CIFCreateMain");
    if (!create) {
        const char *reason = dlerror();
        zs_buf_printf(ret_why, "IGC cannot be loaded (%s)\n", reason ? reason : library);
        return false;
    }
    *igc = (struct zs_igc){.main = create()};
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
        igc->path = realpath(map->l_name, NULL);
    if (!igc->path)
        igc->path = strdup(library);
    if (igc->main && igc->path && agree(igc, ret_why))
        return true;
    free(igc->path);
    *igc = (struct zs_igc){0};
    return false;
}

/* ---- A device ----------------------------------------------------------------------------------
 */

struct device {
    const char *name;
    uint64_t product, core;
    unsigned short pci_id, revision;
    uint32_t slices, subslices, eus;
    const char *options;
};

#define ZS_IGC_DEVICE(...) {__VA_ARGS__},
static const struct device devices[] = {
#include "compiler/igc.def"
};

static const struct device *find(const char *name)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices); i++) {
        if (strcmp(devices[i].name, name) == 0)
            return &devices[i];
    }
    return NULL;
}

bool zs_igc_knows(const char *device)
{
    return find(device) != NULL;
}

/* As registers and zebins have it: 10 bits, 8 and, for the revision, 6. */
static uint32_t ip_version(const struct device *device)
{
    static const struct {
        const char *name;
        uint32_t major, minor;
    } all[] = {
#define ZS_DEVICE(name, platform, core, product, major, minor, ...) {name, major, minor},
#include "base/devices.def"
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(all); i++) {
        if (strcmp(all[i].name, device->name) == 0)
            return all[i].major << 22 | all[i].minor << 14 | device->revision;
    }
    return 0;
}

/* NULL: no memory. */
static void *make_context(const struct zs_igc *igc, const struct device *device)
{
    void *context = CALL(igc->main, CREATE_INTERFACE, make_fn, encode(interfaces[DEVICE].name),
                         igc->versions[DEVICE]);
    if (!context)
        return NULL;
    CALL(context, DEVICE_SET_TIMER, set_float_fn, 83.333f);
    void *platform = CALL(context, DEVICE_PLATFORM, get_fn, igc->versions[PLATFORM]);
    void *system = CALL(context, DEVICE_SYSTEM, get_fn, igc->versions[SYSTEM]);
    void *features = CALL(context, DEVICE_FEATURES, get_fn, igc->versions[FEATURES]);
    if (!platform || !system || !features) {
        release(context);
        return NULL;
    }
    CALL(platform, PLATFORM_SET_PRODUCT, set_u64_fn, device->product);
    CALL(platform, PLATFORM_SET_DISPLAY_CORE, set_u64_fn, device->core);
    CALL(platform, PLATFORM_SET_RENDER_CORE, set_u64_fn, device->core);
    CALL(platform, PLATFORM_SET_PCI_ID, set_u16_fn, device->pci_id);
    CALL(platform, PLATFORM_SET_REVISION, set_u16_fn, device->revision);
    if (igc->versions[PLATFORM] >= 2)
        CALL(platform, PLATFORM_SET_RENDER_BLOCK, set_u32_fn, ip_version(device));
    CALL(system, SYSTEM_SET_MAX_EUS, set_u32_fn, device->eus);
    CALL(system, SYSTEM_SET_MAX_SLICES, set_u32_fn, device->slices);
    CALL(system, SYSTEM_SET_MAX_SUBSLICES, set_u32_fn, device->subslices);
    CALL(features, FEATURES_SET_MID_THREAD_PREEMPT, set_bool_fn, true);
    return context;
}

/* ---- Translating -------------------------------------------------------------------------------
 */

/* The bytes stay the caller's. */
static void *make_buffer(const struct zs_igc *igc, struct zs_span bytes)
{
    void *buffer = CALL(igc->main, CREATE_INTERFACE, make_fn, encode(interfaces[BUFFER].name),
                        igc->versions[BUFFER]);
    if (buffer && bytes.size_B)
        CALL(buffer, BUFFER_SET_CONST, set_bytes_fn, bytes.data, bytes.size_B);
    return buffer;
}

static void put_bytes(const struct zs_igc *igc, void *output, enum slot which, struct zs_buf *ret)
{
    void *buffer = CALL(output, which, get_fn, igc->versions[BUFFER]);
    size_t size_B = buffer ? CALL(buffer, BUFFER_SIZE, size_fn) : 0;
    if (size_B)
        zs_buf_append(ret, CALL(buffer, BUFFER_MEMORY, bytes_fn), size_B);
}

struct translation {
    const char *from, *to;
    struct zs_span input, options, internal_options;
    struct zs_buf *output, *debug, *log; /* debug: or NULL */
};

static bool translate(const struct zs_igc *igc, void *context, const struct translation *t)
{
    void *translation = CALL(context, DEVICE_TRANSLATION, make_translation_fn,
                             igc->versions[TRANSLATION], encode(t->from), encode(t->to));
    void *buffers[] = {make_buffer(igc, t->input), make_buffer(igc, t->options),
                       make_buffer(igc, t->internal_options)};
    void *output = NULL;
    if (translation && buffers[0] && buffers[1] && buffers[2])
        output = CALL(translation, TRANSLATE, translate_fn, igc->versions[OUTPUT], buffers[0],
                      buffers[1], buffers[2], NULL, 0);
    bool done = output && CALL(output, OUTPUT_SUCCESSFUL, bool_fn);
    if (output) {
        put_bytes(igc, output, OUTPUT_LOG, t->log);
        while (t->log->size_B && t->log->data[t->log->size_B - 1] == 0)
            t->log->size_B--;
        put_bytes(igc, output, OUTPUT_OUTPUT, t->output);
        if (t->debug)
            put_bytes(igc, output, OUTPUT_DEBUG, t->debug);
    }
    release(output);
    for (size_t i = 0; i < ZS_ARRAY_LEN(buffers); i++)
        release(buffers[i]);
    release(translation);
    return done && t->output->size_B && !t->output->error;
}

/* An ELF file of units, without names and gaps: IGC 1 counts its bytes. */
static void put_objects(const struct zs_compiler_request *request, struct zs_buf *ret)
{
    const uint64_t count = request->unit_count, head_B = 64, section_B = 64;
    const uint64_t header[8] = {UINT64_C(0x00010102464c457f),
                                0,
                                ZS_ELF_OPENCL_OBJECTS | UINT64_C(1) << 32,
                                0,
                                0,
                                head_B,
                                head_B << 32 | UINT64_C(56) << 48,
                                section_B << 16 | (count + 1) << 32};
    uint64_t offset_B = head_B + section_B * (count + 1);
    for (size_t i = 0; i < ZS_ARRAY_LEN(header); i++)
        zs_put_u64(ret, header[i]);
    zs_buf_pad(ret, 0, section_B);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t section[8] = {[0] = (uint64_t)ZS_SHT_SPIRV << 32,
                                     [3] = offset_B,
                                     [4] = request->units[i].size_B,
                                     [6] = 1};
        for (size_t k = 0; k < ZS_ARRAY_LEN(section); k++)
            zs_put_u64(ret, section[k]);
        offset_B += request->units[i].size_B;
    }
    for (uint32_t i = 0; i < count; i++)
        zs_buf_append(ret, request->units[i].data, request->units[i].size_B);
}

/* Several units become one of bitcode. */
static bool link_units(const struct zs_igc *igc, void *context,
                       const struct zs_compiler_request *request, struct zs_buf *ret_llvm,
                       struct zs_buf *ret_log)
{
    struct zs_buf objects = {0};
    put_objects(request, &objects);
    const struct translation t = {.from = "ELF",
                                  .to = "LLVM_BC",
                                  .input = zs_buf_span(&objects),
                                  .output = ret_llvm,
                                  .log = ret_log};
    bool done = !objects.error && translate(igc, context, &t);
    zs_buf_fini(&objects);
    return done;
}

/* Patch tokens go into an ELF file, with what they were made of. */
static bool wrap(const struct translation *t, struct zs_buf *ret_binary)
{
    struct zs_span made = zs_buf_span(t->output), debug = zs_buf_span(t->debug);
    bool is_spirv = strcmp(t->from, "SPIRV") == 0;
    const struct zs_neo_section all[] = {
        {.name = "BuildOptions", .type = ZS_SHT_BUILD_OPTIONS, .bytes = t->options},
        {.name = is_spirv ? "SPIRV Object" : "Intel(R) OpenCL LLVM Object",
         .type = is_spirv ? ZS_SHT_SPIRV : ZS_SHT_LLVM_BINARY,
         .bytes = t->input},
        {.name = "Intel(R) OpenCL Device Debug", .type = ZS_SHT_DEVICE_DEBUG, .bytes = debug},
        {.name = "Intel(R) OpenCL Device Binary", .type = ZS_SHT_DEVICE_BINARY, .bytes = made},
    };
    struct zs_neo_section sections[ZS_ARRAY_LEN(all)];
    uint32_t count = 0;
    if (made.size_B >= 4 && memcmp(made.data, "\177ELF", 4) == 0) {
        zs_buf_append(ret_binary, made.data, made.size_B);
        return !ret_binary->error;
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(all); i++) {
        if (all[i].bytes.size_B)
            sections[count++] = all[i];
    }
    return zs_neo_elf_write(ZS_ELF_OPENCL_EXECUTABLE, sections, count, ret_binary) == 0;
}

/* IGC reads options up to their NUL. */
static struct zs_span span_of(const char *text)
{
    return zs_span_make(text, strlen(text));
}

enum zs_compiler_status zs_igc_build(const struct zs_igc *igc,
                                     const struct zs_compiler_request *request,
                                     struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    const struct device *device = find(request->device);
    void *context = device ? make_context(igc, device) : NULL;
    enum zs_compiler_status status = ZS_COMPILER_BUILD_FAILED;
    struct zs_buf internal = {0}, llvm = {0}, output = {0}, debug = {0};
    bool linked = request->unit_count > 1;
    if (!context) {
        zs_buf_printf(ret_log, "%s cannot be used for the device %s\n", igc->path, request->device);
    } else if (linked && !link_units(igc, context, request, &llvm, ret_log)) {
        status = ZS_COMPILER_LINK_FAILED;
    } else {
        zs_buf_printf(
            &internal,
            "%s%s-ocl-version=300 -D__IMAGE_SUPPORT__=1%s -cl-intel-has-buffer-offset-arg",
            request->internal_options, request->internal_options[0] ? " " : "", device->options);
        const struct translation t = {.from = linked ? "LLVM_BC" : "SPIRV",
                                      .to = "OCL_GEN_BIN",
                                      .input = linked ? zs_buf_span(&llvm) : request->units[0],
                                      .options = span_of(request->options),
                                      .internal_options = span_of(zs_buf_cstr(&internal)),
                                      .output = &output,
                                      .debug = &debug,
                                      .log = ret_log};
        if (translate(igc, context, &t) && wrap(&t, ret_binary))
            status = ZS_COMPILER_OK;
    }
    release(context);
    zs_buf_fini(&internal);
    zs_buf_fini(&llvm);
    zs_buf_fini(&output);
    zs_buf_fini(&debug);
    return status;
}
