/* SPDX-License-Identifier: MIT */
/*
 * The generated dispatch tables (gen_ddi.py) and what they need. Functions of the API are defined
 * under their own names; the version script keeps all but the table getters inside the library.
 */
#ifndef ZS_DRIVER_DDI_H
#define ZS_DRIVER_DDI_H

#include "base/compiler.h"

/* the installed headers, and what specifications after theirs declare */
#include "api_calls.h"

#include <stddef.h>

/* Logs which function the program wanted; returns ZE_RESULT_ERROR_UNSUPPORTED_FEATURE. */
ze_result_t zs_ddi_unsupported(const char *function);
/* Of the extensions, and of later specifications; NULL: there is none of this name. */
void *zs_ddi_function(const char *name);
/* One function of a table. */
struct zs_ddi_entry {
    uint32_t index, since, not_in; /* where it stands; from which version on, but for one */
    void *plain, *traced;
};
/* Fill the entries that a table of that version has. */
ze_result_t zs_ddi_fill(uint32_t version, void **table, const struct zs_ddi_entry *entries,
                        size_t count);

#endif
