/* SPDX-License-Identifier: MIT */
/* Between the parts of the suite. */
#ifndef ZS_TESTS_E2E_SUITE_PRIV_H
#define ZS_TESTS_E2E_SUITE_PRIV_H

#include "suite.h"

/* False, and explained: a call failed, and so the case. */
bool suite_check(struct suite *s, ze_result_t result, const char *what);
#define SUITE_CHECK(s, call) suite_check((s), (call), #call)

void *suite_copy(const void *bytes, size_t size_B);

/* Standard output goes to a file until suite_end_text(), which gives it. */
FILE *suite_begin_text(int *ret_stdout);
char *suite_end_text(FILE *file, int standard);
/* Whether that is what the case expects. Sorts `got`. */
bool suite_report_text(struct suite *s, char *got);

/* The device has what the case is about, and the variant the case. */
bool suite_has(const struct suite *s, const struct suite_group *group, const struct suite_case *c);
/* Launch it, and compare. False: the kernel is wrong, which is explained. */
bool suite_run_shape(struct suite *s, const struct suite_case *c, const struct suite_shape *shape,
                     bool with_oracle);
uint8_t *suite_read_file(const char *path, size_t *ret_size_B);

/* The order in which threads come decides what it executes. */
bool suite_has_races(const char *kernel);

/* digest.c. NULL and false: explained, or not written. After a launch, before anything is compared.
 */
struct suite_digest *suite_digest_open(ze_driver_handle_t driver, const char *path);
bool suite_digest_launch(struct suite *s, const char *kernel, const char *text, bool counts_alike);
bool suite_digest_close(struct suite_digest *digest);

/* each.c: the group's kernels rewritten, as the arguments say. An exit status. */
int suite_each(struct suite *s, const struct suite_group *group, const char *path, int argc,
               char **argv);

#endif
