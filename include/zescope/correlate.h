/* SPDX-License-Identifier: MIT */
/*
 * zescope: debug info of GPU code (<zescope/dwarf.h>, which this includes) joined to its
 * instructions and to the source text.
 *
 * Offsets are bytes from the kernel's first instruction.
 */
#ifndef ZESCOPE_CORRELATE_H
#define ZESCOPE_CORRELATE_H

#include <zescope/dwarf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the join ---- */

/* One source line of one kernel. */
struct zs_join_line {
    uint32_t file; /* index into the kernel's files */
    uint32_t line;
    uint32_t run_first, run_count; /* in runs */
    uint32_t inst_count;
};
/* Consecutive instructions. */
struct zs_join_run {
    uint32_t first, count;
};

struct zs_join {
    uint32_t count;                   /* instructions */
    const uint32_t *row;              /* per instruction: index into rows, or ZS_NO_INDEX */
    const uint32_t *scope;            /* per instruction: innermost scope, or ZS_NO_INDEX */
    const struct zs_join_line *lines; /* by file, then line */
    uint32_t line_count;
    const struct zs_join_run *runs;
};

/* offsets[count]: where instructions start, ascending. Cost grows with instructions, rows and
 * ranges. 0 or -ENOMEM. The result lives until zs_join_free. */
ZS_API int zs_join(const struct zs_dwarf_kernel *kernel, const uint32_t *offsets, uint32_t count,
                   struct zs_join **ret_join);
ZS_API void zs_join_free(struct zs_join *join);
/* The line's entry, or NULL when no code belongs to it. */
ZS_API const struct zs_join_line *zs_join_find_line(const struct zs_join *join, uint32_t file,
                                                    uint32_t line);

/* ---- source text ---- */

struct zs_path_map {
    const char *from, *to; /* path prefixes */
};

/* A source that is already at hand (a recording's copy). */
struct zs_source_provider {
    void *user;
    /* 0 and text that lives as long as the sources, -ENOENT, or another -errno */
    int (*find)(void *user, const char *path, struct zs_span *ret_text);
};

struct zs_source_options {
    size_t size_B;                  /* sizeof(struct zs_source_options) */
    const char *const *search_dirs; /* --source-path: tried with ever shorter ends of the path */
    size_t search_dir_count;
    const struct zs_path_map *maps; /* --path-map: the first one that matches applies */
    size_t map_count;
    int64_t module_mtime_s; /* of the module: a source that is newer gets a note; 0: not known */
    struct zs_source_provider provider; /* find may be NULL */
};

struct zs_source {
    const char *path;  /* as the debug info names it */
    const char *found; /* where it was read, or NULL */
    const char *note;  /* missing, newer, different: a sentence; or NULL */
    struct zs_span text;
    const uint32_t *line_offsets; /* [line_count + 1] byte offsets of lines in text */
    uint32_t line_count;
};

struct zs_sources;
/* The options and what they point to are borrowed until zs_sources_close. */
ZS_API int zs_sources_open(const struct zs_source_options *options, struct zs_sources **ret);
ZS_API void zs_sources_close(struct zs_sources *sources);
/* Never NULL but for lack of memory: a source that is not found has a note. `file` may carry an
 * MD5 to compare with. One file is read once. Not thread-safe. */
ZS_API const struct zs_source *zs_sources_get(struct zs_sources *sources,
                                              const struct zs_dwarf_file *file);
/* A line's text without its newline; empty for lines that are not there. */
ZS_API struct zs_span zs_source_line(const struct zs_source *source, uint32_t line);

#ifdef __cplusplus
}
#endif

#endif
