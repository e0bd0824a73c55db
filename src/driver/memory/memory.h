/* SPDX-License-Identifier: MIT */
/*
 * Memory of a context: ranges of host memory that kernels and copies may touch.
 *
 * A range leaves the context's tree at once when it is freed; its pages go when no command pins
 * them any more (gpu/memory.c). So a command that was recorded with freed memory finds nothing and
 * fails, and one that runs pins its pages.
 */
#ifndef ZS_DRIVER_MEMORY_MEMORY_H
#define ZS_DRIVER_MEMORY_MEMORY_H

#include "driver/driver_priv.h"
#include "driver/memory/pages.h"

enum { ZS_VIRTUAL_PAGE_B = 65536 }; /* of virtual and physical memory */

struct zs_range {
    uint64_t base;   /* gpu_va, also the host's address */
    uint64_t size_B; /* what was asked for */
    uint64_t id;
    enum zs_gpu_memory_kind kind;
    struct zs_ze_device *device; /* NULL: host memory */
    void *map;                   /* what to unmap, NULL: borrowed */
    size_t map_B;
    size_t guard_B;             /* addresses on either side of it that nobody gets */
    bool is_file;               /* not anonymous */
    struct zs_shared_file file; /* what is behind it then */
    bool may_shrink;            /* ... of somebody who may make it smaller ... */
    bool shrunk;                /* ... and has: kernels have it no more */
    struct zs_gpu_file *watched;
    struct zs_range *next; /* of the driver's that may */
    bool exported;         /* made for zeMemGetAllocProperties' file descriptor */
    bool ipc_opened;       /* of another process: zeMemCloseIpcHandle ends it */
    bool read_only;        /* copies must not write */
    uint64_t charged_B;    /* of the device's memory */
    const char *label;     /* who asked */
    uint64_t origin;       /* ... and where: report.h */
    uint32_t atomics;      /* ze_memory_atomic_attr_exp_flags_t: a hint that is told again */
    struct zs_gpu_memory *memory;
    struct zs_ze_driver *driver;
};

struct zs_range_desc {
    struct zs_ze_device *device; /* may be NULL */
    enum zs_gpu_memory_kind kind;
    uint64_t size_B;
    uint64_t alignment; /* 0: any */
    const char *label;  /* who asked, for reports: a literal */
    int fd;             /* map this memfd instead of making memory; owned on success. -1: none */
    bool exported;      /* make a memfd */
    bool ipc_opened;
    bool may_shrink;    /* pages are of a file that somebody may make smaller */
    bool relaxed;       /* more than the device's largest allocation is fine */
    uint32_t gpu_flags; /* ZS_GPU_ALLOCATION_* */
};

/* What the pNext chain of a descriptor asks for: export, import of size_B bytes, relaxed limits. */
ze_result_t zs_memory_external(const void *next, struct zs_range_desc *desc);
/* Fill the file descriptor that the pNext chain asks for, if it does. range: NULL, none found. */
ze_result_t zs_memory_export(const char *function, const void *next, const struct zs_range *range);
ze_result_t zs_memory_alloc(struct zs_ze_context *context, const struct zs_range_desc *desc,
                            void **ret_host);
/* Count bytes as used on a device (NULL: none); false: it has no more. Relaxed: it
 * always has. */
bool zs_memory_charge(struct zs_ze_device *device, uint64_t size_B, bool relaxed);
void zs_memory_discharge(struct zs_ze_device *device, uint64_t size_B);
/* Forget the range that starts at `host`; false: none does. */
bool zs_memory_free(struct zs_ze_context *context, void *host);
/* Register pages that the caller owns (virtual memory): 0 or -errno. */
int zs_memory_add_borrowed(struct zs_ze_context *context, const struct zs_range_desc *desc,
                           void *host);
void zs_memory_free_all(struct zs_ze_context *context);
/* Before a launch: imported memory whose file became smaller is none any more for kernels, which
 * would end with SIGBUS there. */
void zs_memory_check_files(struct zs_ze_driver *driver);
/* Whether the byte can be read, without a signal. */
bool zs_memory_is_there(const void *host);

/* A copy of the range that holds the byte at host; false: no live one. */
bool zs_memory_find(struct zs_ze_context *context, const void *host, struct zs_range *ret_range);
/* Remember the attribute in the range that holds the byte at host; false: no live one. */
bool zs_memory_set_atomics(struct zs_ze_context *context, const void *host, uint32_t atomics);
/* Whether some live range has any of the bytes. */
bool zs_memory_touches(struct zs_ze_context *context, const void *host, uint64_t size_B);
/* Whether one live range holds all of the bytes. */
bool zs_memory_contains(struct zs_ze_context *context, const void *host, uint64_t size_B);

/* What commands find in one or two contexts (b may be NULL) stays mapped until unpin(). */
struct zs_memory_pin {
    struct zs_gpu_memory *memory[2];
    struct zs_gpu_pin pin[2];
};
void zs_memory_pin(struct zs_ze_context *a, struct zs_ze_context *b, struct zs_memory_pin *ret);
void zs_memory_unpin(struct zs_memory_pin *pin);

/* Somebody waits for its end, to change what is mapped. */
bool zs_memory_is_wanted(const struct zs_memory_pin *pin);

/* Rows of bytes from one place to another: copies of regions and of images. */
struct zs_region {
    char *dst;
    const char *src;
    size_t row_B, rows, slices;
    size_t dst_pitch_B, dst_slice_B, src_pitch_B, src_slice_B;
    struct zs_ze_image *keep[2]; /* referenced for as long as the command lives; may be NULL */
};

/*
 * Copies and fills of commands (transfer.c). Each side is memory of the context or any other memory
 * of the process; what is not mapped gives -EFAULT, and never a signal. src_context is where src
 * belongs, NULL: to `context`. cancel (may be NULL): -ECANCELED soon after it is set.
 */
int zs_memory_copy_region(struct zs_ze_context *context, struct zs_ze_context *src_context,
                          const struct zs_region *region, const _Atomic(bool) *cancel);
int zs_memory_copy(struct zs_ze_context *context, void *dst, struct zs_ze_context *src_context,
                   const void *src, uint64_t size_B, const _Atomic(bool) *cancel);
/* The pattern is a power of two of bytes. */
int zs_memory_fill(struct zs_ze_context *context, void *dst, const void *pattern, size_t pattern_B,
                   uint64_t size_B, const _Atomic(bool) *cancel);
/* A descriptor for a handle of the range's memfd, made now when it has none; -EBUSY: see
 * zs_pages_move(), -EBADF: the program closed it. ret_fd may be NULL. */
int zs_memory_share(struct zs_ze_context *context, uint64_t base, int *ret_fd);
/* ... of the physical memory that is mapped at ptr; *range becomes what it holds. -ENOTSUP:
 * the mapping does not start with it. */
int zs_virtual_share(struct zs_ze_context *context, const void *ptr, struct zs_range *range,
                     int *ret_fd);
/* ... of physical memory; range becomes what it holds. -ENOENT: the handle is none of it. */
int zs_physical_share(const void *handle, struct zs_range *range, int *ret_fd);
/* All reservations of the context, when nothing runs in it any more. */
void zs_virtual_free_all(struct zs_ze_context *context);
/* Open another process's memfd, or a descriptor of it that this process has; -errno. */
int zs_ipc_open(int pid, int fd, uint64_t inode);
/* Whether fd is a memfd of this driver, made here or in another process. */
bool zs_ipc_is_ours(int fd, uint64_t *ret_inode);

#endif
