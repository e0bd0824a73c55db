/* SPDX-License-Identifier: MIT */
/*
 * What of a module a debugger is told of: each kernel and the functions of the module are code at
 * an address of their own. From patch tokens each is one event, with the ELF that the compiler made
 * for it: its addresses start at 0 with the code. A zebin is one event, with its ELF linked to
 * where the code is. What was compiled without -g has an ELF of the code and its name alone, made
 * here.
 */
#include "driver/debug/debug.h"
#include "driver/module/module.h"

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
        .info = {(uintptr_t)piece->elf, (uintptr_t)piece->elf + piece->elf_B, piece->load_va}};
}

/* ---- an ELF where the compiler made none -------------------------------------------------------
 */

/* A piece of code in it. */
struct plain {
    const char *section, *name;
    struct zs_span code;
    uint64_t va;
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

static uint32_t put_string(struct zs_buf *strings, const char *text)
{
    size_t at_B = strings->size_B;
    zs_buf_append(strings, text, strlen(text) + 1);
    return (uint32_t)at_B;
}

static void put_texts(const struct plain *items, uint32_t count, size_t at_B,
                      struct zs_buf *strings, struct zs_buf *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Shdr section = {.sh_name = put_string(strings, items[i].section),
                                    .sh_type = SHT_PROGBITS,
                                    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .sh_addr = items[i].va,
                                    .sh_offset = at_B,
                                    .sh_size = items[i].code.size_B,
                                    .sh_addralign = 1};
        zs_buf_append(out, &section, sizeof(section));
        at_B += items[i].code.size_B;
    }
}

static void put_segments(const struct plain *items, uint32_t count, size_t at_B, struct zs_buf *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_X,
                                    .p_offset = at_B,
                                    .p_vaddr = items[i].va,
                                    .p_paddr = items[i].va,
                                    .p_filesz = items[i].code.size_B,
                                    .p_memsz = items[i].code.size_B,
                                    .p_align = 1};
        zs_buf_append(out, &segment, sizeof(segment));
        at_B += items[i].code.size_B;
    }
}

static void put_symbols(const struct plain *items, uint32_t count, struct zs_buf *strings,
                        struct zs_buf *out)
{
    zs_buf_append(out, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (uint32_t i = 0; i < count; i++) {
        const Elf64_Sym symbol = {.st_name = put_string(strings, items[i].name),
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                  .st_shndx = (Elf64_Section)(1 + i),
                                  .st_value = items[i].va,
                                  .st_size = items[i].code.size_B};
        zs_buf_append(out, &symbol, sizeof(symbol));
    }
}

/* Headers, segments, symbols, code, strings. */
static void make_plain(const struct plain *items, uint32_t count, uint64_t entry,
                       struct zs_buf *out)
{
    struct zs_buf strings = {0}, symbols = {0};
    const uint32_t section_count = count + 3;
    const size_t segments_at_B = sizeof(Elf64_Ehdr) + section_count * sizeof(Elf64_Shdr);
    const size_t symbols_at_B = segments_at_B + count * sizeof(Elf64_Phdr);
    const size_t code_at_B = symbols_at_B + (count + 1) * sizeof(Elf64_Sym);
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = ELF_MACHINE_INTELGT,
        .e_version = EV_CURRENT,
        .e_entry = entry,
        .e_phoff = segments_at_B,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (Elf64_Half)count,
        .e_shoff = sizeof(Elf64_Ehdr),
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)section_count,
        .e_shstrndx = (Elf64_Half)(section_count - 1)};
    put_string(&strings, "");
    Elf64_Shdr tables[] = {{.sh_name = put_string(&strings, ".symtab"),
                            .sh_type = SHT_SYMTAB,
                            .sh_offset = symbols_at_B,
                            .sh_size = (count + 1) * sizeof(Elf64_Sym),
                            .sh_link = section_count - 1,
                            .sh_info = 1,
                            .sh_addralign = 8,
                            .sh_entsize = sizeof(Elf64_Sym)},
                           {.sh_name = put_string(&strings, ".strtab"),
                            .sh_type = SHT_STRTAB,
                            .sh_offset = code_at_B,
                            .sh_addralign = 1}};
    for (uint32_t i = 0; i < count; i++)
        tables[1].sh_offset += items[i].code.size_B;
    zs_buf_append(out, &header, sizeof(header));
    zs_buf_append(out, &(Elf64_Shdr){0}, sizeof(Elf64_Shdr));
    put_texts(items, count, code_at_B, &strings, out);
    put_symbols(items, count, &strings, &symbols);
    tables[1].sh_size = strings.size_B;
    zs_buf_append(out, tables, sizeof(tables));
    put_segments(items, count, code_at_B, out);
    zs_buf_append(out, symbols.data, symbols.size_B);
    for (uint32_t i = 0; i < count; i++)
        zs_buf_append(out, items[i].code.data, items[i].code.size_B);
    zs_buf_append(out, strings.data, strings.size_B);
    out->error |= strings.error | symbols.error;
    zs_buf_fini(&symbols);
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
        const struct plain plain = {".text", kernel->name, code, piece->load_va};
        make_plain(&plain, 1, piece->load_va + entry_of(module, kernel), &elf);
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

