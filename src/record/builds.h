/* SPDX-License-Identifier: MIT */
/* Which build a record names: kernels and counts hold the id that it has in its process. */
#ifndef ZS_RECORD_BUILDS_H
#define ZS_RECORD_BUILDS_H

#include <zescope/record.h>

/* Of the process in the recording, in names of its files; ZS_RECORD_NONE: not known. */
uint32_t zs_recording_ordinal(const struct zs_recording *recording, uint32_t process);

/* process: its ordinal in the recording << 32 | its pid, which others may have had, too. Where one
 * of the two sides does not know ordinals (ZS_RECORD_NONE), the process of that pid that was the
 * last to begin by then is taken. NULL: not known. */
const struct zs_record_build *zs_recording_find_build(const struct zs_recording *recording,
                                                      uint64_t process, uint64_t build_id,
                                                      uint64_t time_ns);

/* What tells modules of a recording apart in tables and links: the first digits of the hash of the
 * native binary; "" where there is none. */
enum { ZS_MODULE_NAME_CHARS = 13 };
void zs_record_module_name(const struct zs_record_module *module,
                           char ret_name[ZS_MODULE_NAME_CHARS]);

/* Why a module that was built so has no debug info, and what to do: a sentence that lives as long
 * as the program. */
const char *zs_record_debug_advice(const struct zs_recording *recording,
                                   const struct zs_record_module *module);

#endif
