/* SPDX-License-Identifier: MIT */
/* Source lines: in reports of faults, and in the debug information that a zebin module gives. */
#include "kernels.h"

#include <elf.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/zescope-lines-XXXXXX";
static char log_path[64], elf_path[64];

static char *read_all(FILE *f)
{
    char *text = calloc(1, 1 << 20);
    size_t size = fread(text, 1, (1 << 20) - 1, f);
    text[size] = '\0';
    return text;
}

/* What was logged since the last time. */
static char *take_log(void)
{
    FILE *f = fopen(log_path, "r");
    assert_non_null(f);
    char *text = read_all(f);
    fclose(f);
    assert_int_equal(truncate(log_path, 0), 0);
    return text;
}

/* Of a module's bytes; `line` NULL: a fault without a source line. */
static void bytes_fault_at(struct e2e *e, struct bytes b, const char *name, const char *line)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e own = *e;
    OK(zeContextCreate(e->driver, &desc, &own.context));
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                    .format = ZE_MODULE_FORMAT_NATIVE,
                                    .inputSize = b.size,
                                    .pInputModule = b.data};
    ze_module_handle_t module;
    OK(zeModuleCreate(own.context, own.device, &module_desc, &module, NULL));
    ze_kernel_handle_t kernel = kernel_of(module, name);
    int *p = e2e_alloc(&own, 64 * 4), *out = e2e_alloc(&own, 64 * 4), n = 1 << 26;
    bool reads = strcmp(name, "reads") == 0;
    set(kernel, 0, sizeof(p), &p);
    if (reads)
        set(kernel, 1, sizeof(out), &out);
    set(kernel, reads ? 2 : 1, sizeof(n), &n);
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    FAILS(launch(&own, kernel, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    char *text = take_log();
    if (!strstr(text, name) || (line ? !strstr(text, line) : strstr(text, "lines.cl") != NULL))
        fail_msg("%s: not %s in:\n%s", name, line ? line : "without a line", text);
    free(text);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(own.context, p));
    OK(zeMemFree(own.context, out));
    OK(zeContextDestroy(own.context));
}

static void faults_at(struct e2e *e, const char *file, const char *name, const char *line)
{
    struct bytes b = load(file);
    bytes_fault_at(e, b, name, line);
    free(b.data);
}

static void test_lines_of_faults(void **state)
{
    static const char *const files[] = {"lines.bin", "lines.zebin"};
    for (size_t i = 0; i < COUNT(files); i++) {
        faults_at(*state, files[i], "writes", "lines.cl:6");
        faults_at(*state, files[i], "reads", "lines.cl:14");
        faults_at(*state, files[i], "inlines", "lines.cl:20\n    inlined at ");
        faults_at(*state, files[i], "inlines", "lines.cl:27\n  in group");
    }
}

typedef Elf64_Shdr unaligned_shdr
    __attribute__((aligned(1))); /* linkers of zebin do not align them */

/* The header of a section of a zebin. */
static unaligned_shdr *section_header(struct bytes b, const char *name)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)b.data;
    unaligned_shdr *sections = (unaligned_shdr *)((char *)b.data + header->e_shoff);
    const char *names = (const char *)b.data + sections[header->e_shstrndx].sh_offset;
    for (uint32_t i = 0; i < header->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, name) == 0)
            return &sections[i];
    fail_msg("no section %s", name);
    return NULL;
}

/* Intel's own type of a relocatable ELF; debug info that is damaged, or that nobody knows. */
static void test_odd_debug_info(void **state)
{
    enum { ZEBIN_REL = 0xff11, COMPRESSED = 0x800 };
    struct bytes b = load("lines.zebin");
    ((Elf64_Ehdr *)b.data)->e_type = ZEBIN_REL;
    bytes_fault_at(*state, b, "reads", "lines.cl:14");
    static const char *const sections[] = {".debug_line", ".debug_info", ".debug_abbrev",
                                           ".rela.debug_line"};
    for (size_t i = 0; i < COUNT(sections); i++) {
        struct bytes damaged = load("lines.zebin");
        const unaligned_shdr *s = section_header(damaged, sections[i]);
        memset((char *)damaged.data + s->sh_offset, 0xff, s->sh_size);
        bytes_fault_at(*state, damaged, "reads", NULL);
        free(damaged.data);
    }
    section_header(b, ".debug_line")->sh_flags |= COMPRESSED;
    bytes_fault_at(*state, b, "reads", NULL);
    free(b.data);
}

