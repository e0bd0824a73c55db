/* SPDX-License-Identifier: MIT */
/*
 * Files that remember, in a folder of the user's: FOLDER/X/KEY, X the first hex digit of KEY.
 *
 * Any number of processes use it at once, and it may hold anything: files are written under another
 * name and renamed, and carry their key and a checksum; what does not fit is removed and taken as
 * not there. The folder and its files must be this user's. Each of the sixteen parts has a
 * sixteenth of the room; what was used longest ago goes first.
 */
#ifndef ZS_COMPILER_DISK_H
#define ZS_COMPILER_DISK_H

#include "base/buf.h"
#include "base/sha256.h"

struct zs_disk {
    char *folder; /* NULL: nothing is remembered */
    uint64_t limit_B;
};

/* The folder (NULL: the user's own; "": none); copies it. What does not work is as good as none. */
void zs_disk_init(struct zs_disk *disk, const char *folder, uint64_t limit_B);
void zs_disk_fini(struct zs_disk *disk);
bool zs_disk_get(const struct zs_disk *disk, const uint8_t key[ZS_SHA256_B],
                 struct zs_buf *ret_bytes);
void zs_disk_put(const struct zs_disk *disk, const uint8_t key[ZS_SHA256_B], struct zs_span bytes);

#endif
