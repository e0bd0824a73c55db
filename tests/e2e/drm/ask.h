/* SPDX-License-Identifier: MIT */
/*
 * Everything that a client can ask of a Level Zero driver, as lines of "key = value": so two
 * drivers of the same device can be compared.
 */
#ifndef ASK_H
#define ASK_H

#include <level_zero/zet_api.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct ask {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_fence_handle_t fence;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    uint8_t *device_memory, *host_memory, *shared_memory;
};

void ask_result(const char *key, int result);
#define ASK(key, call) ask_result((key), (int)(call))

void ask_properties(const struct ask *a);
void ask_kernels(const struct ask *a, const char *path);

#endif
