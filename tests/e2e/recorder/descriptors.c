/* SPDX-License-Identifier: MIT */
/*
 * A program that treats descriptors as daemons do: it closes all of them, opens files of its own
 * and goes on making calls, from threads that end and in a child too. At its end its files must
 * hold what it wrote into them. Arguments: folder for its files, calls per thread, how: files,
 * stderr (one of them becomes its standard error), none (it closes them, and the child may open
 * none), no-folder (the child finds a file in the place of the folder given as the 4th argument).
 */
#include <level_zero/ze_api.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 3, LAST = 300, TEXT_B = 16 };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static long calls;
static pthread_barrier_t closed;

static void make_calls(void)
{
    for (long i = 0; i < calls; i++) {
        const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
        void *p = NULL;
        if (zeMemAllocHost(context, &desc, 4096, 64, &p) || zeMemFree(context, p))
            _exit(3);
    }
}

static void *work(void *arg)
{
    make_calls();
    pthread_barrier_wait(&closed);
    pthread_barrier_wait(&closed);
    make_calls();
    return NULL;
}

static int start(void)
{
    uint32_t one = 1;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    return zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
           zeContextCreate(driver, &desc, &context);
}

/* Not a module: the driver refuses it, with and without a recorder. */
static void build(void)
{
    static const char text[] = "this is no module";
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = sizeof(text),
                                   .pInputModule = (const uint8_t *)text};
    ze_module_handle_t module;
    if (!zeModuleCreate(context, device, &desc, &module, NULL))
        _exit(4);
}

static void open_files(const char *folder)
{
    for (int fd = FIRST; fd <= LAST; fd++) {
        char path[4096], text[TEXT_B + 1];
        snprintf(path, sizeof(path), "%s/own.%d", folder, fd);
        snprintf(text, sizeof(text), "%-*d", TEXT_B, fd);
        int got = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
        if (got != fd || write(fd, text, TEXT_B) != TEXT_B)
            _exit(5);
    }
}

static void check_files(void)
{
    for (int fd = FIRST; fd <= LAST; fd++) {
        char text[2 * TEXT_B] = "";
        if (pread(fd, text, sizeof(text), 0) != TEXT_B || atoi(text) != fd) {
            printf("file %d was changed\n", fd);
            fflush(stdout);
            _exit(6);
        }
    }
}

static void child(const char *how, const char *folder)
{
    if (!strcmp(how, "none")) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (folder || !strcmp(how, "none")) { /* the parent's driver will do for a bad module */
            build();
            _exit(0);
        }
        pthread_t thread;
        if (start())
            _exit(7);
        pthread_barrier_init(&closed, NULL, 1);
        pthread_create(&thread, NULL, work, NULL);
        make_calls();
        pthread_join(thread, NULL);
        _exit(0);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    if (status)
        _exit(8);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 4 || start())
        return 2;
    calls = atol(argv[2]);
    pthread_barrier_init(&closed, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    make_calls();
    pthread_barrier_wait(&closed);
    for (int fd = FIRST; fd < 1024; fd++)
        close(fd);
    if (argc > 4 && (rename(argv[4], "moved-away") || mknod(argv[4], S_IFREG | 0600, 0)))
        return 9;
    int files = strcmp(argv[3], "none") != 0;
    if (files)
        open_files(argv[1]);
    if (!strcmp(argv[3], "stderr"))
        dup2(LAST, STDERR_FILENO);
    pthread_barrier_wait(&closed);
    make_calls();
    pthread_join(thread, NULL);
    child(argv[3], argc > 4 ? argv[4] : NULL);
    if (files)
        check_files();
    puts("made all calls");
    return 9;
}
