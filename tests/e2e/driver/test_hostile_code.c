/* SPDX-License-Identifier: MIT */
/*
 * Modules whose machine code is not what a compiler made: random bytes, flipped bits, instructions
 * out of their order, random messages. Kernels may fault or be stopped; the program's memory stays
 * as it is, and a new context works. E2E_ROUNDS: how many modules, E2E_SEED: the first one's.
 */
#include "kernels.h"

#include <elf.h>

enum { BUFFER_B = 1 << 16, GUARD_B = 1 << 20, ROUNDS = 40, KERNELS_MAX = 3, INST_B = 16 };

static uint8_t guard[GUARD_B];

static uint32_t roll(uint64_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 20) % below;
}

static void spoil_code(uint8_t *code, size_t size_B, uint64_t *state)
{
    uint32_t way = roll(state, 4), count = 1 + roll(state, 12);
    for (uint32_t i = 0; i < count && size_B >= 2 * INST_B; i++) {
        uint8_t *inst = code + roll(state, (uint32_t)(size_B / 8 - 1)) * 8;
        if (way == 0) {
            for (uint32_t k = 0; k < INST_B; k++)
                inst[k] = (uint8_t)roll(state, 256);
        } else if (way == 1) {
            inst[roll(state, INST_B)] ^= (uint8_t)(1u << roll(state, 8));
        } else if (way == 2) {
            memmove(inst, code + roll(state, (uint32_t)(size_B / INST_B)) * INST_B, INST_B);
        } else { /* a send: its message */
            inst[0] = (uint8_t)(0x31 + roll(state, 4));
            for (uint32_t k = 12; k < INST_B; k++)
                inst[k] = (uint8_t)roll(state, 256);
        }
    }
}

/* All kernels' code, in place. */
static void spoil(struct bytes *file, uint64_t *state)
{
    size_t spoilt = 0;
    Elf64_Ehdr header;
    Elf64_Shdr section, names;
    uint8_t *bytes = file->data;
    memcpy(&header, bytes, sizeof(header));
    assert_memory_equal(header.e_ident, ELFMAG, SELFMAG);
    memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
        const char *name = (const char *)bytes + names.sh_offset + section.sh_name;
        if (strncmp(name, ".text.", 6) != 0)
            continue;
        spoil_code(bytes + section.sh_offset, section.sh_size, state);
        spoilt++;
    }
    assert_true(spoilt > 0);
}

static void run_kernel(const struct e2e *e, ze_module_handle_t module, const char *name,
                       void *buffer)
{
    static uint8_t value[256] = {7, 0, 0, 0, 3};
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    ze_group_count_t groups = {2, 1, 1};
    ze_kernel_handle_t kernel;
    if (zeKernelCreate(module, &desc, &kernel) != ZE_RESULT_SUCCESS)
        return;
    ze_command_list_handle_t list = e2e_immediate(e, true);
    zeKernelSetGroupSize(kernel, 32, 1, 1);
    OK(zeKernelGetProperties(kernel, &properties));
    for (uint32_t i = 0; i < properties.numKernelArgs; i++) {
        if (zeKernelSetArgumentValue(kernel, i, sizeof(buffer), &buffer) == ZE_RESULT_SUCCESS)
            continue;
        if (zeKernelSetArgumentValue(kernel, i, 4, value) != ZE_RESULT_SUCCESS)
            zeKernelSetArgumentValue(kernel, i, 64, NULL); /* local memory */
    }
    (void)zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL);
    zeCommandListDestroy(list);
    zeKernelDestroy(kernel);
}

static void run_round(const struct e2e *outer, const struct bytes *file, uint64_t *state)
{
    struct e2e e = *outer;
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct bytes spoilt = {.data = malloc(file->size), .size = file->size};
    const char *names[256];
    uint32_t count = 0;
    ze_module_handle_t module;
    assert_non_null(spoilt.data);
    memcpy(spoilt.data, file->data, file->size);
    spoil(&spoilt, state);
    OK(zeContextCreate(e.driver, &context, &e.context));
    void *buffer = e2e_alloc(&e, BUFFER_B);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = spoilt.size,
                             .pInputModule = spoilt.data};
    if (zeModuleCreate(e.context, e.device, &desc, &module, NULL) == ZE_RESULT_SUCCESS) {
        OK(zeModuleGetKernelNames(module, &count, NULL));
        count = count > COUNT(names) ? COUNT(names) : count;
        OK(zeModuleGetKernelNames(module, &count, names));
        for (uint32_t k = 0; k < KERNELS_MAX; k++)
            run_kernel(&e, module, names[roll(state, count)], buffer);
        zeModuleDestroy(module);
    }
    (void)zeMemFree(e.context, buffer);
    (void)zeContextDestroy(e.context);
    free(spoilt.data);
}

static void test_hostile_code(void **state)
{
    const char *rounds = getenv("E2E_ROUNDS"), *first = getenv("E2E_SEED");
    uint32_t count = rounds ? (uint32_t)strtoul(rounds, NULL, 0) : ROUNDS;
    uint64_t seed = first ? strtoull(first, NULL, 0) : 1;
    struct bytes file = load("kernels.zebin");
    memset(guard, 0x5a, sizeof(guard));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t random = (seed + i) * 0x9e3779b97f4a7c15u;
        run_round(*state, &file, &random);
        for (size_t k = 0; k < sizeof(guard); k++)
            assert_int_equal(guard[k], 0x5a);
    }
    free(file.data);
}

/* And then what a compiler made still works. */
static void test_afterwards(void **state)
{
    struct e2e *e = *state;
    ze_module_handle_t module = make_module(e, "kernels.zebin");
    OK(zeModuleDestroy(module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_code),
        cmocka_unit_test(test_afterwards),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
