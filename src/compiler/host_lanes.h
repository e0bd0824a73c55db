/* SPDX-License-Identifier: MIT */
/* Part of host_code.c: masks of lanes, for hosts that have no registers for them. */
#ifndef ZS_COMPILER_HOST_LANES_H
#define ZS_COMPILER_HOST_LANES_H

typedef struct opaque *zs_host_ref; /* anything of LLVM's */

/* As LLVM's headers declare them. */
#define ZS_HOST_LANES_FUNCTIONS(X)                                                                 \
    X(zs_host_ref, LLVMGetFirstFunction, (zs_host_ref))                                            \
    X(zs_host_ref, LLVMGetNextFunction, (zs_host_ref))                                             \
    X(zs_host_ref, LLVMGetFirstBasicBlock, (zs_host_ref))                                          \
    X(zs_host_ref, LLVMGetNextBasicBlock, (zs_host_ref))                                           \
    X(zs_host_ref, LLVMGetFirstInstruction, (zs_host_ref))                                         \
    X(zs_host_ref, LLVMGetNextInstruction, (zs_host_ref))                                          \
    X(int, LLVMGetInstructionOpcode, (zs_host_ref))                                                \
    X(zs_host_ref, LLVMGetOperand, (zs_host_ref, unsigned))                                        \
    X(zs_host_ref, LLVMTypeOf, (zs_host_ref))                                                      \
    X(int, LLVMGetTypeKind, (zs_host_ref))                                                         \
    X(unsigned, LLVMGetIntTypeWidth, (zs_host_ref))                                                \
    X(unsigned, LLVMGetVectorSize, (zs_host_ref))                                                  \
    X(zs_host_ref, LLVMInt32TypeInContext, (zs_host_ref))                                          \
    X(zs_host_ref, LLVMVectorType, (zs_host_ref, unsigned))                                        \
    X(zs_host_ref, LLVMConstInt, (zs_host_ref, unsigned long long, int))                           \
    X(zs_host_ref, LLVMConstNull, (zs_host_ref))                                                   \
    X(zs_host_ref, LLVMConstVector, (zs_host_ref *, unsigned))                                     \
    X(zs_host_ref, LLVMGetUndef, (zs_host_ref))                                                    \
    X(zs_host_ref, LLVMCreateBuilderInContext, (zs_host_ref))                                      \
    X(void, LLVMDisposeBuilder, (zs_host_ref))                                                     \
    X(void, LLVMPositionBuilderBefore, (zs_host_ref, zs_host_ref))                                 \
    X(zs_host_ref, LLVMBuildZExt, (zs_host_ref, zs_host_ref, zs_host_ref, const char *))           \
    X(zs_host_ref, LLVMBuildAnd, (zs_host_ref, zs_host_ref, zs_host_ref, const char *))            \
    X(zs_host_ref, LLVMBuildICmp, (zs_host_ref, int, zs_host_ref, zs_host_ref, const char *))      \
    X(zs_host_ref, LLVMBuildInsertElement,                                                         \
      (zs_host_ref, zs_host_ref, zs_host_ref, zs_host_ref, const char *))                          \
    X(zs_host_ref, LLVMBuildShuffleVector,                                                         \
      (zs_host_ref, zs_host_ref, zs_host_ref, zs_host_ref, const char *))                          \
    X(void, LLVMReplaceAllUsesWith, (zs_host_ref, zs_host_ref))                                    \
    X(void, LLVMInstructionEraseFromParent, (zs_host_ref))

struct zs_host_lanes {
#define X(type, name, args) type(*name) args;
    ZS_HOST_LANES_FUNCTIONS(X)
#undef X
};

/* Bits that become lanes are compared with each lane's own: LLVM would take them one by one. */
void zs_host_lanes_spread(const struct zs_host_lanes *l, zs_host_ref context, zs_host_ref module);

#endif
