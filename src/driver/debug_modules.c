/* SPDX-License-Identifier: MIT */
/*
 * What of a module a debugger is told of: each kernel and the functions of the module are code at
 * an address of their own. From patch tokens each is one event, with the ELF that the compiler made
 * for it: its addresses start at 0 with the code. A zebin is one event, with its ELF linked to
 * where the code is. What was compiled without -g has an ELF of the code and its name alone, made
 * here.
 */
#include "driver/debug.h"
#include "driver/module.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum { ELF_MACHINE_INTELGT = 205 };

static void free_pieces(struct zs_gpu_debug *gpu, struct zs_debug_module *m)
{
    while (m->pieces) {
        struct zs_debug_piece *piece = m->pieces;
        m->pieces = piece->next;
        zs_gpu_debug_code_remove(gpu, piece->code);
        free(piece->elf);
        free(piece);
    }
}

void zs_debug_event_of(const struct zs_debug_piece *piece, bool load, struct zs_debug_event *ret)
{
    *ret = (struct zs_debug_event){
        .type = load ? ZET_DEBUG_EVENT_TYPE_MODULE_LOAD : ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD,
        .flags = load ? ZET_DEBUG_EVENT_FLAG_NEED_ACK : 0u,
        .info = {(uintptr_t)piece->elf, (uintptr_t)piece->elf + piece->elf_B, piece->load_va}};
}

/* ---- an ELF where the compiler made none -------------------------------------------------------
 */

enum { PLAIN_NULL, PLAIN_TEXT, PLAIN_SYMTAB, PLAIN_STRTAB, PLAIN_SECTIONS };

struct plain_elf {
    Elf64_Ehdr header;
    Elf64_Shdr sections[PLAIN_SECTIONS];
    Elf64_Sym symbols[2];
};

/* Where threads of a kernel begin: a prologue that loads what they have in registers is passed
 * over.
 */
static uint32_t entry_of(const struct zs_ze_module *module, const struct zs_kernel *kernel)
{
    const struct zs_thread_payload *thread = &kernel->thread;
    return module->device->model->loads_payload
               ? thread->skip_per_thread_load_B + thread->skip_set_ffid_B
               : 0;
}

/* The kernel's own ELF, whose code is at 0, says it as its entry. */
static void put_entry(struct zs_buf *elf, uint32_t entry_B)
{
    const uint64_t entry = entry_B;
    if (!elf->error && elf->size_B >= sizeof(Elf64_Ehdr))
        memcpy(elf->data + offsetof(Elf64_Ehdr, e_entry), &entry, sizeof(entry));
}

static void make_plain(const struct zs_kernel *kernel, struct zs_span code, uint64_t load_va,
                       uint32_t entry_B, struct zs_buf *out)
{
    static const char names[] = "\0.text\0.symtab\0.strtab\0";
    struct zs_buf strings = {0};
    zs_buf_append(&strings, names, sizeof(names) - 1);
    zs_buf_append(&strings, kernel->name, strlen(kernel->name) + 1);
    size_t code_at_B = sizeof(struct plain_elf), strings_at_B = code_at_B + code.size_B;
    struct plain_elf elf = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = ELF_MACHINE_INTELGT,
                   .e_version = EV_CURRENT,
                   .e_entry = load_va + entry_B,
                   .e_shoff = offsetof(struct plain_elf, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = PLAIN_SECTIONS,
                   .e_shstrndx = PLAIN_STRTAB},
        .sections = {[PLAIN_TEXT] = {.sh_name = 1,
                                     .sh_type = SHT_PROGBITS,
                                     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                     .sh_addr = load_va,
                                     .sh_offset = code_at_B,
                                     .sh_size = code.size_B,
                                     .sh_addralign = 1},
                     [PLAIN_SYMTAB] = {.sh_name = 7,
                                       .sh_type = SHT_SYMTAB,
                                       .sh_offset = offsetof(struct plain_elf, symbols),
                                       .sh_size = sizeof(Elf64_Sym) * 2,
                                       .sh_link = PLAIN_STRTAB,
                                       .sh_info = 1,
                                       .sh_addralign = 8,
                                       .sh_entsize = sizeof(Elf64_Sym)},
                     [PLAIN_STRTAB] = {.sh_name = 15,
                                       .sh_type = SHT_STRTAB,
                                       .sh_offset = strings_at_B,
                                       .sh_size = strings.size_B,
                                       .sh_addralign = 1}},
        .symbols = {[1] = {.st_name = sizeof(names) - 1,
                           .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                           .st_shndx = PLAIN_TEXT,
                           .st_value = load_va,
                           .st_size = code.size_B}}};
    zs_buf_append(out, &elf, sizeof(elf));
    zs_buf_append(out, code.data, code.size_B);
    zs_buf_append(out, strings.data, strings.size_B);
    out->error |= strings.error;
    zs_buf_fini(&strings);
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

