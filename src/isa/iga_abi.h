/* SPDX-License-Identifier: MIT */
/*
 * The C functions of libiga64 1.1 (package libigc1 1.0.12504) that this project calls.
 *
 * Intel's headers iga/iga.h and iga/kv.h need a C++ compiler (default arguments, scoped enums)
 * although the functions have C linkage. Enums have the size of int there; bool is C's bool.
 * Nothing outside src/isa includes this.
 *
 * Never call kv_get_message_type and kv_get_message_type_ext: they follow a wild pointer on Gen8
 * sends (see docs/isa.md).
 */
#ifndef ZS_ISA_IGA_ABI_H
#define ZS_ISA_IGA_ABI_H

#include "base/compiler.h"

struct kv_t;
typedef void *iga_context_t;

enum { IGA_SUCCESS = 0, IGA_OUT_OF_MEM = 3, IGA_DECODE_ERROR = 4 };
enum { KV_SUCCESS = 0 };
enum { KV_OPGROUP_SEND_EOT = 6 };
/* iga::InstOpt */
enum {
    IGA_INSTOPT_ACCWREN = 0,
    IGA_INSTOPT_ATOMIC = 1,
    IGA_INSTOPT_BREAKPOINT = 2,
    IGA_INSTOPT_EOT = 4,
    IGA_INSTOPT_SWITCH = 10,
};
/* iga::Kind */
enum {
    IGA_KIND_DIRECT = 1,
    IGA_KIND_MACRO = 2,
    IGA_KIND_INDIRECT = 3,
    IGA_KIND_IMMEDIATE = 4,
    IGA_KIND_LABEL = 5,
};

typedef struct {
    size_t cb;
    int gen;
} iga_context_options_t;

typedef struct {
    uint32_t cb;
    uint32_t formatting_opts;
    uint32_t reserved0, reserved1;
    uint32_t decoder_opts;
    uint32_t base_pc_offset;
} iga_disassemble_options_t;
_Static_assert(sizeof(iga_disassemble_options_t) == 24, "as libiga64 expects it");

/* What `iga64 -d` asks for: bfn with its expression instead of a number. */
enum { IGA_FORMATTING_OPTS_LISTING = 0x80 };

typedef const char *(*iga_label_fn)(int32_t pc, void *env);

const char *iga_version_string(void);
int iga_context_create(const iga_context_options_t *opts, iga_context_t *ctx);
int iga_context_release(iga_context_t ctx);
int iga_context_disassemble(iga_context_t ctx, const iga_disassemble_options_t *opts,
                            const void *input, uint32_t input_size, iga_label_fn label,
                            void *label_env, char **kernel_text);

int iga_context_disassemble_instruction(iga_context_t ctx, const iga_disassemble_options_t *opts,
                                        const void *input, iga_label_fn label, void *label_env,
                                        char **kernel_text);

struct kv_t *kv_create(int gen, const void *bytes, size_t bytes_len, int *status, char *errbuf,
                       size_t errbuf_cap, uint32_t swsb_mode);
void kv_delete(struct kv_t *kv);
int32_t kv_get_inst_size(const struct kv_t *kv, int32_t pc);
bool kv_has_inst_opt(const struct kv_t *kv, int32_t pc, uint32_t opt);
uint32_t kv_get_inst_targets(const struct kv_t *kv, int32_t pc, int32_t *pcs);
size_t kv_get_inst_syntax(const struct kv_t *kv, int32_t pc, char *sbuf, size_t sbuf_cap,
                          uint32_t fmt_opts, iga_label_fn label, void *env);
int32_t kv_get_opgroup(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_opcode(const struct kv_t *kv, int32_t pc);
int kv_get_subfunction(const struct kv_t *kv, int32_t pc, uint32_t *subfunc);
uint32_t kv_get_execution_size(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_channel_offset(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_mask_control(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_predicate(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_is_inverse_predicate(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_flag_modifier(const struct kv_t *kv, int32_t pc);
int32_t kv_get_flag_register(const struct kv_t *kv, int32_t pc);
int32_t kv_get_flag_sub_register(const struct kv_t *kv, int32_t pc);
int32_t kv_get_number_sources(const struct kv_t *kv, int32_t pc);

int32_t kv_get_has_destination(const struct kv_t *kv, int32_t pc);
int32_t kv_get_destination_register(const struct kv_t *kv, int32_t pc);
int32_t kv_get_destination_sub_register(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_destination_data_type(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_destination_register_type(const struct kv_t *kv, int32_t pc);
uint32_t kv_get_destination_register_kind(const struct kv_t *kv, int32_t pc);
int32_t kv_get_destination_region(const struct kv_t *kv, int32_t pc, uint32_t *hz);
int32_t kv_get_destination_indirect_imm_off(const struct kv_t *kv, int32_t pc, int16_t *offset);
int32_t kv_get_destination_mme_number(const struct kv_t *kv, int32_t pc, int16_t *mme);
uint32_t kv_get_destination_modifier(const struct kv_t *kv, int32_t pc);

int32_t kv_get_source_register(const struct kv_t *kv, int32_t pc, uint32_t src);
int32_t kv_get_source_sub_register(const struct kv_t *kv, int32_t pc, uint32_t src);
uint32_t kv_get_source_data_type(const struct kv_t *kv, int32_t pc, uint32_t src);
uint32_t kv_get_source_register_type(const struct kv_t *kv, int32_t pc, uint32_t src);
uint32_t kv_get_source_register_kind(const struct kv_t *kv, int32_t pc, uint32_t src);
int32_t kv_get_source_region(const struct kv_t *kv, int32_t pc, uint32_t src, uint32_t *vt,
                             uint32_t *wi, uint32_t *hz);
int32_t kv_get_source_immediate(const struct kv_t *kv, int32_t pc, uint32_t src, uint64_t *imm);
int32_t kv_get_source_indirect_imm_off(const struct kv_t *kv, int32_t pc, uint32_t src,
                                       int16_t *offset);
int32_t kv_get_source_mme_number(const struct kv_t *kv, int32_t pc, uint32_t src, int16_t *mme);
uint32_t kv_get_source_modifier(const struct kv_t *kv, int32_t pc, uint32_t src);

uint32_t kv_get_send_descs(const struct kv_t *kv, int32_t pc, uint32_t *ex_desc, uint32_t *desc);
uint32_t kv_get_message_len(const struct kv_t *kv, int32_t pc, uint32_t *mlen, uint32_t *xlen,
                            uint32_t *rlen);
int kv_get_message_sfid(const struct kv_t *kv, int32_t pc, int32_t *sfid);
int kv_get_send_exbso(const struct kv_t *kv, int32_t pc, int32_t *exbso);

#endif
