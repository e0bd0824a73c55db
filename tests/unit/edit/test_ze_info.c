/* SPDX-License-Identifier: MIT */
/* Numbers set in the text of .ze_info: what is written out here in full, and nothing else changes.
 */
#include "../test.h"

#include "edit/edit_priv.h"

#include <errno.h>
#include <string.h>

struct edit {
    const char *before, *kernel, *key; /* key NULL: scratch memory */
    uint64_t value;
    const char *after; /* NULL: refused */
};

#define HEAD  "version: '1.12'\nkernels:\n"
#define OTHER "  - name: other\n    execution_env:\n      simd_size: 8\n"
#define LATER "functions:\n  - name: k\n    execution_env:\n      simd_size: 8\n"
#define BUFFERS                                                                                    \
    "    per_thread_memory_buffers:\n      - type: scratch\n        usage: single_space\n"         \
    "        size: "

static const struct edit edits[] = {
    /* the kernel's, not the one's before or the function's behind it */
    {HEAD OTHER "  - name: k\n    execution_env:\n      simd_size: 16\n" LATER, "k", "simd_size",
     32, HEAD OTHER "  - name: k\n    execution_env:\n      simd_size: 32\n" LATER},
    {HEAD OTHER LATER, "k", "simd_size", 32, NULL},
    {HEAD OTHER, "other", "grf_count", 32, NULL},
    /* quotes, no newline at the end, a comment behind the number, lines of comments */
    {HEAD "  - name: 'k'\n    execution_env:\n      simd_size: 16", "k", "simd_size", 8,
     HEAD "  - name: 'k'\n    execution_env:\n      simd_size: 8"},
    {HEAD "  - name: \"k\"\n# no\n    execution_env:\n      simd_size: 16  # lanes\n", "k",
     "simd_size", 8,
     HEAD "  - name: \"k\"\n# no\n    execution_env:\n      simd_size: 8  # lanes\n"},
    {HEAD "  - name: k # the first\n    execution_env:\n      simd_size: 16\n", "k", "simd_size", 8,
     HEAD "  - name: k # the first\n    execution_env:\n      simd_size: 8\n"},
    /* scratch memory that is there, of one of two buffers */
    {HEAD OTHER "  - name: k\n" BUFFERS "1024\n" LATER, "k", NULL, 2048,
     HEAD OTHER "  - name: k\n" BUFFERS "2048\n" LATER},
    {HEAD "  - name: k\n    per_thread_memory_buffers:\n      - type: global\n        size: 64\n"
          "      - type: scratch\n        size: 128\n",
     "k", NULL, 256,
     HEAD "  - name: k\n    per_thread_memory_buffers:\n      - type: global\n        size: 64\n"
          "      - type: scratch\n        size: 256\n"},
    /* and that is new */
    {HEAD "  - name: k\n    execution_env:\n      simd_size: 16\n" OTHER, "k", NULL, 1024,
     HEAD "  - name: k\n" BUFFERS "1024\n    execution_env:\n      simd_size: 16\n" OTHER},
    {HEAD "  - name: k\n    per_thread_memory_buffers:\n      - type: global\n        size: 64\n",
     "k", NULL, 1024,
     HEAD "  - name: k\n" BUFFERS "1024\n      - type: global\n        size: 64\n"},
    /* keys stand where the name does, items where the others do */
    {HEAD
     "  -   name: k\n      per_thread_memory_buffers:\n      - type: global\n        size: 64\n",
     "k", NULL, 1024,
     HEAD "  -   name: k\n      per_thread_memory_buffers:\n      - type: scratch\n"
          "        usage: single_space\n        size: 1024\n      - type: global\n"
          "        size: 64\n"},
    {HEAD "  -   name: k\n      simd_size: 8\n", "k", NULL, 64,
     HEAD "  -   name: k\n      per_thread_memory_buffers:\n        - type: scratch\n"
          "          usage: single_space\n          size: 64\n      simd_size: 8\n"},
    /* items in the column of their list's key */
    {"kernels:\n- name: k\n  simd_size: 8\n- name: l\n", "l", NULL, 64,
     "kernels:\n- name: k\n  simd_size: 8\n- name: l\n  per_thread_memory_buffers:\n"
     "    - type: scratch\n      usage: single_space\n      size: 64\n"},
    /* nowhere to go */
    {HEAD "  - name: k", "k", NULL, 64, NULL},
    {HEAD "  - name: k\n    per_thread_memory_buffers: []\n", "k", NULL, 64, NULL},
    {HEAD OTHER, "k", NULL, 64, NULL},
    {"", "k", NULL, 64, NULL},
};

static void numbers_are_set(void **state)
{
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        const struct edit *e = &edits[i];
        struct zs_buf text = {0};
        zs_buf_puts(&text, e->before);
        int error = e->key ? zs_ze_info_set(&text, e->kernel, e->key, e->value)
                           : zs_ze_info_set_scratch(&text, e->kernel, e->value);
        const char *want = e->after ? e->after : e->before;
        if (error != (e->after ? 0 : -EINVAL) || text.size_B != strlen(want) ||
            (text.size_B && memcmp(text.data, want, text.size_B) != 0))
            fail_msg("edit %zu: %d, %.*s", i, error, (int)text.size_B, (const char *)text.data);
        zs_buf_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_are_set)};
    return cmocka_run_group_tests_name("ze_info", tests, NULL, NULL);
}
