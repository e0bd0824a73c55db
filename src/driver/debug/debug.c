/* SPDX-License-Identifier: MIT */
/*
 * Debug information of a zebin, linked as a debugger wants it.
 *
 * IGC's zebin holds one relocatable DWARF for all kernels, each of which starts at 0 in a section
 * of its own. The linked copy is an ET_EXEC whose .text sections have addresses, one behind the
 * other from ZS_IP_BASE, or where the code is when debugging is enabled, and in whose .debug
 * sections the relocations are applied; .data sections have the addresses of the module's buffers.
 * Addresses of code do not depend on the process, so that the same module gives the same bytes.
 *
 * A relocation's symbol carries the name of a section (".text.k", ".debug_loc"), but its section
 * index is, with IGC's own linker, that of the section which is relocated: the name decides.
 */
#include "driver/module/module.h"

#include "base/name_map.h"
#include "base/reader.h"
#include "module/elf.h"

#include <elf.h>
#include <errno.h>

enum {
    ELF_TYPE_AT = 16,
    ELF_SEGMENTS_AT = 32,
    ELF_SECTIONS_AT = 40,
    ELF_SEGMENT_SIZE_AT = 54,
    ELF_SEGMENT_COUNT_AT = 56,
    SEGMENT_MAX = UINT16_MAX - 1,
    SECTION_HEADER_B = 64,
    SECTION_ADDRESS_AT = 16,
    SECTION_SIZE_AT = 32,
    TEXT_ALIGN_B = 64,
    ARENA_B_MAX = 256 << 20,
    NAMES_B_MAX = 1 << 28, /* of symbols, as often as they are read: they may overlap */
};

/* What a symbol of a table stands for. */
struct resolved {
    uint64_t va;
    bool known; /* else nothing here defines it */
};

struct linker {
    struct zs_ze_module *module;
    struct zs_elf elf;
    uint64_t *section_va;            /* by section */
    uint64_t *section_B;             /* of code what is loaded: without what fills its end */
    struct zs_name_map section_of;   /* the first of a name */
    const struct zs_section *symtab; /* whose symbols are resolved */
    struct resolved *symbols;
    uint32_t symbol_count;
    uint64_t names_left_B;
    struct zs_arena *arena;
    struct zs_buf *out;
};

