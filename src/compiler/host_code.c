/* SPDX-License-Identifier: MIT */
/*
 * LLVM through its C interface, of the library that Intel's compiler brings along: a module's text,
 * passes that make values of variables and little else, an object, and of that its code and
 * constants one behind the other. References between them are worked out here, so that the result
 * can be mapped anywhere; one to anything else is an error.
 */
#include "compiler/host_code.h"
#include "compiler/host_lanes.h"

#include "eu/lower/show.h"
#include "eu/tier/tier.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef zs_host_ref ref;

/* Later ones may read text otherwise. Until 14 pointers have types. */
enum { LLVM_LAST = 23, LLVM_TYPED_LAST = 14 };

/* As LLVM's headers declare them. */
#define FUNCTIONS(X)                                                                               \
    X(void, LLVMInitializeX86TargetInfo, (void))                                                   \
    X(void, LLVMInitializeX86Target, (void))                                                       \
    X(void, LLVMInitializeX86TargetMC, (void))                                                     \
    X(void, LLVMInitializeX86AsmPrinter, (void))                                                   \
    X(ref, LLVMContextCreate, (void))                                                              \
    X(void, LLVMContextDispose, (ref))                                                             \
    X(ref, LLVMCreateMemoryBufferWithMemoryRangeCopy, (const char *, size_t, const char *))        \
    X(int, LLVMParseIRInContext, (ref, ref, ref *, char **))                                       \
    X(void, LLVMDisposeModule, (ref))                                                              \
    X(void, LLVMDisposeMessage, (char *))                                                          \
    X(int, LLVMGetTargetFromTriple, (const char *, ref *, char **))                                \
    X(ref, LLVMCreateTargetMachine,                                                                \
      (ref, const char *, const char *, const char *, int, int, int))                              \
    X(char *, LLVMGetHostCPUName, (void))                                                          \
    X(char *, LLVMGetHostCPUFeatures, (void))                                                      \
    X(void, LLVMDisposeTargetMachine, (ref))                                                       \
    X(ref, LLVMCreateTargetDataLayout, (ref))                                                      \
    X(void, LLVMSetModuleDataLayout, (ref, ref))                                                   \
    X(void, LLVMDisposeTargetData, (ref))                                                          \
    X(ref, LLVMCreatePassBuilderOptions, (void))                                                   \
    X(void, LLVMDisposePassBuilderOptions, (ref))                                                  \
    X(ref, LLVMRunPasses, (ref, const char *, ref, ref))                                           \
    X(char *, LLVMGetErrorMessage, (ref))                                                          \
    X(int, LLVMTargetMachineEmitToMemoryBuffer, (ref, ref, int, char **, ref *))                   \
    X(const char *, LLVMGetBufferStart, (ref))                                                     \
    X(size_t, LLVMGetBufferSize, (ref))                                                            \
    X(void, LLVMDisposeMemoryBuffer, (ref))                                                        \
    X(void, LLVMParseCommandLineOptions, (int, const char *const *, const char *))

struct zs_host_llvm {
#define X(type, name, args) type(*name) args;
    FUNCTIONS(X)
#undef X
    struct zs_host_lanes lanes;
    unsigned version;
};

static struct {
    pthread_once_t once;
    struct zs_host_llvm llvm;
    bool loaded;
    char why[200];
} the = {.once = PTHREAD_ONCE_INIT};

