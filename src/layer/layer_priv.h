/* SPDX-License-Identifier: MIT */
#ifndef ZS_LAYER_LAYER_PRIV_H
#define ZS_LAYER_LAYER_PRIV_H

#include "layer/layer.h"
#include "layer_calls.h"

extern struct zs_trace_set zs_layer_set;

/*
 * The loader, which `caller` is an address of, hands us one of its tables, filled: have the layer
 * below wrap it, then wrap it. Wrapping twice does nothing.
 */
ze_result_t zs_layer_get_table(const char *name, const void *caller, ze_api_version_t version,
                               void *table, void (*wrap)(void *table));

/* Generated: the function of the next layer or driver, NULL before the loader gave its tables. */
void *zs_layer_next(uint32_t call);

#endif
