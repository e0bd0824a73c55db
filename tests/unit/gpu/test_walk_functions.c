/* SPDX-License-Identifier: MIT */
/* Functions found in memory that says nothing: beside kernels, between zeros, in anything. */
#include "../test.h"

#include "gpu/walk.h"

#include <zescope/isa.h>

#include <stdlib.h>

#define KERNEL                                                                                     \
    "(W) mov (8|M0) r127.0<1>:ud r0.0<8;8,1>:ud\n"                                                 \
    "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT,@1}\n"
#define FUNCTION                                                                                   \
    "add (8|M0) r26.0<1>:d r26.0<8;8,1>:d 1:w\n"                                                   \
    "ret (8|M0) r125.0\n"

enum { MEMORY_B = 4096, VA = 0x10000 };

struct fixture {
    struct zs_gpu_device *device;
    struct zs_gpu_walk_functions functions;
    uint8_t memory[MEMORY_B];
    bool is_code;
};

static struct fixture *begin(void)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    assert_int_equal(zs_gpu_device_create(zs_gpu_model_find("tgllp"), 1, &f->device), 0);
    return f;
}

static void end(struct fixture *f)
{
    zs_gpu_walk_functions_fini(&f->functions);
    zs_gpu_device_destroy(f->device);
    free(f);
}

/* Returns where it ends. */
static size_t put(struct fixture *f, size_t at_B, const char *text)
{
    uint8_t *code;
    size_t size_B;
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    if (zs_isa_assemble(ZS_ISA_XE_LP, zs_span_make(text, strlen(text)), &code, &size_B, &error))
        fail_msg("line %u: %s", error.line, error.text);
    memcpy(f->memory + at_B, code, size_B);
    zs_isa_code_free(code);
    return at_B + size_B;
}

static void look(struct fixture *f, size_t size_B)
{
    /* no byte behind what is looked at is */
    uint8_t *exact = malloc(size_B);
    assert_non_null(exact);
    memcpy(exact, f->memory, size_B);
    assert_int_equal(zs_gpu_walk_functions_add(&f->functions, f->device, VA,
                                               zs_span_make(exact, size_B), &f->is_code),
                     0);
    free(exact);
}

static void functions_stand_behind_a_kernel(void **state)
{
    struct fixture *f = begin();
    size_t first_B = put(f, 0, KERNEL), second_B = put(f, first_B, FUNCTION);
    size_t end_B = put(f, second_B, FUNCTION);
    look(f, MEMORY_B);
    assert_true(f->is_code);
    assert_int_equal(f->functions.segments.count, 1);
    assert_int_equal(f->functions.segments.items[0].ip_B, VA + first_B);
    assert_int_equal(f->functions.segments.items[0].size_B, end_B - first_B);
    assert_int_equal(f->functions.starts_B.count, 2);
    assert_int_equal(f->functions.starts_B.items[0], 0);
    assert_int_equal(f->functions.starts_B.items[1], second_B - first_B);
    assert_memory_equal(f->functions.code.data, f->memory + first_B, end_B - first_B);
    end(f);
}

/* IGC 2 writes a hash of the source behind a kernel. */
static void functions_stand_behind_a_hash(void **state)
{
    struct fixture *f = begin();
    size_t hash_B = put(f, 0, KERNEL);
    size_t first_B = put(f, hash_B,
                         "(W) mov (8|M0) null<1>:ud 0x75FCD485:ud\n"
                         "(W) mov (8|M0) null<1>:ud 0x0:ud\n");
    put(f, first_B, FUNCTION);
    look(f, MEMORY_B);
    assert_int_equal(f->functions.starts_B.count, 1);
    assert_int_equal(f->functions.segments.items[0].ip_B, VA + first_B);
    assert_int_equal(f->functions.starts_B.items[0], 0);
    end(f);
}

static void what_zeros_part_are_segments(void **state)
{
    struct fixture *f = begin();
    put(f, 0, FUNCTION);
    put(f, 1024, "nop\n" FUNCTION); /* padding is not where it starts */
    look(f, MEMORY_B);
    assert_int_equal(f->functions.segments.count, 2);
    assert_int_equal(f->functions.segments.items[1].ip_B, VA + 1024 + 16);
    assert_int_equal(f->functions.segments.items[1].offset_B,
                     f->functions.segments.items[0].size_B);
    assert_int_equal(f->functions.starts_B.items[1], f->functions.segments.items[1].offset_B);
    end(f);
}

static void kernels_alone_have_none(void **state)
{
    struct fixture *f = begin();
    put(f, 0, FUNCTION KERNEL); /* its own subroutine, or a call */
    look(f, MEMORY_B);
    assert_true(f->is_code);
    assert_int_equal(f->functions.segments.count, 0);
    end(f);
}

static void anything_is_no_code(void **state)
{
    struct fixture *f = begin();
    look(f, MEMORY_B);
    assert_false(f->is_code);
    uint32_t seed = 1;
    for (size_t size_B = 1; size_B <= MEMORY_B; size_B += 61) {
        for (size_t i = 0; i < size_B; i++)
            f->memory[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        look(f, size_B);
    }
    for (size_t i = 0; i < f->functions.segments.count; i++)
        assert_in_range(f->functions.segments.items[i].ip_B, VA, VA + MEMORY_B);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_stand_behind_a_kernel),
        cmocka_unit_test(functions_stand_behind_a_hash),
        cmocka_unit_test(what_zeros_part_are_segments),
        cmocka_unit_test(kernels_alone_have_none),
        cmocka_unit_test(anything_is_no_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
