/* SPDX-License-Identifier: MIT */
#ifndef ZS_RECORD_RECORDING_PRIV_H
#define ZS_RECORD_RECORDING_PRIV_H

#include <zescope/record.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/name_map.h"
#include "base/vec.h"

#include <jansson.h>

enum {
    META_MAX_B = 4 << 20,
    LINE_MAX_B = 8 << 20,
    EVENTS_FILE_MAX_B = 64 << 20,
    PROCESSES_MAX = 1 << 16,
    NOTES_MAX = 10000,
};
#define ARENA_MAX_B ((size_t)1 << 30)

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

struct zs_recording {
    struct zs_arena arena;
    struct zs_recording_info info;
    bool is_emulated;                   /* Intel's drivers were on the software GPU */
    int dir_fd, modules_fd, sources_fd; /* -1: not there */
    VEC(struct zs_record_process) processes;
    VEC(uint32_t) ordinals; /* of the processes */
    VEC(struct zs_record_device) devices;
    VEC(struct zs_record_device_shape) shapes; /* of the devices */
    VEC(struct zs_record_build) builds;
    VEC(struct zs_record_module) modules;
    VEC(struct zs_record_source) sources;
    VEC(struct zs_record_note) notes;
    struct zs_name_map device_by_key, module_by_key, source_by_path;
    struct zs_name_map build_by_id; /* of the process that is being read */
    struct zs_name_map build_by_handle;
    bool out_of_memory; /* sticks; opening fails in the end */
};

/* recording.c */
void recording_note(struct zs_recording *r, uint32_t process, const char *format, ...)
    ZS_PRINTF(3, 4);

/* json.c: members of an object that may lack them or have them of another type */
const char *member_text(struct zs_recording *r, const json_t *object, const char *key);
uint64_t member_u64(const json_t *object, const char *key, uint64_t max);
uint64_t member_hex(const json_t *object, const char *key);
/* An array of strings; others in it are left out. */
const char *const *member_texts(struct zs_recording *r, const json_t *object, const char *key,
                                uint32_t *ret_count);
/* A "blob" of the folder that fd is open on: its file is checked to be there. */
struct zs_record_blob member_blob(struct zs_recording *r, const json_t *object, const char *key,
                                  int fd, const char *folder, uint32_t process);
json_t *parse_json(struct zs_span text, struct zs_diag *diag);

/* events.c */
void read_process(struct zs_recording *r, int process_fd, uint32_t process);

#endif
