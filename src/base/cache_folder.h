/* SPDX-License-Identifier: MIT */
#ifndef ZS_BASE_CACHE_FOLDER_H
#define ZS_BASE_CACHE_FOLDER_H

/* Where what can be made again is kept, an absolute path; it may not be there yet. told: by the
 * user (ZESCOPE_CACHE_DIR), "" for none; NULL: zescope in XDG_CACHE_HOME or ~/.cache, when that is
 * this user's: under sudo it may not be. To be freed; NULL: there is none, or no memory. */
char *zs_cache_folder(const char *told);

#endif
