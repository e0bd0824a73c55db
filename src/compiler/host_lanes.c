/* SPDX-License-Identifier: MIT */
#include "compiler/host_lanes.h"

#include <stdbool.h>
#include <stddef.h>

enum { LANES_MAX = 16 };
/* As LLVM numbers them. */
enum { OP_BIT_CAST = 41, KIND_INTEGER = 8, KIND_VECTOR = 13, IS_EQUAL = 32 };

/* How many lanes the bits of a number become. */
static unsigned lanes_of(const struct zs_host_lanes *l, zs_host_ref inst)
{
    if (l->LLVMGetInstructionOpcode(inst) != OP_BIT_CAST)
        return 0;
    zs_host_ref to = l->LLVMTypeOf(inst), from = l->LLVMTypeOf(l->LLVMGetOperand(inst, 0));
    if (l->LLVMGetTypeKind(to) != KIND_VECTOR || l->LLVMGetTypeKind(from) != KIND_INTEGER)
        return 0;
    unsigned n = l->LLVMGetVectorSize(to);
    return n <= LANES_MAX && l->LLVMGetIntTypeWidth(from) == n ? n : 0;
}

static void spread(const struct zs_host_lanes *l, zs_host_ref context, zs_host_ref builder,
                   zs_host_ref inst, unsigned n)
{
    zs_host_ref dword = l->LLVMInt32TypeInContext(context), bits[LANES_MAX];
    zs_host_ref zero = l->LLVMConstInt(dword, 0, 0), type = l->LLVMVectorType(dword, n);

    for (unsigned i = 0; i < n; i++)
        bits[i] = l->LLVMConstInt(dword, 1ull << i, 0);
    zs_host_ref own = l->LLVMConstVector(bits, n), none = l->LLVMGetUndef(type);
    l->LLVMPositionBuilderBefore(builder, inst);
    zs_host_ref v = l->LLVMBuildZExt(builder, l->LLVMGetOperand(inst, 0), dword, "");
    v = l->LLVMBuildInsertElement(builder, none, v, zero, "");
    v = l->LLVMBuildShuffleVector(builder, v, none, l->LLVMConstNull(type), "");
    v = l->LLVMBuildAnd(builder, v, own, "");
    l->LLVMReplaceAllUsesWith(inst, l->LLVMBuildICmp(builder, IS_EQUAL, v, own, ""));
    l->LLVMInstructionEraseFromParent(inst);
}

void zs_host_lanes_spread(const struct zs_host_lanes *l, zs_host_ref context, zs_host_ref module)
{
    zs_host_ref builder = l->LLVMCreateBuilderInContext(context), function, block, inst, next;

    for (function = l->LLVMGetFirstFunction(module); function;
         function = l->LLVMGetNextFunction(function)) {
        for (block = l->LLVMGetFirstBasicBlock(function); block;
             block = l->LLVMGetNextBasicBlock(block)) {
            for (inst = l->LLVMGetFirstInstruction(block); inst; inst = next) {
                next = l->LLVMGetNextInstruction(inst);
                unsigned n = lanes_of(l, inst);
                if (n)
                    spread(l, context, builder, inst, n);
            }
        }
    }
    l->LLVMDisposeBuilder(builder);
}
