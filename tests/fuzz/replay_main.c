/* SPDX-License-Identifier: MIT */
/* Runs a harness over files and folders: the corpus as a test, or one input that crashed.
   HARNESSES: one HARNESS(name) each, whose LLVMFuzzerTestOneInput() is called fuzz_name() here.
   --mutate=N: also N variants of each input, the same ones in each run. REPLAY_KEEP=FILE: each is
   written there first, so that one that crashes stays. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HARNESS(name) int fuzz_##name(const uint8_t *data, size_t size_B);
HARNESSES
#undef HARNESS

static const struct {
    const char *name;
    int (*run)(const uint8_t *data, size_t size_B);
} harnesses[] = {
#define HARNESS(name) {#name, fuzz_##name},
    HARNESSES
#undef HARNESS
};

static int (*run)(const uint8_t *data, size_t size_B);

static unsigned long mutants;
static uint64_t seed;

static uint32_t any(uint32_t below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 32) % below);
}

/* A byte, a number that is near a limit, or one that stands elsewhere in the input. */
static void mutate(uint8_t *data, size_t size_B)
{
    static const uint64_t limits[] = {
        0,         1,          2,          64,         4095,      4096,       INT32_MAX,
        1u << 31,  UINT32_MAX, 1ull << 32, 1ull << 47, INT64_MAX, 1ull << 63, UINT64_MAX - 4095,
        UINT64_MAX};
    uint32_t width = 1u << any(4), at = any((uint32_t)size_B);
    if (any(2)) /* where structures have their fields */
        at -= at % width;
    width = width < size_B - at ? width : (uint32_t)(size_B - at);
    uint64_t value = limits[any(sizeof(limits) / sizeof(limits[0]))];
    switch (any(4)) {
    case 0:
        data[at] ^= (uint8_t)(1u << any(8));
        break;
    case 1:
        data[at] = (uint8_t)any(256);
        break;
    case 2:
        memcpy(data + at, &value, width);
        break;
    default:
        memmove(data + at, data + any((uint32_t)size_B - width + 1), width);
    }
}

static void run_input(const uint8_t *data, size_t size_B)
{
    const char *path = getenv("REPLAY_KEEP");
    FILE *kept = path ? fopen(path, "wb") : NULL;
    if (kept) {
        fwrite(data, 1, size_B, kept);
        fclose(kept);
    }
    run(data, size_B);
}

static int run_mutants(const uint8_t *data, size_t size_B)
{
    uint8_t *mutant = malloc(size_B);
    seed = 0x9e3779b97f4a7c15ull + size_B;
    for (unsigned long i = 0; mutant && i < mutants; i++) {
        memcpy(mutant, data, size_B);
        for (uint32_t left = 1 + any(6); left; left--)
            mutate(mutant, size_B);
        run_input(mutant, size_B);
    }
    free(mutant);
    return mutant ? (int)mutants : -1;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size_B = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size_B = ftell(file);
    uint8_t *data = size_B >= 0 ? malloc((size_t)size_B + 1) : NULL;
    if (data)
        rewind(file);
    /* an exact allocation: the sanitizer sees every byte read behind the input */
    uint8_t *exact = data ? realloc(data, size_B ? (size_t)size_B : 1) : NULL;
    int ok = exact && fread(exact, 1, (size_t)size_B, file) == (size_t)size_B;
    int count = 1;
    if (ok)
        run_input(exact, (size_t)size_B);
    else
        fprintf(stderr, "%s: cannot be read\n", path);
    if (ok && size_B && mutants)
        count += run_mutants(exact, (size_t)size_B);
    free(exact);
    if (file)
        fclose(file);
    return ok && count ? count : -1;
}

static int run_path(const char *path)
{
    struct stat st;
    if (stat(path, &st)) {
        fprintf(stderr, "%s: not there\n", path);
        return -1;
    }
    if (!S_ISDIR(st.st_mode))
        return run_file(path);
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *e; folder && count >= 0 && (e = readdir(folder));) {
        char name[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        int n = run_path(name);
        count = n < 0 ? n : count + n;
    }
    if (folder)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (size_t i = 0; argc > 1 && i < sizeof(harnesses) / sizeof(harnesses[0]); i++)
        if (!strcmp(harnesses[i].name, argv[1]))
            run = harnesses[i].run;
    if (!run) {
        fprintf(stderr, "usage: replay HARNESS PATH...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        if (sscanf(argv[i], "--mutate=%lu", &mutants) == 1)
            continue;
        int n = run_path(argv[i]);
        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total ? 0 : 1;
}
