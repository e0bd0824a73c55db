/* SPDX-License-Identifier: MIT */
/*
 * The layer as an OpenCL loader uses it: what it knows is wrapped, the rest passed on, whatever the
 * size of the loader's table; functions of extensions are wrapped for two drivers. Argument: the
 * layer.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 200, GET_ADDRESS = 65, FLUSH = 46, MAP_GL = 66, API_VERSION = 0x4240 };

static int failures, flushed;
static void *given;

static void expect(int good, const char *what)
{
    if (!good)
        printf("FAILED %s\n", what);
    failures += !good;
}

static int flush(void *queue)
{
    flushed += queue == &flushed;
    return -36;
}

static void *get_address(const char *name)
{
    return given;
}

static int first(void *context, void *pointer)
{
    return 11;
}

static int second(void *context, void *pointer)
{
    return 22;
}

static int third(void *context, void *pointer)
{
    return 33;
}

int main(int argc, char **argv)
{
    int (*info)(unsigned, size_t, void *, size_t *),
        (*init)(unsigned, void **, unsigned *, void ***);
    void *layer = dlopen(argv[1], RTLD_NOW), *target[PLACES], **table = NULL;
    unsigned version = 0, count = 0;
    *(void **)&info = layer ? dlsym(layer, "clGetLayerInfo") : NULL;
    *(void **)&init = layer ? dlsym(layer, "clInitLayer") : NULL;
    if (!info || !init)
        return printf("FAILED %s\n", dlerror()), 1;
    expect(!info(API_VERSION, sizeof(version), &version, NULL) && version == 100, "its version");
    expect(info(1, 0, NULL, NULL) == -30, "a question that nobody knows");
    for (size_t i = 0; i < PLACES; i++)
        target[i] = &target[i];
    target[FLUSH] = (void *)(uintptr_t)flush;
    target[GET_ADDRESS] = (void *)(uintptr_t)get_address;
    expect(!init(PLACES, target, &count, &table) && count > 140 && count <= PLACES, "the table");
    expect(!table[MAP_GL], "a call that it does not know is left to the loader");
    expect(table[0] && table[0] != target[0] && table[148], "calls that it knows");
    expect(((int (*)(void *))(uintptr_t)table[FLUSH])(&flushed) == -36 && flushed == 1, "a call");
    void *(*get)(const char *) = (void *(*)(const char *))(uintptr_t)table[GET_ADDRESS];
    int (*const functions[])(void *, void *) = {first, second, third};
    for (int i = 0; i < 3; i++) {
        given = (void *)(uintptr_t)functions[i];
        int (*wrapped)(void *, void *) = (int (*)(void *, void *))(uintptr_t)get("clMemFreeINTEL");
        expect(wrapped(NULL, NULL) == 11 * (i + 1), "an extension's function of each driver");
        expect((wrapped == functions[i]) == (i == 2), "functions of two drivers are wrapped");
        expect(get("clMemFreeINTEL") == (void *)(uintptr_t)wrapped, "the same again");
        expect(get("clNobodyKnowsEXT") == given, "one that is not known");
    }
    given = NULL;
    expect(!get("clMemFreeINTEL"), "one that the driver lacks");
    return failures != 0;
}