/* The first that is here; LLVM's text by a clang is nothing for older ones. */
static void *open_library(unsigned *ret_version)
{
    char name[32];

    for (*ret_version = zs_eu_rows_llvm; *ret_version <= LLVM_LAST; ++*ret_version) {
        snprintf(name, sizeof(name), *ret_version < 18 ? "libLLVM-%u.so.1" : "libLLVM.so.%u.1",
                 *ret_version);
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    snprintf(the.why, sizeof(the.why), "libLLVM of version %u to %d is not here", zs_eu_rows_llvm,
             LLVM_LAST);
    return NULL;
}

static bool find(void *library, const char *name, void *ret)
{
    void *found = dlsym(library, name);

    if (!found)
        snprintf(the.why, sizeof(the.why), "libLLVM %u has no %s", the.llvm.version, name);
    memcpy(ret, &found, sizeof(found));
    return found;
}

static void load(void)
{
    void *library = open_library(&the.llvm.version);
    bool all = library != NULL;

#define X(type, name, args) all = all && find(library, #name, &the.llvm.name);
    FUNCTIONS(X)
#undef X
#define X(type, name, args) all = all && find(library, #name, &the.llvm.lanes.name);
    ZS_HOST_LANES_FUNCTIONS(X)
#undef X
    if (!all)
        return;
    /* it takes seconds where many masks are in registers */
    static const char *const arguments[] = {"zescope", "-disable-x86-domain-reassignment"};
    the.llvm.LLVMParseCommandLineOptions(ZS_ARRAY_LEN(arguments), arguments, NULL);
    the.llvm.LLVMInitializeX86TargetInfo();
    the.llvm.LLVMInitializeX86Target();
    the.llvm.LLVMInitializeX86TargetMC();
    the.llvm.LLVMInitializeX86AsmPrinter();
    the.loaded = true;
}

const struct zs_host_llvm *zs_host_llvm_load(struct zs_buf *ret_why)
{
    pthread_once(&the.once, load);
    if (!the.loaded)
        zs_buf_printf(ret_why, "%s\n", the.why);
    return the.loaded ? &the.llvm : NULL;
}

/* ---- objects ---- */

struct object {
    const uint8_t *bytes;
    size_t size_B;
    Elf64_Ehdr head;
    uint64_t place_B[64]; /* of sections in the result; UINT64_MAX: not in it */
    struct zs_buf *out, *why;
};

static int bad(const struct object *o, const char *why)
{
    zs_buf_printf(o->why, "object: %s\n", why);
    return -EBADMSG;
}

static bool section(const struct object *o, unsigned index, Elf64_Shdr *ret)
{
    uint64_t at = o->head.e_shoff + (uint64_t)index * sizeof(*ret);

    if (index >= o->head.e_shnum || at + sizeof(*ret) > o->size_B)
        return false;
    memcpy(ret, o->bytes + at, sizeof(*ret));
    return ret->sh_type == SHT_NOBITS ||
           (ret->sh_offset <= o->size_B && ret->sh_size <= o->size_B - ret->sh_offset);
}

static bool is_unwinding(const struct object *o, const Elf64_Shdr *s)
{
    Elf64_Shdr names;

    return section(o, o->head.e_shstrndx, &names) && s->sh_name + 10 <= names.sh_size &&
           memcmp(o->bytes + names.sh_offset + s->sh_name, ".eh_frame", 10) == 0;
}

static int place_sections(struct object *o)
{
    Elf64_Shdr s;

    if (o->head.e_shnum > ZS_ARRAY_LEN(o->place_B))
        return bad(o, "too many sections");
    for (unsigned i = 0; i < o->head.e_shnum; i++) {
        o->place_B[i] = UINT64_MAX;
        if (!section(o, i, &s))
            return bad(o, "a section outside");
        if (!(s.sh_flags & SHF_ALLOC) || is_unwinding(o, &s) || s.sh_size == 0)
            continue;
        if (s.sh_type != SHT_PROGBITS || s.sh_flags & SHF_WRITE)
            return bad(o, "data that change");
        size_t align_B = s.sh_addralign ? (size_t)s.sh_addralign : 1;
        zs_buf_pad(o->out, 0xcc, zs_align_up(o->out->size_B, align_B) - o->out->size_B);
        o->place_B[i] = o->out->size_B;
        zs_buf_append(o->out, o->bytes + s.sh_offset, (size_t)s.sh_size);
    }
    return o->out->error ? -ENOMEM : 0;
}

static bool symbol(const struct object *o, const Elf64_Shdr *table, uint64_t index, Elf64_Sym *ret)
{
    if ((index + 1) * sizeof(*ret) > table->sh_size)
        return false;
    memcpy(ret, o->bytes + table->sh_offset + index * sizeof(*ret), sizeof(*ret));
    return ret->st_shndx < o->head.e_shnum && o->place_B[ret->st_shndx] != UINT64_MAX;
}

/* One between sections, by distance. */
static int relocate(struct object *o, const Elf64_Shdr *s, const Elf64_Shdr *symbols, uint64_t i)
{
    Elf64_Rela r;
    Elf64_Sym to;

    memcpy(&r, o->bytes + s->sh_offset + i * sizeof(r), sizeof(r));
    uint32_t type = (uint32_t)ELF64_R_TYPE(r.r_info);
    uint64_t at = o->place_B[s->sh_info] + r.r_offset;
    if ((type != R_X86_64_PC32 && type != R_X86_64_PLT32) ||
        !symbol(o, symbols, ELF64_R_SYM(r.r_info), &to) || at + 4 > o->out->size_B)
        return bad(o, "refers to what is not in it");
    uint32_t value = (uint32_t)(o->place_B[to.st_shndx] + to.st_value + (uint64_t)r.r_addend - at);
    memcpy(o->out->data + at, &value, sizeof(value));
    return 0;
}

static int find_entries(const struct object *o, const Elf64_Shdr *symbols, uint32_t count,
                        uint32_t *ret_entries_B)
{
    Elf64_Shdr names;
    Elf64_Sym s;
    uint32_t found = 0;

    if (!section(o, symbols->sh_link, &names))
        return bad(o, "symbols without names");
    for (uint64_t i = 0; i < symbols->sh_size / sizeof(s); i++) {
        if (!symbol(o, symbols, i, &s) || s.st_name >= names.sh_size)
            continue;
        const char *name = (const char *)o->bytes + names.sh_offset + s.st_name;
        if (name[0] != 'e' || name[1] < '0' || name[1] > '9')
            continue;
        unsigned long number = strtoul(name + 1, NULL, 10);
        if (number < count) {
            ret_entries_B[number] = (uint32_t)(o->place_B[s.st_shndx] + s.st_value);
            found++;
        }
    }
    return found == count ? 0 : bad(o, "an entry is missing");
}

static int flatten(struct object *o, uint32_t entry_count, uint32_t *ret_entries_B)
{
    Elf64_Shdr s, symbols = {0};

    if (o->size_B < sizeof(o->head))
        return bad(o, "cut off");
    memcpy(&o->head, o->bytes, sizeof(o->head));
    int error = place_sections(o);
    for (unsigned i = 0; i < o->head.e_shnum && !error; i++) {
        if (section(o, i, &s) && s.sh_type == SHT_SYMTAB)
            symbols = s;
    }
    for (unsigned i = 0; i < o->head.e_shnum && !error; i++) {
        if (!section(o, i, &s) || s.sh_type != SHT_RELA || s.sh_info >= o->head.e_shnum ||
            o->place_B[s.sh_info] == UINT64_MAX)
            continue;
        for (uint64_t r = 0; r < s.sh_size / sizeof(Elf64_Rela) && !error; r++)
            error = relocate(o, &s, &symbols, r);
    }
    return error ? error : find_entries(o, &symbols, entry_count, ret_entries_B);
}

/* ---- LLVM ---- */

static int failed(struct zs_buf *why, const char *what, const char *text)
{
    zs_buf_printf(why, "%s: %s\n", what, text ? text : "?");
    return -EBADMSG;
}

/* Variables become values, what seldom gone ways alone want is computed there, what is the same is
 * computed once. (`sink` moves gathers over stores: they are functions until then. What such ways
 * make again is the same as what nobody wants any more: `adce` comes before `early-cse`.) */
static const char passes[] = "function(sroa,adce,early-cse,simplifycfg,sink),always-inline,"
                             "function(sroa,early-cse,instcombine%s,loop-mssa(licm),simplifycfg)";
enum { LLVM_VERIFIES_COMBINING = 18 }; /* which is for its own tests */

/* Where the type begins with which `out` ends: "<8 x i32>", "ptr", "i32 (ptr, [4 x i8])". */
static size_t type_begin(const struct zs_buf *out)
{
    size_t at = out->size_B;
    unsigned open = 0;

    while (at > 0) {
        char c = (char)out->data[at - 1];
        open += c == ')' || c == '>' || c == ']';
        if (!open && strchr(" (<[,\n", c))
            break;
        open -= c == '(' || c == '<' || c == '[';
        /* a function's type: what it returns is in front of a blank */
        at -= !open && c == '(' && at > 1 ? 2 : 1;
    }
    return at;
}

/* The type and a "*" behind it become "ptr". */
static void untype_pointers(const struct zs_buf *text, struct zs_buf *ret)
{
    for (size_t i = 0; i < text->size_B; i++) {
        size_t next = i;
        while (next < text->size_B && text->data[next] != '*')
            next++;
        zs_buf_append(ret, text->data + i, next - i);
        if (next < text->size_B && !ret->error) {
            ret->size_B = type_begin(ret);
            zs_buf_puts(ret, "ptr");
        }
        i = next;
    }
}

enum file { ASSEMBLY_FILE, OBJECT_FILE }; /* as LLVM numbers them */

static int to_file(const struct zs_host_llvm *l, ref context, struct zs_buf *text, enum file what,
                   ref *ret, struct zs_buf *why)
{
    ref module = NULL, target = NULL, error;
    char *message = NULL;
    enum { LEVEL_LESS = 1, RELOC_PIC = 2, MODEL_SMALL = 3 };

    struct zs_buf untyped = {0};
    if (l->version > LLVM_TYPED_LAST) {
        untype_pointers(text, &untyped);
        text = &untyped;
    }
    ref source = text->error ? NULL
                             : l->LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                   (const char *)text->data, text->size_B, "kernel");
    zs_buf_fini(&untyped);
    if (!source)
        return -ENOMEM;
    if (l->LLVMParseIRInContext(context, source, &module, &message))
        return failed(why, "module", message);
    if (l->LLVMGetTargetFromTriple("x86_64-unknown-linux-gnu", &target, &message)) {
        l->LLVMDisposeModule(module);
        return failed(why, "target", message);
    }
    char *cpu = l->LLVMGetHostCPUName(), *features = l->LLVMGetHostCPUFeatures();
    ref machine = l->LLVMCreateTargetMachine(target, "x86_64-unknown-linux-gnu", cpu, features,
                                             LEVEL_LESS, RELOC_PIC, MODEL_SMALL);
    l->LLVMDisposeMessage(cpu);
    l->LLVMDisposeMessage(features);
    ref layout = l->LLVMCreateTargetDataLayout(machine);
    l->LLVMSetModuleDataLayout(module, layout);
    ref options = l->LLVMCreatePassBuilderOptions();
    char list[sizeof(passes) + 32];
    snprintf(list, sizeof(list), passes,
             l->version >= LLVM_VERIFIES_COMBINING ? "<no-verify-fixpoint>" : "");
    error = l->LLVMRunPasses(module, list, machine, options);
    int result = error ? failed(why, "passes", l->LLVMGetErrorMessage(error)) : 0;
    if (!result && !zs_eu_host_usable(ZS_EU_HOST_AVX512))
        zs_host_lanes_spread(&l->lanes, context, module);
    if (!result &&
        l->LLVMTargetMachineEmitToMemoryBuffer(machine, module, (int)what, &message, ret))
        result = failed(why, "code", message);
    l->LLVMDisposePassBuilderOptions(options);
    l->LLVMDisposeTargetData(layout);
    l->LLVMDisposeTargetMachine(machine);
    l->LLVMDisposeModule(module);
    return result;
}

