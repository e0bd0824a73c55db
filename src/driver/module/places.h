/* SPDX-License-Identifier: MIT */
/*
 * Addresses of code in a context. New ones are given out one behind the other; what was given back
 * is used again when there are none left, from where the last one was found on, so that an address
 * means nothing for as long as possible before it means something else.
 */
#ifndef ZS_DRIVER_MODULE_PLACES_H
#define ZS_DRIVER_MODULE_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct zs_code_place {
    uint32_t at_B, size_B;
};

struct zs_code_places {
    uint32_t next_B, end_B; /* never given out yet */
    uint32_t from_B;        /* where to look for one that was given back */
    struct {
        struct zs_code_place *items; /* ascending; none touches the next */
        size_t count, capacity;
    } back;
};

/* at_B: not 0. */
void zs_code_places_init(struct zs_code_places *places, uint32_t at_B, uint32_t end_B);
void zs_code_places_fini(struct zs_code_places *places);
/* 0: there is no place of that size. */
uint32_t zs_code_place_take(struct zs_code_places *places, uint64_t size_B);
/* What was taken, with the same size. 0: nothing. Without memory it is nobody's from now on. */
void zs_code_place_give_back(struct zs_code_places *places, uint32_t at_B, uint64_t size_B);

#endif
