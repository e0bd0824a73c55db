/* SPDX-License-Identifier: MIT */
/* What tools that instrument kernels want to know of them. */
#include "driver/module/module.h"

#include "isa/register_use.h"

#include <errno.h>
#include <zescope/driver_ext.h>

/* Registers that come with a thread. */
static uint32_t payload_grfs(const struct zs_kernel *kernel)
{
    uint64_t grf_B = ZS_MAX(kernel->grf_B, 1u);
    return (uint32_t)(1 + (kernel->thread.per_thread_B + grf_B - 1) / grf_B +
                      (kernel->thread.cross_thread_B + grf_B - 1) / grf_B);
}

static uint32_t population(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/* Nothing is free where the code does not tell what it touches. */
static void count_free(const struct zs_kernel *kernel, const struct zs_isa_register_use *t,
                       zescope_profile_registers_t *ret)
{
    enum { FLAG_REGISTERS = 2, ADDRESS_WORDS = 16, ACCUMULATORS = 2 };
    ret->known = t->known;
    for (uint32_t reg = 1; t->known && reg < kernel->grf_count && reg < 256; reg++)
        if (!(t->grf[reg / 64] >> reg % 64 & 1))
            ret->generalMask[reg / 64] |= UINT64_C(1) << reg % 64;
    for (uint32_t w = 0; w < 4; w++)
        ret->freeGeneral += population(ret->generalMask[w]);
    for (uint32_t f = 0; t->known && f < FLAG_REGISTERS; f++)
        ret->freeFlags += (t->flags[f] & 0xffff ? 0u : 1u) + (t->flags[f] >> 16 ? 0u : 1u);
    if (!t->known)
        return;
    ret->freeAddress = ADDRESS_WORDS - population(t->address);
    ret->freeAccumulators = ACCUMULATORS - population(t->acc & ((1u << ACCUMULATORS) - 1));
}

static ze_result_t find_free(const struct zs_ze_kernel *kernel, zescope_profile_registers_t *ret)
{
    struct zs_isa_kernel *code;
    struct zs_isa_register_use touched;
    struct zs_diag diag = {0};
    enum zs_isa_platform platform = zs_isa_platform_from_device(kernel->module->image->device);
    ret->known = ret->freeGeneral = ret->freeFlags = 0;
    ret->freeAddress = ret->freeAccumulators = 0;
    for (uint32_t w = 0; w < 4; w++)
        ret->generalMask[w] = 0;
    if (!platform)
        platform = zs_isa_platform_from_gfxcore(kernel->module->image->gfxcore);
    const struct zs_isa_options options = {.size_B = sizeof(options),
                                           .grf_count = kernel->kernel->grf_count};
    int error = zs_isa_kernel_open(platform, kernel->kernel->code, &options, &code, &diag);
    if (error)
        return error == -ENOMEM ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
    error = zs_isa_kernel_decode(code, ZS_ISA_INSTS | ZS_ISA_BLOCKS, &diag);
    if (!error) {
        zs_isa_kernel_register_use(code, payload_grfs(kernel->kernel), &touched);
        count_free(kernel->kernel, &touched, ret);
    }
    zs_isa_kernel_close(code);
    return error ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetKernelGetProfileInfo(zet_kernel_handle_t hKernel,
                                               zet_profile_properties_t *pProfileProperties)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pProfileProperties);
    pProfileProperties->flags = kernel->module->profile_flags;
    /* tokens would stand behind a structure of which nobody says how large it is */
    pProfileProperties->numTokens = 0;
    zescope_profile_registers_t *registers = (void *)zs_chain_find(
        pProfileProperties->pNext, (ze_structure_type_t)ZESCOPE_STRUCTURE_TYPE_PROFILE_REGISTERS);
    return registers ? find_free(kernel, registers) : ZE_RESULT_SUCCESS;
}
