/* SPDX-License-Identifier: MIT */
/* What is inside a module, as text and as JSON (docs/schema-inspect.md). */
#ifndef ZS_REPORT_INSPECT_H
#define ZS_REPORT_INSPECT_H

#include "report/annotate.h"

struct zs_inspect_options {
    const char *input; /* as the user named it */
    bool color;        /* text only */
    bool details;      /* text only: everything about each kernel, not only the table */
    bool tokens;       /* patch tokens with their fields, text of .ze_info; text: implies details */
    /* Which images and kernels are shown; NULL: all. */
    bool (*want_image)(void *user, const struct zs_image *image);
    bool (*want_kernel)(void *user, const struct zs_kernel *kernel);
    void *want_user;
};

/* Written in pieces: memory does not grow with the output. 0, -ENOMEM, or what `write` returned. */
int zs_report_inspect_text(const struct zs_module *module, const struct zs_inspect_options *options,
                           zs_write_fn *write, void *user);
int zs_report_inspect_json(const struct zs_module *module, const struct zs_inspect_options *options,
                           zs_write_fn *write, void *user);

/* Words of the module model, shared by both views. */
const char *zs_inspect_arg_kind(enum zs_arg_kind kind);
const char *zs_inspect_space(enum zs_address_space space);
const char *zs_inspect_access(enum zs_access access);
const char *zs_inspect_image_type(enum zs_image_type type);
const char *zs_inspect_sampler_address(enum zs_sampler_address address);
const char *zs_inspect_place(enum zs_place_kind kind);
const char *zs_inspect_buffer(enum zs_buffer_kind kind);
const char *zs_inspect_debug(enum zs_debug_kind kind);
/* "stateless", ...: names of enum zs_address_mode and zs_type_qualifier bits, NULL at the end. */
const char *zs_inspect_mode(uint32_t index);
const char *zs_inspect_qualifier(uint32_t index);

#endif
