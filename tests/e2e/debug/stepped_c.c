/* SPDX-License-Identifier: MIT */
/* stepped.cl as C: stepped_c KERNEL writes FOLDER/N for each work-item N: a line of JSON for each
 * line that it executes. */
#include "stepped_c.h"

#include "stepped.cl"

#include <string.h>

static int in[ITEMS];
static float out[2 * 64];
static const char *folder;
static void (*chosen)(const int *, float *, int, float);

static void *run_item(void *number)
{
    char path[4096];
    item = (int)(intptr_t)number;
    snprintf(path, sizeof(path), "%s/%d", folder, item);
    log_to = fopen(path, "w");
    if (log_to)
        chosen(in, out, 5, 1.25f);
    return log_to ? (void *)(intptr_t)fclose(log_to) : (void *)1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const int *, float *, int, float);
    } kernels[] = {{"straight", straight},     {"sums", sums},   {"branches", branches},
                   {"vectors", vectors},       {"longs", longs}, {"arrays", arrays},
                   {"structures", structures}, {"loops", loops}, {"calls", calls},
                   {"shared", shared}};
    pthread_t threads[ITEMS];
    for (size_t k = 0; argc == 3 && k < sizeof(kernels) / sizeof(*kernels); k++)
        if (strcmp(kernels[k].name, argv[1]) == 0)
            chosen = kernels[k].run;
    if (!chosen)
        return 2;
    folder = argv[2];
    for (int i = 0; i < ITEMS; i++)
        in[i] = i * 7 % 5;
    pthread_barrier_init(&all, NULL, ITEMS);
    for (int i = 0; i < ITEMS; i++)
        if (pthread_create(&threads[i], NULL, run_item, (void *)(intptr_t)i))
            return 1;
    int status = 0;
    for (int i = 0; i < ITEMS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        status |= result != NULL;
    }
    for (int i = 0; i < 64 + ITEMS; i++)
        printf("%a\n", (double)out[i]);
    return status;
}