static ze_module_handle_t library_module(const struct e2e *e, const char *name)
{
    struct bytes spirv = load(name);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = spirv.size,
                             .pInputModule = spirv.data,
                             .pBuildFlags = "-library-compilation -g"};
    ze_module_handle_t module;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    free(spirv.data);
    return module;
}

/* In a function of another module: its line, not one of the kernel's. */
static void test_line_in_function(void **state)
{
    struct e2e own = *(struct e2e *)*state, *e = &own;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &e->context));
    ze_module_handle_t modules[2] = {library_module(e, "imports.spv"),
                                     library_module(e, "library.spv")};
    OK(zeModuleDynamicLink(2, modules, NULL));
    ze_kernel_handle_t kernel = kernel_of(modules[0], "use_poke");
    int *p = e2e_alloc(e, 64), n = 3;
    set(kernel, 0, sizeof(p), &p);
    set(kernel, 1, sizeof(n), &n);
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    OK(launch(e, kernel, 1));
    assert_int_equal(p[3], 1);
    n = 1 << 26;
    set(kernel, 1, sizeof(n), &n);
    FAILS(launch(e, kernel, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    char *text = take_log();
    if (!strstr(text, "library.cl:9"))
        fail_msg("no library.cl:9 in:\n%s", text);
    free(text);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(modules[0]));
    OK(zeModuleDestroy(modules[1]));
    OK(zeMemFree(e->context, p));
    OK(zeContextDestroy(e->context));
}

static uint64_t section_address(const uint8_t *elf, size_t size, const char *name)
{
    Elf64_Ehdr header;
    assert_true(size > sizeof(header));
    memcpy(&header, elf, sizeof(header));
    assert_int_equal(header.e_type, ET_EXEC);
    assert_int_equal(header.e_shentsize, sizeof(Elf64_Shdr));
    Elf64_Shdr names, section;
    memcpy(&names, elf + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, elf + header.e_shoff + i * sizeof(section), sizeof(section));
        if (strcmp((const char *)elf + names.sh_offset + section.sh_name, name) == 0)
            return section.sh_addr;
    }
    fail_msg("no section %s", name);
    return 0;
}

/* What is loaded there, as debuggers want it. */
static bool has_segment_at(const uint8_t *elf, uint64_t va)
{
    Elf64_Ehdr header;
    bool found = false;
    memcpy(&header, elf, sizeof(header));
    assert_int_equal(header.e_phentsize, sizeof(Elf64_Phdr));
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, elf + header.e_phoff + i * sizeof(segment), sizeof(segment));
        found |= segment.p_type == PT_LOAD && segment.p_vaddr == va && segment.p_filesz;
    }
    return found;
}