int zs_host_code(const struct zs_host_llvm *l, struct zs_buf *text, uint32_t entry_count,
                 uint32_t *ret_entries_B, struct zs_buf *ret_code, struct zs_buf *ret_why)
{
    ref context = l->LLVMContextCreate(), bytes = NULL;
    int error = to_file(l, context, text, OBJECT_FILE, &bytes, ret_why);

    if (!error) {
        struct object o = {.bytes = (const uint8_t *)l->LLVMGetBufferStart(bytes),
                           .size_B = l->LLVMGetBufferSize(bytes),
                           .out = ret_code,
                           .why = ret_why};
        error = flatten(&o, entry_count, ret_entries_B);
        l->LLVMDisposeMemoryBuffer(bytes);
    }
    l->LLVMContextDispose(context);
    return error;
}

static int make_blob(const struct zs_host_llvm *l, const struct zs_eu_program *program,
                     struct zs_eu_tier_module *module, struct zs_buf *ret_blob,
                     struct zs_buf *ret_why)
{
    uint32_t *places_B = calloc(ZS_EU_TIER_ENTRIES_MAX, sizeof(*places_B)); /* of functions */
    struct zs_buf code = {0};
    int error =
        places_B ? zs_host_code(l, &module->text, module->function_count, places_B, &code, ret_why)
                 : -ENOMEM;

