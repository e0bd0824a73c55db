/* SPDX-License-Identifier: MIT */
/*
 * What it costs that the compiler runs in a process of its own: compiler_process HELPER SPIRV
 * ROUNDS
 *
 * A process that has compiled nothing yet builds the module, once by the compiler's library loaded
 * into it, once through the helper, in turns; nothing is remembered. Both load the same library, so
 * the difference is the process: starting it, handing over, waiting. Prints milliseconds of wall
 * time, a line a round: the first build in the process, and through the helper.
 */
#include "base/file.h"
#include "compiler/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static enum zs_compiler_status build_here(const struct zs_compiler_request *request,
                                          struct zs_buf *binary, struct zs_buf *text)
{
    struct zs_ocloc ocloc;
    if (!zs_ocloc_load(&ocloc, text))
        return ZS_COMPILER_UNAVAILABLE;
    return zs_ocloc_build(&ocloc, request, binary, text);
}

static enum zs_compiler_status build_apart(const char *helper,
                                           const struct zs_compiler_request *request,
                                           struct zs_buf *binary, struct zs_buf *text)
{
    const struct zs_compiler_settings settings = {
        .helper = helper, .time_limit_ns = UINT64_C(60000000000), .cache_folder = ""};
    struct zs_compiler *compiler = zs_compiler_create(&settings);
    if (!compiler)
        return ZS_COMPILER_NO_MEMORY;
    return zs_compiler_build(compiler, request, binary, text);
}

/* In a fresh process: with a helper's path through it, else here. */
static double first_build(const char *helper, const struct zs_compiler_request *request)
{
    int answer[2];
    double took_ms = 0;
    int status;
    if (pipe(answer))
        exit(1);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct zs_buf binary = {0}, text = {0};
        double from_ms = now_ms();
        enum zs_compiler_status built = helper ? build_apart(helper, request, &binary, &text)
                                               : build_here(request, &binary, &text);
        took_ms = now_ms() - from_ms;
        if (built != ZS_COMPILER_OK || !binary.size_B)
            fprintf(stderr, "compiler_process: %.*s\n", (int)text.size_B, (char *)text.data);
        else if (write(answer[1], &took_ms, sizeof(took_ms)) == sizeof(took_ms))
            _exit(0);
        _exit(1);
    }
    close(answer[1]);
    ssize_t n = read(answer[0], &took_ms, sizeof(took_ms));
    close(answer[0]);
    if (waitpid(pid, &status, 0) != pid || n != sizeof(took_ms))
        exit(1);
    return took_ms;
}

int main(int argc, char **argv)
{
    struct zs_file spirv;
    if (argc != 4 || zs_file_read(argv[2], 16 << 20, &spirv, NULL))
        return 2;
    const struct zs_compiler_request request = {.device = "skl",
                                                .options = "",
                                                .internal_options = "",
                                                .unit_count = 1,
                                                .units = &spirv.span};
    for (int i = 0; i < atoi(argv[3]); i++) {
        double here_ms = first_build(NULL, &request);
        printf("%.3f %.3f\n", here_ms, first_build(argv[1], &request));
    }
    zs_file_close(&spirv);
    return 0;
}
