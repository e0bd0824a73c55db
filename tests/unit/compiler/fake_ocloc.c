/* SPDX-License-Identifier: MIT */
/*
 * A libocloc.so that does what its input says: what no compiler should do, and each at will.
 * The input is text, "WORD REST"; what it makes of it is "made:" and the input and the options.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int oclocInvoke(unsigned argc, const char *argv[], uint32_t source_count, const uint8_t **sources,
                const uint64_t *source_sizes, const char **source_names, uint32_t header_count,
                const uint8_t **headers, const uint64_t *header_sizes, const char **header_names,
                uint32_t *ret_count, uint8_t ***ret_outputs, uint64_t **ret_sizes,
                char ***ret_names);
int oclocFreeOutput(uint32_t *count, uint8_t ***outputs, uint64_t **sizes, char ***names);

static void crash(const char *rest)
{
    int *volatile nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *nowhere = 1;
}

static void __attribute__((noinline)) overflow(const char *rest)
{
    char volatile frame[4096];
    memset((char *)frame, 1, sizeof(frame));
    if (rest)
        overflow(rest);
    frame[0] = 2;
}

static void spin(const char *rest)
{
    for (volatile unsigned i = 0;; i++) {
    }
}

static void hang(const char *rest)
{
    for (;;)
        pause();
}

static void eat(const char *rest)
{
    const size_t step_B = 16 << 20;
    for (;;) {
        char *more = malloc(step_B);
        if (!more) {
            fprintf(stderr, "fake: out of memory\n");
            abort();
        }
        memset(more, 1, 4096);
    }
}

static void leave(const char *rest)
{
    exit(atoi(rest));
}

static void stop(const char *rest)
{
    abort();
}

static void say(const char *rest)
{
    printf("said %s", rest); /* no line end: still buffered */
    fprintf(stderr, "[warned %s]", rest);
}

static void rest_ms(const char *rest)
{
    usleep((useconds_t)atoi(rest) * 1000);
}

static const struct {
    const char *word;
    void (*act)(const char *rest);
} acts[] = {{"crash", crash}, {"overflow", overflow}, {"spin", spin},
            {"hang", hang},   {"eat", eat},           {"exit", leave},
            {"abort", stop},  {"say", say},           {"sleep", rest_ms}};

static char *input_of(const uint8_t *source, uint64_t size_B)
{
    char *text = calloc(1, size_B + 1);
    memcpy(text, source, size_B);
    return text;
}

static const char *option_of(unsigned argc, const char *argv[], const char *name)
{
    for (unsigned i = 0; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    }
    return "";
}

static void give(uint32_t index, const char *name, char *text, uint8_t **outputs, uint64_t *sizes,
                 char **names)
{
    outputs[index] = (uint8_t *)text;
    sizes[index] = strlen(text);
    names[index] = strdup(name);
}

/* The input "big N" makes N bytes. */
static char *make(unsigned argc, const char *argv[], uint32_t count, const uint8_t **sources,
                  const uint64_t *sizes)
{
    char *text = input_of(sources[0], sizes[0]), *made = NULL;
    size_t made_B = strncmp(text, "big ", 4) == 0 ? (size_t)atol(text + 4) : 0;
    if (made_B) {
        made = calloc(1, made_B + 1);
        memset(made, 'x', made_B);
    } else if (asprintf(&made, "made:%u:%s:%s:%s", count, text, option_of(argc, argv, "-device"),
                        option_of(argc, argv, "-options")) < 0) {
        abort();
    }
    free(text);
    return made;
}

int oclocInvoke(unsigned argc, const char *argv[], uint32_t source_count, const uint8_t **sources,
                const uint64_t *source_sizes, const char **source_names, uint32_t header_count,
                const uint8_t **headers, const uint64_t *header_sizes, const char **header_names,
                uint32_t *ret_count, uint8_t ***ret_outputs, uint64_t **ret_sizes,
                char ***ret_names)
{
    char *text = input_of(sources[0], source_sizes[0]);
    char *space = strchr(text, ' ');
    size_t length = space ? (size_t)(space - text) : strlen(text);
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (strlen(acts[i].word) == length && strncmp(acts[i].word, text, length) == 0)
            acts[i].act(space ? space + 1 : "");
    }
    int fails = strcmp(text, "fail") == 0;
    int links = strcmp(argv[1], "link") == 0;
    *ret_count = 2;
    *ret_outputs = calloc(2, sizeof(**ret_outputs));
    *ret_sizes = calloc(2, sizeof(**ret_sizes));
    *ret_names = calloc(2, sizeof(**ret_names));
    give(0, "stdout.log", strdup(fails ? "it does not compile\n" : "a log\n"), *ret_outputs,
         *ret_sizes, *ret_names);
    give(1, links ? "linked.bc" : "module_skl.bin",
         make(argc, argv, source_count, sources, source_sizes), *ret_outputs, *ret_sizes,
         *ret_names);
    free(text);
    return fails;
}

int oclocFreeOutput(uint32_t *count, uint8_t ***outputs, uint64_t **sizes, char ***names)
{
    for (uint32_t i = 0; i < *count; i++) {
        free((*outputs)[i]);
        free((*names)[i]);
    }
    free(*outputs);
    free(*sizes);
    free(*names);
    return 0;
}