/* Its own part of what it is linked of; ret_code lies in ret_linked, to be freed in any case. */
static bool link_kernel(struct zs_ze_module *module, const struct zs_kernel *kernel,
                        struct zs_linked_code *ret_linked, struct zs_span *ret_code)
{
    struct zs_diag diag = {0};
    *ret_linked = (struct zs_linked_code){0};
    if (zs_link_code(module, kernel, false, ret_linked, &diag) != 0)
        return false;
    *ret_code = zs_buf_span(&ret_linked->code);
    ret_code->data += ret_linked->entry_B;
    ret_code->size_B -= ret_linked->entry_B;
    return true;
}

static bool add_kernel(struct zs_ze_module *module, struct zs_debug_module *m,
                       const struct zs_kernel *kernel)
{
    struct zs_linked_code linked;
    struct zs_span code;
    bool ok = link_kernel(module, kernel, &linked, &code) &&
              add_code(module, m, kernel, code, module->kernel_ip_B[kernel->index]);
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

/* ---- one ELF of the whole module ---------------------------------------------------------------
 */

enum { SECTION_NAME_B = 256, PLAIN_MAX = SHN_LORESERVE - 3 };

struct plain_module {
    struct plain *items;
    uint32_t count;
    struct zs_linked_code *linked;
    char (*names)[SECTION_NAME_B];
};

static bool add_plain(struct plain_module *p, struct zs_ze_module *module,
                      const struct zs_kernel *kernel)
{
    uint32_t i = p->count, ip_B = module->ip_B;
    struct zs_span code = zs_buf_span(&module->code);
    if (!kernel->is_function_holder) {
        if (!link_kernel(module, kernel, &p->linked[i], &code))
            return false;
        ip_B = module->kernel_ip_B[kernel->index];
    } else if (!code.size_B) {
        return true;
    }
    snprintf(p->names[i], SECTION_NAME_B, ".text.%s", kernel->name);
    p->items[i] =
        (struct plain){p->names[i], kernel->name, code, module->context->code_base_va + ip_B};
    p->count++;
    return true;
}

static void make_plain_module(struct zs_ze_module *module, struct zs_buf *out)
{
    const struct zs_image *image = module->image;
    struct plain_module p = {.items = calloc(image->kernel_count, sizeof(*p.items)),
                             .linked = calloc(image->kernel_count, sizeof(*p.linked)),
                             .names = calloc(image->kernel_count, sizeof(*p.names))};
    bool ok = p.items && p.linked && p.names;
    for (uint32_t i = 0; ok && i < image->kernel_count; i++)
        ok = add_plain(&p, module, &image->kernels[i]);
    if (ok)
        make_plain(p.items, p.count, 0, out);
    for (uint32_t i = 0; p.linked && i < image->kernel_count; i++)
        zs_linked_code_fini(&p.linked[i]);
    free(p.items);
    free(p.linked);
    free(p.names);
}

struct zs_span zs_debug_module_elf(struct zs_ze_module *module)
{
    const struct zs_image *image = module->image;
    if (!module->debugged || image->has_debug || !image->kernel_count ||
        image->kernel_count > PLAIN_MAX)
        return (struct zs_span){0};
    pthread_mutex_lock(&module->lock);
    if (!module->debug.size_B) {
        make_plain_module(module, &module->debug);
        if (module->debug.error) {
            zs_buf_fini(&module->debug);
            module->debug = (struct zs_buf){0};
        }
    }
    struct zs_span elf = zs_buf_span(&module->debug);
    pthread_mutex_unlock(&module->lock);
    return elf;
}