static void store(uint8_t *at, uint64_t value, uint32_t size_B)
{
    for (uint32_t i = 0; i < size_B; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Address of the buffer that a data section became; 0: of none. */
static uint64_t buffer_va(const struct zs_ze_module *module, const char *section)
{
    static const struct {
        const char *prefix;
        enum zs_buffer_kind kind;
    } rows[] = {{".data.const.string", ZS_BUFFER_STRINGS},
                {".data.const", ZS_BUFFER_CONSTANT},
                {".data.global", ZS_BUFFER_GLOBAL}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (starts_with(section, rows[i].prefix))
            return (uintptr_t)module->buffers[rows[i].kind];
    }
    return 0;
}

/* Where a kernel's code is for debuggers, and its size; 0: nowhere. */
static uint64_t code_va(const struct zs_ze_module *module, uint32_t section, uint64_t *ret_size_B)
{
    const struct zs_image *image = module->image;
    for (uint32_t i = 0; module->kernel_ip_B && i < image->kernel_count; i++) {
        if (image->kernels[i].section != section)
            continue;
        uint32_t ip_B =
            image->kernels[i].is_function_holder ? module->ip_B : module->kernel_ip_B[i];
        *ret_size_B = image->kernels[i].code.size_B;
        return ip_B ? module->context->code_base_va + ip_B : 0;
    }
    return 0;
}

static void place_sections(struct linker *l)
{
    uint64_t next_va = ZS_IP_BASE;
    for (uint32_t i = 0; i < l->elf.section_count; i++) {
        const struct zs_section *s = &l->elf.sections[i];
        l->section_B[i] = s->size_B;
        uint64_t va = code_va(l->module, i, &l->section_B[i]);
        if (va) {
            l->section_va[i] = va;
        } else if (starts_with(s->name, ".text")) {
            l->section_va[i] = next_va;
            next_va += zs_align_up(ZS_MIN(s->size_B, (uint64_t)UINT32_MAX), TEXT_ALIGN_B);
        } else {
            l->section_va[i] = buffer_va(l->module, s->name);
        }
    }
}

static int write_headers(struct linker *l)
{
    struct zs_diag diag = {0};
    struct zs_reader r = zs_reader_make(l->elf.bytes, 0, &diag);
    zs_read_seek(&r, ELF_SECTIONS_AT, "section table offset");
    uint64_t table_B = zs_read_u64(&r, "section table offset");
    uint64_t size_B = (uint64_t)l->elf.section_count * SECTION_HEADER_B;
    if (r.error || table_B > l->out->size_B || size_B > l->out->size_B - table_B)
        return -EBADMSG;
    store(l->out->data + ELF_TYPE_AT, ZS_ELF_EXEC, 2);
    for (uint32_t i = 0; i < l->elf.section_count; i++) {
        uint8_t *header = l->out->data + table_B + (uint64_t)i * SECTION_HEADER_B;
        store(header + SECTION_ADDRESS_AT, l->section_va[i], 8);
        store(header + SECTION_SIZE_AT, l->section_B[i], 8);
    }
    return 0;
}

/* Debuggers place what they load by segments: one for each section that is in the device's memory.
 */
static void append_segments(struct linker *l)
{
    static const uint8_t padding[8] = {0};
    uint32_t count = 0;
    zs_buf_append(l->out, padding, -l->out->size_B & 7);
    size_t at_B = l->out->size_B;
    for (uint32_t i = 0; i < l->elf.section_count && count < SEGMENT_MAX; i++) {
        const struct zs_section *s = &l->elf.sections[i];
        uint64_t va = l->section_va[i], size_B = l->section_B[i];
        uint64_t file_B = ZS_MIN((uint64_t)s->bytes.size_B, size_B);
        if (!va || !s->size_B || starts_with(s->name, ".data.const.string"))
            continue;
        bool is_text = starts_with(s->name, ".text");
        const Elf64_Phdr segment = {.p_type = PT_LOAD,
                                    .p_flags = is_text ? PF_R | PF_X : PF_R | PF_W,
                                    .p_offset = s->offset_B,
                                    .p_vaddr = va,
                                    .p_paddr = va,
                                    .p_filesz = file_B,
                                    .p_memsz = size_B,
                                    .p_align = 1};
        zs_buf_append(l->out, &segment, sizeof(segment));
        count++;
    }
    if (l->out->error)
        return;
    store(l->out->data + ELF_SEGMENTS_AT, count ? at_B : 0, 8);
    store(l->out->data + ELF_SEGMENT_SIZE_AT, sizeof(Elf64_Phdr), 2);
    store(l->out->data + ELF_SEGMENT_COUNT_AT, count, 2);
}

/* How long the names of sections are together was bounded as the module was opened. */
static int index_sections(struct linker *l)
{
    for (uint32_t i = 0; i < l->elf.section_count; i++) {
        const char *name = l->elf.sections[i].name;
        if (zs_name_map_get(&l->section_of, name) == ZS_NAME_MAP_NONE &&
            !zs_name_map_put(&l->section_of, name, i))
            return -ENOMEM;
    }
    return 0;
}

static struct resolved resolve(const struct linker *l, const struct zs_elf_symbol *symbol)
{
    uint32_t section = symbol->section;
    if (symbol->name[0] == '.')
        section = zs_name_map_get(&l->section_of, symbol->name);
    else if (!section)
        section = l->elf.section_count;
    if (section >= l->elf.section_count)
        return (struct resolved){0};
    return (struct resolved){l->section_va[section] + symbol->value, true};
}

/* Each symbol once, however many relocations name it; thousands may share one long name, or look
 * for an end of it that is not there. */
static int resolve_table(struct linker *l, const struct zs_section *table)
{
    if (l->symtab == table)
        return 0;
    l->symbol_count = zs_elf_symbol_count(&l->elf, table);
    l->symbols = ZS_ARENA_ARRAY(l->arena, l->symbol_count + 1u, struct resolved);
    if (!l->symbols)
        return -ENOMEM;
    l->symtab = table;
    for (uint32_t i = 0; i < l->symbol_count; i++) {
        struct zs_elf_symbol symbol;
        bool named = zs_elf_symbol(&l->elf, table, i, &symbol);
        uint64_t name_B =
            1 + (named ? strlen(symbol.name) : l->elf.sections[table->link].bytes.size_B);
        if (name_B > l->names_left_B)
            return -E2BIG;
        l->names_left_B -= name_B;
        l->symbols[i] = named ? resolve(l, &symbol) : (struct resolved){0};
    }
    return 0;
}

static int apply(struct linker *l, const struct zs_section *table)
{
    if (table->info >= l->elf.section_count || table->link >= l->elf.section_count)
        return -EBADMSG;
    const struct zs_section *target = &l->elf.sections[table->info];
    if (!starts_with(target->name, ".debug"))
        return 0;
    uint32_t count = zs_elf_relocation_count(table);
    int error = resolve_table(l, &l->elf.sections[table->link]);
    if (error)
        return error;
    int32_t *nameless = ZS_ARENA_ARRAY(l->arena, count + 1u, int32_t);
    if (!nameless)
        return -ENOMEM;
    zs_elf_nameless_code(&l->elf, table, nameless);
    for (uint32_t i = 0; i < count; i++) {
        struct zs_elf_relocation relocation;
        zs_elf_relocation(table, i, &relocation);
        uint32_t size_B = zs_relocation_size_B((enum zs_relocation_kind)relocation.type);
        if (relocation.type > ZS_RELOCATION_ADDRESS_32 || size_B == 0 ||
            relocation.symbol >= l->symbol_count || relocation.offset_B > target->bytes.size_B ||
            size_B > target->bytes.size_B - relocation.offset_B)
            return -EBADMSG;
        struct resolved symbol = l->symbols[relocation.symbol];
        int32_t section = nameless[i];
        if (section)
            symbol = (struct resolved){section > 0 ? l->section_va[section] : 0, section > 0};
        if (symbol.known)
            store(l->out->data + target->offset_B + relocation.offset_B,
                  symbol.va + (uint64_t)relocation.addend, size_B);
    }
    return 0;
}

static int link_elf(struct linker *l, struct zs_arena *arena, struct zs_span zebin)
{
    struct zs_diag diag = {0};
    int error = zs_elf_parse(zebin, 0, arena, NULL, &diag, &l->elf);
    if (error)
        return error;
    l->section_va = ZS_ARENA_ARRAY(arena, l->elf.section_count + 1u, uint64_t);
    l->section_B = ZS_ARENA_ARRAY(arena, l->elf.section_count + 1u, uint64_t);
    zs_buf_append(l->out, zebin.data, zebin.size_B);
    if (!l->section_va || !l->section_B || l->out->error)
        return -ENOMEM;
    place_sections(l);
    error = index_sections(l);
    error = error ? error : write_headers(l);
    for (uint32_t i = 0; i < l->elf.section_count && !error; i++) {
        if (l->elf.sections[i].type == ZS_SHT_RELA)
            error = apply(l, &l->elf.sections[i]);
    }
    if (!error)
        append_segments(l);
    return !error && l->out->error ? -ENOMEM : error;
}

/* Under the module's lock. */
static void make_linked(struct zs_ze_module *module)
{
    const struct zs_image *image = module->image;
    struct zs_span zebin = module->container->parts[image->part].bytes;
    struct zs_arena arena;
    zs_arena_init(&arena, ARENA_B_MAX);
    struct linker l = {
        .module = module, .names_left_B = NAMES_B_MAX, .arena = &arena, .out = &module->debug};
    int error = link_elf(&l, &arena, zebin);
    zs_name_map_fini(&l.section_of);
    if (error) { /* as it is: better than nothing */
        zs_log(ZS_LOG_WARN, "debug information of the zebin cannot be relocated: %s",
               strerror(-error));
        zs_buf_fini(&module->debug);
        module->debug = (struct zs_buf){0};
        zs_buf_append(&module->debug, zebin.data, zebin.size_B);
    }
    zs_arena_fini(&arena);
}

struct zs_span zs_debug_linked(struct zs_ze_module *module)
{
    const struct zs_image *image = module->image;
    if (image->format != ZS_CONTAINER_ZEBIN || !image->has_debug)
        return (struct zs_span){0};
    pthread_mutex_lock(&module->lock);
    if (!module->debug.size_B)
        make_linked(module);
    struct zs_span linked = zs_buf_span(&module->debug);
    pthread_mutex_unlock(&module->lock);
    return linked;
}
