/* SPDX-License-Identifier: MIT */
/*
 * Return addresses of host backtraces (record/trace_reader.h) in words: function, file and line.
 *
 * The collector notes which files were mapped where, with their build ids, in
 * trace/<pid>-<ordinal>.maps; `zescope record` looks the addresses up with libdw when the
 * application has ended and keeps the words in trace/<pid>-<ordinal>.symbols. Where that is missing
 * (zescope was killed), they are looked up in the files of this machine, if their build ids are the
 * same.
 */
#ifndef ZS_SYMBOLS_SYMBOLS_H
#define ZS_SYMBOLS_SYMBOLS_H

#include "base/diag.h"

struct zs_symbols;

struct zs_symbol_frame {
    const char *function; /* NULL: not known */
    const char *file;     /* of the source, NULL: not known */
    uint32_t line;        /* 0: not known */
    const char *module;   /* path of the mapped file, NULL: not known */
    uint64_t offset_B;    /* into the module: address - where it was loaded; else the address */
    bool is_inline;       /* inlined into the frame behind it */
};

/* 0, -errno with a sentence. A recording without backtraces has no symbols. */
int zs_symbols_open(const char *recording, struct zs_symbols **ret_symbols, struct zs_diag *diag);
void zs_symbols_close(struct zs_symbols *symbols);

/* The frames that a return address stands for, inlined ones first; at least one. They live as long
 * as the symbols. process: ordinal << 32 | pid, as in the files' names (record/activities.h). Not
 * from several threads at once. 0: out of memory. */
uint32_t zs_symbols_frames(struct zs_symbols *symbols, uint64_t process, uint64_t pc,
                           const struct zs_symbol_frame **ret_frames);
/* "main at app.c:12", "libfoo.so+0x1234": like snprintf. */
size_t zs_symbol_format(const struct zs_symbol_frame *frame, char *ret_text, size_t size_B);

/* Look all addresses of a recording up and keep the words there. 0 or -errno with a sentence. */
int zs_symbols_store(const char *recording, struct zs_diag *diag);

#endif
