/* SPDX-License-Identifier: MIT */
/*
 * redirect APP TOOL: a function of the module APP becomes another one of it, and then one of the
 * module TOOL, which counts its calls. See redirect.cl.
 */
#include "check.h"

#include <elf.h>
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/edit.h>
#include <zescope/isa.h>

enum { ITEMS = 64, FILE_MAX_B = 1 << 20 };

static ze_context_handle_t context;
static ze_device_handle_t device;

static struct zs_span slurp(const char *path)
{
    uint8_t *bytes = malloc(FILE_MAX_B);
    FILE *f = fopen(path, "rb");
    CHECK(f && bytes);
    struct zs_span span = {bytes, fread(bytes, 1, FILE_MAX_B, f)};
    fclose(f);
    return span;
}

static ze_module_handle_t build(struct zs_span binary)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = binary.size_B,
                             .pInputModule = binary.data};
    ze_module_handle_t module;
    CHECK(!zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

static void run(ze_module_handle_t module, const char *name, uint32_t items, const int *in,
                int *out)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_group_count_t groups = {1, 1, 1};
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    uint32_t argument = 0;
    CHECK(!zeKernelCreate(module, &desc, &kernel) && !zeKernelSetGroupSize(kernel, items, 1, 1));
    if (in)
        CHECK(!zeKernelSetArgumentValue(kernel, argument++, sizeof(in), &in));
    CHECK(!zeKernelSetArgumentValue(kernel, argument, sizeof(out), &out));
    CHECK(!zeCommandListCreateImmediate(context, device, &queue, &list));
    CHECK(!zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    CHECK(!zeCommandListDestroy(list) && !zeKernelDestroy(kernel));
}

/* The application's module with `one` made another function. */
static struct zs_span redirected(struct zs_span app, const char *to)
{
    struct zs_edit *edit;
    uint8_t *bytes;
    size_t size_B;
    CHECK(!zs_edit_open(app, NULL, &edit, NULL));
    CHECK(zs_edit_redirect(edit, "nobody", to, NULL) != 0);
    CHECK(!zs_edit_redirect(edit, "one", to, NULL));
    CHECK(!zs_edit_write(edit, 0, &bytes, &size_B, NULL));
    zs_edit_close(edit);
    return (struct zs_span){bytes, size_B};
}

/* ---- debug information ---- */

static const char *const debug_names[] = {".debug_info", ".rela.debug_info"};

static Elf64_Shdr header_of(struct zs_span elf, uint32_t section)
{
    Elf64_Ehdr ehdr;
    Elf64_Shdr header;
    memcpy(&ehdr, elf.data, sizeof(ehdr));
    CHECK(section < ehdr.e_shnum);
    memcpy(&header, elf.data + ehdr.e_shoff + section * sizeof(header), sizeof(header));
    return header;
}

/* A zebin with a section of debug information and relocations of it, which compilers of this age
 * leave out: behind all else names, what the sections hold, and headers. */
static struct zs_span with_debug(struct zs_span elf)
{
    Elf64_Ehdr ehdr;
    memcpy(&ehdr, elf.data, sizeof(ehdr));
    uint32_t count = ehdr.e_shnum, size_B = (uint32_t)(elf.size_B + 7) & ~7u;
    Elf64_Shdr names = header_of(elf, ehdr.e_shstrndx);
    Elf64_Rela entry = {.r_offset = 8, .r_info = ELF64_R_INFO(1, 2)};
    uint8_t *out = calloc(1, FILE_MAX_B);
    CHECK(out && size_B < FILE_MAX_B / 2 && names.sh_size < FILE_MAX_B / 4);
    memcpy(out, elf.data, elf.size_B);
    memcpy(out + size_B, elf.data + names.sh_offset, names.sh_size);
    Elf64_Shdr added[2] = {
        {.sh_type = SHT_PROGBITS, .sh_size = 16, .sh_addralign = 1},
        {.sh_type = SHT_RELA, .sh_size = sizeof(entry), .sh_info = count, .sh_addralign = 1}};
    names.sh_offset = size_B;
    for (uint32_t i = 0; i < 2; i++) {
        added[i].sh_name = (uint32_t)names.sh_size;
        strcpy((char *)out + size_B + names.sh_size, debug_names[i]);
        names.sh_size += strlen(debug_names[i]) + 1;
    }
    size_B += (uint32_t)names.sh_size;
    added[0].sh_offset = size_B;
    added[1].sh_offset = size_B + added[0].sh_size;
    memcpy(out + added[1].sh_offset, &entry, sizeof(entry));
    size_B += (uint32_t)(added[0].sh_size + added[1].sh_size);
    memcpy(out + size_B, elf.data + ehdr.e_shoff, count * sizeof(names));
    memcpy(out + size_B + ehdr.e_shstrndx * sizeof(names), &names, sizeof(names));
    memcpy(out + size_B + count * sizeof(names), added, sizeof(added));
    ehdr.e_shoff = size_B;
    ehdr.e_shnum = (uint16_t)(count + 2);
    memcpy(out, &ehdr, sizeof(ehdr));
    return (struct zs_span){out, size_B + (count + 2) * sizeof(names)};
}

/* Sections of debug information and their relocations: how many, and their bytes. */
static uint32_t debug_sections(struct zs_span elf, uint64_t *ret_B)
{
    Elf64_Ehdr ehdr;
    uint32_t found = 0;
    memcpy(&ehdr, elf.data, sizeof(ehdr));
    Elf64_Shdr names = header_of(elf, ehdr.e_shstrndx);
    *ret_B = 0;
    for (uint32_t i = 1; i < ehdr.e_shnum; i++) {
        Elf64_Shdr s = header_of(elf, i);
        const char *name = (const char *)elf.data + names.sh_offset + s.sh_name;
        if (strcmp(name, debug_names[0]) && strcmp(name, debug_names[1]))
            continue;
        found++;
        *ret_B += s.sh_size;
    }
    return found;
}

static void check(ze_module_handle_t module, const int *in, int *out, int factor, int more)
{
    run(module, "run", ITEMS, in, out);
    for (int i = 0; i < ITEMS; i++)
        CHECK(out[i] == (in[i] & 1 ? in[i] * factor + more : in[i] * 10));
}

/* It speaks of the code as it was: nothing of it is left, neither what it relocated. */
static void check_debug(struct zs_span app, const int *in, int *out)
{
    enum { INTELGT = 205 }; /* zebins; the other container is an ELF, too */
    uint64_t size_B;
    Elf64_Ehdr ehdr;
    memcpy(&ehdr, app.data, sizeof(ehdr));
    if (ehdr.e_machine != INTELGT)
        return;
    struct zs_span debug = with_debug(app), ten = redirected(debug, "ten");
    CHECK(debug_sections(debug, &size_B) == 2 && size_B > 0);
    CHECK(debug_sections(ten, &size_B) == 2 && size_B == 0);
    check(build(ten), in, out, 10, 0);
    zs_isa_code_free((void *)ten.data);
    free((void *)debug.data);
}

int main(int argc, char **argv)
{
    ze_driver_handle_t driver;
    uint32_t count = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *in_memory, *out_memory;
    CHECK(argc == 3 && !zeInit(0) && !zeDriverGet(&count, &driver));
    count = 1;
    CHECK(!zeDeviceGet(driver, &count, &device) && !zeContextCreate(driver, &desc, &context));
    CHECK(!zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, &in_memory));
    CHECK(!zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, &out_memory));
    int *in = in_memory, *out = out_memory;
    for (int i = 0; i < ITEMS; i++)
        in[i] = i * 7;
    struct zs_span app = slurp(argv[1]), tool = slurp(argv[2]);
    check(build(app), in, out, 1, 1);
    struct zs_span ten = redirected(app, "ten"), hundred = redirected(app, "hundred");
    check(build(ten), in, out, 10, 0);
    ze_module_handle_t linked[] = {build(hundred), build(tool)};
    CHECK(!zeModuleDynamicLink(2, linked, NULL));
    check(linked[0], in, out, 100, 0);
    run(linked[1], "told", 1, NULL, out);
    CHECK(out[0] == ITEMS / 2);
    check_debug(app, in, out);
    zs_isa_code_free((void *)ten.data);
    zs_isa_code_free((void *)hundred.data);
    free((void *)app.data);
    free((void *)tool.data);
    return 0;
}