static struct zs_debug_piece *add_piece(struct zs_debug_module *m)
{
    struct zs_debug_piece *piece = calloc(1, sizeof(*piece)), **end = &m->pieces;
    while (*end)
        end = &(*end)->next;
    *end = piece;
    return piece;
}

/* Of one kernel, or of the functions of a module, whose code is given relocated. */
static bool add_code(struct zs_ze_module *module, struct zs_debug_module *m,
                     const struct zs_kernel *kernel, struct zs_span code, uint32_t ip_B)
{
    struct zs_debug_piece *piece = add_piece(m);
    struct zs_buf elf = {0};
    if (!piece)
        return false;
    piece->load_va = module->context->code_base_va + ip_B;
    if (kernel->debug.kind == ZS_DEBUG_KERNEL_ELF) {
        zs_buf_append(&elf, kernel->debug.elf.data, kernel->debug.elf.size_B);
        put_entry(&elf, entry_of(module, kernel));
    } else if (kernel->debug.kind == ZS_DEBUG_NONE) {
        make_plain(kernel, code, piece->load_va, entry_of(module, kernel), &elf);
    }
    if (!elf.error && elf.size_B) {
        piece->elf = malloc(elf.size_B);
        piece->elf_B = elf.size_B;
        if (piece->elf)
            memcpy(piece->elf, elf.data, elf.size_B);
    }
    bool ok = !elf.error && (piece->elf || !elf.size_B) &&
              zs_gpu_debug_code_add(zs_debug_gpu(module->context->driver->debug), piece->load_va,
                                    code, &piece->code) == 0;
    zs_buf_fini(&elf);
    return ok;
}

static bool add_kernel(struct zs_ze_module *module, struct zs_debug_module *m,
                       const struct zs_kernel *kernel)
{
    struct zs_linked_code linked = {0};
    struct zs_diag diag = {0};
    bool ok = zs_link_code(module, kernel, false, &linked, &diag) == 0;
    if (ok) {
        struct zs_span code = zs_buf_span(&linked.code);
        code.data += linked.entry_B;
        code.size_B -= linked.entry_B;
        ok = add_code(module, m, kernel, code, module->kernel_ip_B[kernel->index]);
    }
    zs_linked_code_fini(&linked);
    return ok;
}

static bool add_pieces(struct zs_ze_module *module, struct zs_debug_module *m)
{
    const struct zs_image *image = module->image;
    bool ok = true;
    for (uint32_t i = 0; i < image->kernel_count && ok; i++) {
        const struct zs_kernel *kernel = &image->kernels[i];
        if (!kernel->is_function_holder)
            ok = add_kernel(module, m, kernel);
        else if (module->code.size_B)
            ok = add_code(module, m, kernel, zs_buf_span(&module->code), module->ip_B);
    }
    return ok;
}

/* One ELF for all: the first piece has it, and is the event. */
static bool add_linked(struct zs_ze_module *module, struct zs_debug_module *m)
{
    struct zs_span linked = zs_debug_linked(module);
    struct zs_debug_piece *first = m->pieces;
    if (!linked.size_B || !first)
        return true;
    first->elf = malloc(linked.size_B);
    first->elf_B = linked.size_B;
    if (first->elf)
        memcpy(first->elf, linked.data, linked.size_B);
    return first->elf != NULL;
}

/* ---- events ------------------------------------------------------------------------------------
 */

void zs_debug_module_loaded(struct zs_ze_module *module)
{
    struct zs_debug_server *server = module->context->driver->debug;
    if (!server || module->debugged || !module->kernel_ip_B || !module->context->code_base_va)
        return;
    struct zs_debug_module *m = calloc(1, sizeof(*m));
    if (!m)
        return;
    m->device = module->device;
    if (!add_pieces(module, m) || !add_linked(module, m)) {
        zs_log(ZS_LOG_ERROR, "no memory to debug a module: debuggers will not see it");
        free_pieces(zs_debug_gpu(server), m);
        free(m);
        return;
    }
    module->debugged = m;
    zs_debug_announce(server, m, true);
}

void zs_debug_module_unloaded(struct zs_ze_module *module)
{
    if (module->debugged)
        zs_debug_announce(module->context->driver->debug, module->debugged, false);
}

void zs_debug_module_free(struct zs_ze_module *module)
{
    if (!module->debugged)
        return;
    zs_debug_module_unloaded(module);
    free_pieces(zs_debug_gpu(module->context->driver->debug), module->debugged);
    free(module->debugged);
}
