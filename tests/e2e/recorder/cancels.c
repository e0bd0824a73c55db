/* SPDX-License-Identifier: MIT */
/*
 * Threads that are cancelled while they make calls, at any moment: between two calls, or, as far as
 * that depends on the recorder, in the middle of its work. Argument: how many pairs of them, one
 * after the other. Each makes rounds of an allocation, a freeing and ten appends, and is cancelled
 * between two rounds: prints how many rounds there were.
 */
#include "app.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { APPENDS = 10, PAIR = 2, LONGEST_us = 2000 };

static struct app app;
static atomic_long rounds;

static void *work(void *arg)
{
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_list_handle_t list = app_list(&app);
    for (;; pthread_testcancel()) {
        void *p;
        OK(zeMemAllocHost(app.context, &desc, 4096, 64, &p));
        OK(zeMemFree(app.context, p));
        for (int i = 0; i < APPENDS; i++)
            OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        OK(zeCommandListReset(list));
        rounds++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned seed = 3;
    app_init(&app);
    for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
        pthread_t threads[PAIR];
        void *result;
        for (int k = 0; k < PAIR; k++)
            if (pthread_create(&threads[k], NULL, work, NULL))
                return 6;
        usleep((useconds_t)rand_r(&seed) % LONGEST_us);
        for (int k = 0; k < PAIR; k++)
            pthread_cancel(threads[k]);
        for (int k = 0; k < PAIR; k++)
            if (pthread_join(threads[k], &result) || result != PTHREAD_CANCELED)
                return 5;
    }
    printf("%ld\n", rounds);
    return 7;
}
