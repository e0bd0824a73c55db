/* SPDX-License-Identifier: MIT */
/*
 * The compiled tier: operations of a program as code of the host. docs/eu-compiled.md has the
 * whole picture.
 *
 * Two halves. In the compiler's process zs_eu_tier_emit() writes the program in LLVM's language,
 * and LLVM makes a blob of it: a checked header, a table of entries, code that needs no
 * relocations. In the user's process zs_eu_tier_install() maps a blob for a program that was
 * lowered from the same code: its handlers at block starts are the compiled ones then. Both lower
 * by themselves, so that an operation has the same number here and there.
 */
#ifndef ZS_EU_TIER_H
#define ZS_EU_TIER_H

#include "eu/eu.h"

#include "base/buf.h"

enum {
    ZS_EU_TIER_ENTRIES_MAX = 4096,
    ZS_EU_TIER_CODE_MAX_B = 64 << 20,
    ZS_EU_TIER_READ_ACC = (ZS_EU_GRF_FILE_MAX_B / 32 + 63) / 64,
    ZS_EU_TIER_READ_WORDS = ZS_EU_TIER_READ_ACC + 1,
    ZS_EU_TIER_OVERWRITES = 2,
};

/* A flag, behind ZS_EU_LOWER_*, of a program that is to be compiled: blocks have two versions. */
enum { ZS_EU_TIER_LOWER = 1 << 13 };

struct zs_eu_tier_options {
    bool keeps_state;   /* all registers are as the interpreter's at every exit: for tests */
    uint32_t payload_B; /* registers behind these are zero where threads start */
    /* of threads of a series: bytes from the second register on are a thread's own; what else is, a
     * bit each: dwords of r0, ... */
    uint32_t own_B, own;
    /* What is worth it: ZS_EU_SEEN_*, a byte a block; of another size: all. Not in the request. */
    struct zs_span seen;
};
enum { ZS_EU_OWN_STATE = 1 << 8 }; /* ... sr0.0 and msg0 */

/* An entry: the operation where it begins, and the place of its code. */
struct zs_eu_tier_entry {
    uint32_t op, code_B;
};

/* What a module of LLVM's was written from: functions e0, e1 ... The code of an entry is the number
 * of its function, until that has been placed. */
struct zs_eu_tier_module {
    struct zs_buf text;
    /* 32 bytes each of the register file that a thread's start has to find zero: with any lanes,
     * with all; all, where the code is not compiled. In the last word: 1, or no accumulator; and
     * whether barriers store over any of it, or of what the environment gave the thread */
    uint64_t read[2][ZS_EU_TIER_READ_WORDS];
    struct zs_span seen; /* of the options, or empty */
    uint32_t entry_count, function_count;
    struct zs_eu_tier_entry entries[ZS_EU_TIER_ENTRIES_MAX];
};

/* 0; -E2BIG: it is too long for a function, as are its loops; -ENOTSUP: it was not lowered with
 * ZS_EU_TIER_LOWER; -ENOMEM. */
int zs_eu_tier_emit(const struct zs_eu_program *program, const struct zs_eu_tier_options *options,
                    struct zs_eu_tier_module *ret);
/* The version of the clang that made the rows: the first LLVM that reads what is written. */
extern const unsigned zs_eu_rows_llvm;
/* Of an installed one, as options.seen; NULL: all. It lives as long as the program. */
const uint8_t *zs_eu_tier_seen(const struct zs_eu_program *program);
/* Ways of messages that it has not, added to what was seen: about how many instructions they have
 * cost since the last call. */
uint64_t zs_eu_tier_strays(const struct zs_eu_program *program, uint8_t *seen);

/* A request to the compiler's process, and back. Spans point into the bytes. */
struct zs_eu_tier_request {
    struct zs_eu_lower_params params;
    struct zs_eu_tier_options options;
    struct zs_eu_registers registers;
    struct zs_eu_segment *segments;
    uint32_t *targets_B;
};
void zs_eu_tier_request_put(const struct zs_eu_lower_params *params,
                            const struct zs_eu_tier_options *options, struct zs_buf *ret);
int zs_eu_tier_request_parse(struct zs_span bytes, struct zs_eu_tier_request *ret);
void zs_eu_tier_request_fini(struct zs_eu_tier_request *request);

/* A blob from code and entries; install: 0, -EBADMSG: it is none for this program, with a sentence;
 * -EACCES: no memory that may be executed; -ENOMEM. No thread may be of the program yet. */
void zs_eu_tier_blob_put(const struct zs_eu_program *program,
                         const struct zs_eu_tier_module *module, struct zs_span code,
                         struct zs_buf *ret);
int zs_eu_tier_install(struct zs_eu_program *program, struct zs_span blob, struct zs_diag *diag);

/*
 * zs_eu_thread_restart() of a thread in whose registers all is still there that it began with, what
 * the environment gave it, too: compiled code ran from its start to its end, and at barriers stored
 * over nothing of it but the first register and what is a thread's own, which the environment gives
 * anew. false: it is not so.
 */
bool zs_eu_thread_repeat(struct zs_eu_thread *t, const struct zs_eu_program *program,
                         uint32_t dispatch_mask);

/* Whether this host may have compiled code at all; else ret_why says why not. */
bool zs_eu_tier_possible(const char **ret_why);
/* For tests and reports: how often threads came in. */
uint64_t zs_eu_tier_code_B(const struct zs_eu_program *program);

#endif
