/* SPDX-License-Identifier: MIT */
/*
 * The generated dispatch tables (gen_ddi.py) and what they need. Functions of the API are defined
 * under their own names; the version script keeps all but the table getters inside the library.
 */
#ifndef ZS_DRIVER_DDI_H
#define ZS_DRIVER_DDI_H

#include "base/compiler.h"

#include <level_zero/ze_api.h>
/* after ze_api.h */
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>

#include "driver/later.h"

/* Logs which function the program wanted; returns ZE_RESULT_ERROR_UNSUPPORTED_FEATURE. */
ze_result_t zs_ddi_unsupported(const char *function);
/* Of the extensions, and of later specifications; NULL: there is none of this name. */
void *zs_ddi_function(const char *name);
/* Whether a table of that version can be filled. */
ze_result_t zs_ddi_check(ze_api_version_t version, const void *table);

#endif