    for (uint32_t i = 0; !error && i < module->entry_count; i++)
        module->entries[i].code_B = places_B[module->entries[i].code_B];
    if (!error)
        zs_eu_tier_blob_put(program, module, zs_buf_span(&code), ret_blob);
    zs_buf_fini(&code);
    free(places_B);
    return error;
}

static int make_text(const struct zs_host_llvm *l, struct zs_eu_tier_module *module, bool is_host,
                     struct zs_buf *ret_text, struct zs_buf *ret_why)
{
    if (!is_host) {
        zs_buf_append(ret_text, module->text.data, module->text.size_B);
        return ret_text->error;
    }
    ref context = l->LLVMContextCreate(), bytes = NULL;
    int error = to_file(l, context, &module->text, ASSEMBLY_FILE, &bytes, ret_why);
    if (!error) {
        zs_buf_append(ret_text, l->LLVMGetBufferStart(bytes), l->LLVMGetBufferSize(bytes));
        l->LLVMDisposeMemoryBuffer(bytes);
    }
    l->LLVMContextDispose(context);
    return error ? error : ret_text->error;
}

static int build_program(const struct zs_host_llvm *l, const struct zs_eu_program *program,
                         const struct zs_eu_tier_options *options, enum zs_host_form form,
                         struct zs_buf *ret, struct zs_buf *ret_why)
{
    struct zs_eu_tier_module *module = calloc(1, sizeof(*module));
    int error = module ? zs_eu_tier_emit(program, options, module) : -ENOMEM;

