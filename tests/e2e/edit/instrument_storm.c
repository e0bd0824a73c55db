/* SPDX-License-Identifier: MIT */
/*
 * The recorder's half of instrumentation, built with ThreadSanitizer, over the software GPU's
 * driver (which is not): threads that create, launch and destroy instrumented modules while others
 * read the buffers, a helper that is killed in the middle, and an end of the process while threads
 * are at work.
 *
 *     instrument_storm BINARY KERNEL FOLDER TOOL
 *
 * Every module that was instrumented leaves a file, and what is in it is what was launched: of
 * memtrace, with too little room for its records, how many there are and how many found none.
 */
#include "base/file.h"
#include "collect/instrument.h"
#include "instrument/instrument.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, TURNS = 6, BUFFER_B = 1 << 16, LAUNCHES = 3, GROUPS = 4 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:libze_zescope.so\nrace:libze_loader.so\n";
}

static struct zs_collector collector;
static struct zs_file binary;
static const char *kernel_name, *tool_name;
static ze_driver_handle_t driver;
static ze_device_handle_t device;
static pid_t helper;
static atomic_int instrumented, refused;

static void start_helper(const char *folder)
{
    static char path[100];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct zs_tool_ref tool;
    CHECK(snprintf(path, sizeof(path), "%s/socket", folder) < 100);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && !bind(fd, (const struct sockaddr *)&address, sizeof(address)));
    CHECK(!listen(fd, 64) && !zs_tool_find(tool_name, &tool, NULL));
    helper = fork();
    CHECK(helper >= 0);
    if (!helper) {
        zs_instrument_serve(fd, &tool);
        _exit(0);
    }
    close(fd);
    collector.instrument_socket = path;
}

static void launch(ze_context_handle_t context, ze_module_handle_t module)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = kernel_name};
    ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    ze_group_count_t groups = {GROUPS, 1, 1};
    void *buffers[2];
    CHECK(!zeKernelCreate(module, &desc, &kernel));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(!zeMemAllocDevice(context, &memory, BUFFER_B, 64, device, &buffers[i]));
        CHECK(!zeKernelSetArgumentValue(kernel, i, sizeof(void *), &buffers[i]));
    }
    CHECK(!zeKernelSetGroupSize(kernel, 16, 1, 1));
    CHECK(!zeCommandListCreateImmediate(context, device, &queue, &list));
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK(!zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
        if (zs_instrument_is_due(&collector))
            zs_instrument_synchronized(&collector);
    }
    CHECK(!zeCommandListDestroy(list) && !zeKernelDestroy(kernel));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(!zeMemFree(context, buffers[i]));
}

static void turn(ze_context_handle_t context, uint32_t build, bool ends)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = binary.span.size_B,
                             .pInputModule = binary.span.data};
    const ze_module_desc_t *pdesc = &desc;
    ze_module_handle_t module, *pmodule = &module;
    ze_module_build_log_handle_t *log = NULL;
    ze_module_create_params_t params = {&context, &device, &pdesc, &pmodule, &log};
    CHECK(!zeModuleCreate(context, device, &desc, &module, NULL));
    ze_module_handle_t other = zs_instrument_module(&collector, build, &params, module);
    atomic_fetch_add(other ? &instrumented : &refused, 1);
    if (other) {
        CHECK(!zeModuleDestroy(module));
        module = other;
    }
    launch(context, module);
    if (!ends)
        return;
    CHECK(!zeModuleDestroy(module));
    zs_instrument_module_ends(&collector, module);
}

static void *work(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    CHECK(!zeContextCreate(driver, &desc, &context));
    for (uint32_t i = 0; i < TURNS; i++) {
        if (me == 0 && i == TURNS / 2)
            kill(helper, SIGKILL);
        turn(context, me * TURNS + i, i % 2);
    }
    if (me % 2) {
        zs_instrument_context_ends(&collector, context);
        CHECK(!zeContextDestroy(context));
    }
    return NULL;
}

/* Each counter is of a block: a straight kernel of one block is what each thread passes once. */
static bool has_counter(struct zs_span data)
{
    bool found = false;
    for (size_t at = sizeof(struct zs_instrument_file); at + 8 <= data.size_B; at += 8) {
        uint64_t count;
        memcpy(&count, data.data + at, sizeof(count));
        found |= count == LAUNCHES * GROUPS;
    }
    return found;
}

/* Each thread loads and stores. */
static bool has_records(struct zs_span data)
{
    enum { SLACK_B = 32 + 16 * 64 };
    struct zs_instrument_file head;
    memcpy(&head, data.data, sizeof(head));
    uint64_t records_B = data.size_B - sizeof(head) - (head.buffer_B - head.trace_B - SLACK_B);
    static uint64_t all_B; /* they are the same of each */
    uint64_t sum_B = records_B + head.lost_units * 32;
    all_B = all_B ? all_B : sum_B;
    return sum_B == all_B && sum_B % (LAUNCHES * GROUPS) == 0 && sum_B > 0;
}

static void check_files(const char *folder)
{
    char path[4096];
    int files = 0;
    snprintf(path, sizeof(path), "%s/" ZS_INSTRUMENT_DIR, folder);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct zs_file file;
        struct zs_instrument_file head;
        if (!strstr(entry->d_name, ".data"))
            continue;
        CHECK(!zs_file_read_at(dirfd(dir), entry->d_name, 0, &file, NULL));
        CHECK(file.span.size_B >= sizeof(head) + sizeof(uint64_t));
        memcpy(&head, file.span.data, sizeof(head));
        CHECK(head.magic == ZS_INSTRUMENT_MAGIC);
        CHECK(head.trace_B ? has_records(file.span) : has_counter(file.span));
        zs_file_close(&file);
        files++;
    }
    closedir(dir);
    printf("%d instrumented, %d not, %d files\n", instrumented, refused, files);
    CHECK(files == instrumented && instrumented > 0 && refused > 0);
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS];
    uint32_t count = 1;
    CHECK(argc == 5 && !zs_file_read(argv[1], 0, &binary, NULL));
    kernel_name = argv[2];
    tool_name = argv[4];
    CHECK(!zs_collector_init(&collector, argv[3], false));
    atomic_store(&collector.instrument_trace_B, 4096);
    start_helper(argv[3]);
    CHECK(!zeInit(0) && !zeDriverGet(&count, &driver));
    count = 1;
    CHECK(!zeDeviceGet(driver, &count, &device));
#define API(type, name)                                                                            \
    collector.api.name = (ze_result_t(*) type)(uintptr_t)dlsym(RTLD_DEFAULT, #name);
#include "collect/api.def"
#undef API
    for (uintptr_t i = 0; i < WORKERS; i++)
        CHECK(!pthread_create(&threads[i], NULL, work, (void *)i));
    for (uintptr_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    zs_instrument_process_ends(&collector);
    waitpid(helper, NULL, 0);
    check_files(argv[3]);
    return 0;
}