/* Linked: kernels have addresses of their own, and the DWARF speaks of them. */
static void test_debug_info(void **state)
{
    struct e2e *e = *state;
    ze_module_handle_t module = make_module(e, "lines.zebin");
    size_t size = 0, again;
    OK(zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, NULL));
    assert_true(size > 1000);
    uint8_t *elf = malloc(size);
    again = size;
    OK(zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &again, elf));
    assert_int_equal(again, size);
    uint64_t va[2] = {section_address(elf, size, ".text.writes"),
                      section_address(elf, size, ".text.reads")};
    assert_true(va[0] && va[1] && va[0] != va[1]);
    for (int i = 0; i < 2; i++)
        assert_true(has_segment_at(elf, va[i]));
    FILE *f = fopen(elf_path, "wb");
    assert_int_equal(fwrite(elf, 1, size, f), size);
    fclose(f);
    char command[200];
    snprintf(command, sizeof(command), "llvm-dwarfdump --debug-info --debug-line %s", elf_path);
    FILE *dump = popen(command, "r");
    char *text = read_all(dump);
    assert_int_equal(pclose(dump), 0);
    static const char *const names[] = {"writes", "reads"};
    for (int i = 0; i < 2; i++) {
        char want[64], row[64];
        snprintf(want, sizeof(want), "DW_AT_low_pc\t(0x%016llx)", (unsigned long long)va[i]);
        snprintf(row, sizeof(row), "0x%016llx ", (unsigned long long)va[i]);
        if (!strstr(text, want) || !strstr(text, row))
            fail_msg("%s: no %s or no row %s", names[i], want, row);
    }
    free(text);
    free(elf);
    OK(zeModuleDestroy(module));
}

/* Zebin with a symbol whose name is `name_B` long, and as many relocations of it. */
static struct bytes with_long_name(struct bytes b, size_t name_B, size_t relocations)
{
    enum { RELA_B = sizeof(Elf64_Rela) };
    const size_t old_strings = section_header(b, ".strtab")->sh_size;
    const size_t strings_at = b.size, relas_at = (strings_at + old_strings + name_B + 16) & ~7ull;
    struct bytes out = {.size = relas_at + relocations * RELA_B};
    out.data = calloc(1, out.size);
    uint8_t *base = out.data;
    memcpy(base, b.data, b.size);
    unaligned_shdr *strings = section_header(out, ".strtab");
    unaligned_shdr *symbols = section_header(out, ".symtab");
    unaligned_shdr *table = section_header(out, ".rela.debug_info");
    memcpy(base + strings_at, base + strings->sh_offset, old_strings);
    memset(base + strings_at + old_strings, '.', name_B);
    const uint64_t last = symbols->sh_size / sizeof(Elf64_Sym) - 1;
    const uint32_t name = (uint32_t)old_strings;
    memcpy(base + symbols->sh_offset + last * sizeof(Elf64_Sym), &name, sizeof(name));
    strings->sh_offset = strings_at;
    strings->sh_size = old_strings + name_B + 1;
    Elf64_Rela rela = {.r_info = ELF64_R_INFO(last, 1)};
    for (size_t i = 0; i < relocations; i++)
        memcpy(base + relas_at + i * RELA_B, &rela, RELA_B);
    table->sh_offset = relas_at;
    table->sh_size = relocations * RELA_B;
    return out;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Many relocations of one long name: the name is read once, not for each of them, which would be
 * more than a million megabytes. */
static void test_long_names(void **state)
{
    struct e2e *e = *state;
    struct bytes plain = load("lines.zebin"), b = with_long_name(plain, 8 << 20, 400000);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = b.size,
                             .pInputModule = b.data};
    ze_module_handle_t module;
    size_t size = 0;
    double before = cpu_seconds();
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    OK(zetModuleGetDebugInfo(module, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, NULL));
    assert_true(cpu_seconds() - before < 20);
    assert_true(size >= b.size && size < b.size + 1024); /* and its segments */
    OK(zeModuleDestroy(module));
    free(plain.data);
    free(b.data);
}

int main(int argc, char **argv)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(log_path, sizeof(log_path), "%s/log", folder);
    snprintf(elf_path, sizeof(elf_path), "%s/debug.elf", folder);
    char setting[80];
    snprintf(setting, sizeof(setting), "error:%s", log_path);
    setenv("ZESCOPE_LOG", setting, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_faults),  cmocka_unit_test(test_odd_debug_info),
        cmocka_unit_test(test_line_in_function), cmocka_unit_test(test_debug_info),
        cmocka_unit_test(test_long_names),
    };
    int failed = cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
    unlink(log_path);
    unlink(elf_path);
    rmdir(folder);
    return failed;
}
