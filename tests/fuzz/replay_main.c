/* SPDX-License-Identifier: MIT */
/* Runs a harness over files and folders: the corpus as a test, or one input that crashed. HARNESSES: one
   HARNESS(name) each, whose LLVMFuzzerTestOneInput() is called fuzz_name() here. */
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
    if (ok)
        run(exact, (size_t)size_B);
    else
        fprintf(stderr, "%s: cannot be read\n", path);
    free(exact);
    if (file)
        fclose(file);
    return ok ? 1 : -1;
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
        int n = run_path(argv[i]);
        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total ? 0 : 1;
}