    struct zs_diag diag;
    zs_diag_clear(&diag);
    if (!error && !zs_eu_program_verify(program, &diag)) {
        zs_buf_printf(ret_why, "%s\n", diag.text);
        error = -EBADMSG;
    }
    if (error == -ENOTSUP)
        zs_buf_puts(ret_why, "no version of it has all lanes on\n");
    if (error == -E2BIG) {
        zs_buf_puts(ret_why, "it is too long for one function, as are its loops\n");
        error = -ENOTSUP;
    }
    if (!error && form == ZS_HOST_BLOB)
        error = make_blob(l, program, module, ret, ret_why);
    else if (!error)
        error = make_text(l, module, form == ZS_HOST_ASSEMBLY, ret, ret_why);
    if (module)
        zs_buf_fini(&module->text);
    free(module);
    return error;
}

int zs_host_build(struct zs_span request, struct zs_span seen, enum zs_host_form form,
                  struct zs_buf *ret_blob, struct zs_buf *ret_why)
{
    const struct zs_host_llvm *l = zs_host_llvm_load(ret_why);
    struct zs_eu_tier_request parsed;
    struct zs_eu_program *program = NULL;
    struct zs_diag diag;

    if (!l)
        return -ENOENT;
    int error = zs_eu_tier_request_parse(request, &parsed);
    if (error)
        return error;
    parsed.options.seen = seen;
    zs_diag_clear(&diag);
    error = zs_eu_lower(&parsed.params, &program, &diag);
    if (error)
        zs_buf_printf(ret_why, "%s\n", diag.text);
    else
        error = build_program(l, program, &parsed.options, form, ret_blob, ret_why);
    zs_eu_program_destroy(program);
    zs_eu_tier_request_fini(&parsed);
    return error;
}
