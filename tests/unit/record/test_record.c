/* SPDX-License-Identifier: MIT */
/* Recordings on disk: the writer's rules, and the reader against broken and hostile folders. */
#include "../test.h"

#include <zescope/record.h>

#include "base/file.h"
#include "record/writer.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    char dir[64];  /* scratch */
    char path[96]; /* of the recording in it */
    char start[4096];
    struct zs_recording *recording;
};

static const char *const app_argv[] = {"/usr/bin/my app", NULL};
#define ARGV ((char *const *)(uintptr_t)app_argv)

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(getcwd(f->start, sizeof(f->start)));
    snprintf(f->dir, sizeof(f->dir), "/tmp/zs-record-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(chdir(f->dir), 0);
    snprintf(f->path, sizeof(f->path), "%s/r", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[128];
    zs_recording_close(f->recording);
    assert_int_equal(chdir(f->start), 0);
    snprintf(command, sizeof(command), "rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static void put(const char *path, const char *text)
{
    struct zs_diag diag = {0};
    assert_int_equal(zs_file_write(path, zs_span_make(text, strlen(text)), &diag), 0);
}

static int create(const char *path, struct zs_recording_writer **ret, struct zs_diag *diag)
{
    *diag = (struct zs_diag){0};
    const struct zs_recording_plan plan = {.path = path, .argv = ARGV};
    return zs_recording_create(&plan, ret, diag);
}

static void create_and_finish(const char *path)
{
    struct zs_recording_writer *w;
    struct zs_diag diag;
    assert_int_equal(create(path, &w, &diag), 0);
    assert_int_equal(zs_recording_finish(w, &(struct zs_recording_result){0}, &diag), 0);
}

static struct zs_recording *open_it(struct fixture *f)
{
    struct zs_diag diag = {0};
    zs_recording_close(f->recording);
    f->recording = NULL;
    assert_int_equal(zs_recording_open("r", &f->recording, &diag), 0);
    return f->recording;
}

/* --- store ----------------------------------------------------------------------------------- */

static void test_sha256(void **state)
{
    char hex[ZS_SHA256_HEX_CHARS + 1], million[1000];
    static const struct {
        const char *text, *hex;
    } vectors[] = {
        /* FIPS 180-2, appendix B, and the empty message */
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(vectors); i++) {
        zs_sha256_hex(zs_span_make(vectors[i].text, strlen(vectors[i].text)), hex);
        assert_string_equal(hex, vectors[i].hex);
    }
    /* every length around the block size against coreutils */
    memset(million, 'x', sizeof(million));
    for (size_t n = 50; n < 130; n += 7) {
        char command[128], other[ZS_SHA256_HEX_CHARS + 1] = "";
        snprintf(command, sizeof(command), "printf %%%zus '' | tr ' ' x | sha256sum", n);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_int_equal(fread(other, 1, ZS_SHA256_HEX_CHARS, pipe), ZS_SHA256_HEX_CHARS);
        pclose(pipe);
        zs_sha256_hex(zs_span_make(million, n), hex);
        assert_string_equal(hex, other);
    }
}

static void test_torn_line_costs_only_itself(void **state)
{
    assert_int_equal(zs_store_line("lines", zs_span_make("one", 3)), 0);
    int fd = open("lines", O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "to", 2), 2); /* as a full disk leaves it */
    close(fd);
    assert_int_equal(zs_store_line("lines", zs_span_make("three", 5)), 0);
    struct zs_file file;
    assert_int_equal(zs_file_read("lines", 0, &file, NULL), 0);
    assert_int_equal(file.span.size_B, 13);
    assert_memory_equal(file.span.data, "one\nto\nthree\n", 13);
    zs_file_close(&file);
}

enum { WRITERS = 4, LINES = 60, LINE_B = 200000 };

static void *write_lines(void *text)
{
    for (int i = 0; i < LINES; i++)
        assert_int_equal(zs_store_line("lines", zs_span_make(text, LINE_B)), 0);
    return NULL;
}

/* A file that ends within the line that another thread is writing is not torn. */
static void test_lines_of_several_threads(void **state)
{
    pthread_t threads[WRITERS];
    char *text = malloc(LINE_B);
    assert_non_null(text);
    memset(text, 'x', LINE_B);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, text), 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    free(text);
    struct stat st;
    assert_int_equal(stat("lines", &st), 0);
    assert_int_equal(st.st_size, WRITERS * LINES * (LINE_B + 1)); /* none is empty */
}

static void test_blob_is_kept_once(void **state)
{
    char first[ZS_STORE_FILE_CHARS], second[ZS_STORE_FILE_CHARS];
    struct stat a, b;
    assert_int_equal(zs_store_blob(".", "bin", zs_span_make("abc", 3), first), 0);
    assert_int_equal(stat(first, &a), 0);
    assert_int_equal(zs_store_blob(".", "bin", zs_span_make("abc", 3), second), 0);
    assert_string_equal(first, second);
    assert_int_equal(stat(first, &b), 0);
    assert_true(a.st_ino == b.st_ino);
    assert_int_equal(zs_store_blob("nowhere", "bin", zs_span_make("abc", 3), second), -ENOENT);
}

/* --- writer ---------------------------------------------------------------------------------- */

static void test_names(void **state)
{
    struct zs_recording_writer *w;
    struct zs_diag diag;
    char expected[256], host[128] = "";
    assert_int_equal(create(NULL, &w, &diag), 0);
    snprintf(expected, sizeof(expected), "/zescope-my_app-%d", (int)getpid());
    assert_non_null(strstr(zs_recording_writer_path(w), expected));
    zs_recording_abandon(w);
    assert_int_equal(access(expected + 1, F_OK), -1);

    gethostname(host, sizeof(host) - 1);
    assert_int_equal(create("a%x", &w, &diag), -EINVAL);
    assert_int_equal(create("a%p-%h-%%-x/", &w, &diag), 0);
    snprintf(expected, sizeof(expected), "a%d-%s-%%-x", (int)getpid(), host);
    assert_int_equal(access(expected, F_OK), 0);
    zs_recording_abandon(w);
}

static void test_existing_folders(void **state)
{
    struct zs_recording_writer *w;
    struct zs_diag diag;
    create_and_finish("r");
    create_and_finish("r");
    assert_true(zs_recording_probe("r"));
    assert_true(zs_recording_probe("r.2"));

    assert_int_equal(mkdir("empty", 0777), 0);
    create_and_finish("empty");
    assert_true(zs_recording_probe("empty"));

    assert_int_equal(mkdir("other", 0777), 0);
    put("other/precious", "data");
    assert_false(zs_recording_probe("other"));
    assert_int_equal(create("other", &w, &diag), -EEXIST);
    assert_non_null(strstr(diag.text, "is not a recording"));
    assert_int_equal(access("other/precious", F_OK), 0);
    assert_int_equal(create("other/precious", &w, &diag), -EEXIST);
    assert_int_equal(create("no/such/folder", &w, &diag), -ENOENT);
    assert_false(zs_recording_probe("nothing"));
}

/* One rank of a program whose ranks all got the same -o; every other one cannot start its program.
 */
static int race_as(int go)
{
    struct zs_recording_writer *w;
    struct zs_diag diag = {0};
    char byte;
    if (read(go, &byte, 1) != 0 || create("race", &w, &diag))
        return 1;
    char *path = strdup(zs_recording_writer_path(w));
    if (getpid() % 2) {
        zs_recording_abandon(w);
        return 0;
    }
    const struct zs_recording_result result = {0};
    struct zs_recording *recording;
    int error = zs_recording_finish(w, &result, &diag);
    error = error ? error : zs_recording_open(path, &recording, &diag);
    if (!error)
        zs_recording_close(recording);
    free(path);
    return error != 0;
}

static void test_ranks_with_one_folder(void **state)
{
    enum { ROUNDS = 60, RANKS = 6 };
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pids[RANKS];
        int go[2], status, kept = 0, found = 0;
        char name[32];
        if (round % 2)
            assert_int_equal(mkdir("race", 0777), 0);
        assert_int_equal(pipe(go), 0);
        for (int i = 0; i < RANKS; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                close(go[1]);
                _exit(race_as(go[0]));
            }
        }
        close(go[0]);
        close(go[1]);
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            assert_int_equal(status, 0);
            kept += !(pids[i] % 2);
        }
        for (int i = 1; i <= 2 * RANKS; i++) {
            snprintf(name, sizeof(name), i == 1 ? "race" : "race.%d", i);
            found += zs_recording_probe(name);
        }
        assert_int_equal(found, kept);
        assert_int_equal(system("rm -rf race race.*"), 0);
    }
}

static void test_sources(void **state)
{
    struct fixture *f = *state;
    struct zs_recording_writer *w;
    struct zs_diag diag;
    char absolute[128];
    put("k.cl", "kernel void k() {}\n");
    put("copy.cl", "kernel void k() {}\n");
    snprintf(absolute, sizeof(absolute), "%s/copy.cl", f->dir);
    assert_int_equal(create("r", &w, &diag), 0);
    assert_int_equal(zs_recording_add_source(w, "k.cl"), 0);
    assert_int_equal(zs_recording_add_source(w, "k.cl"), 0);
    assert_int_equal(zs_recording_add_source(w, absolute), 0);
    assert_int_equal(zs_recording_add_source(w, "missing.cl"), 1);
    assert_int_equal(zs_recording_add_source(w, "missing.cl"), 1);
    assert_int_equal(zs_recording_add_source(w, "/dev/zero"), 1);
    assert_int_equal(zs_recording_add_source(w, "/proc/self/exe"), 1);
    assert_int_equal(zs_recording_finish(w, &(struct zs_recording_result){0}, &diag), 0);
    struct zs_recording *r = open_it(f);
    uint32_t count;
    zs_recording_sources(r, &count);
    assert_int_equal(count, 2);
    const struct zs_record_source *source = zs_recording_find_source(r, "k.cl");
    assert_non_null(source);
    assert_string_equal(source->blob.file, zs_recording_find_source(r, absolute)->blob.file);
    assert_null(zs_recording_find_source(r, "missing.cl"));
    struct zs_span span;
    assert_int_equal(zs_recording_blob_read(r, &source->blob, &span, &diag), 0);
    assert_int_equal(span.size_B, 19);
    zs_recording_blob_free(&span);
}

/* --- reader ---------------------------------------------------------------------------------- */

static void test_not_a_recording(void **state)
{
    struct zs_recording *r;
    static const struct {
        const char *meta;
        const char *says;
    } cases[] = {
        {"", "meta.json"},
        {"{", "meta.json"},
        {"[]", "schema"},
        {"{\"schema\":7}", "schema"},
        {"{\"schema\":\"zescope.recording/2\"}", "zescope.recording/2"},
        {"{\"schema\":\"zescope.recording/1\",\"schema\":\"x\"}", "meta.json"},
        {"\xff\xfe", "meta.json"},
    };
    struct zs_diag diag = {0};
    assert_int_equal(zs_recording_open("nothing", &r, &diag), -ENOENT);
    diag = (struct zs_diag){0};
    put("file", "x");
    assert_int_equal(zs_recording_open("file", &r, &diag), -ENOTDIR);
    diag = (struct zs_diag){0};
    assert_int_equal(mkdir("r", 0777), 0);
    assert_int_equal(zs_recording_open("r", &r, &diag), -EINVAL);
    for (size_t i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        diag = (struct zs_diag){0};
        put("r/meta.json", cases[i].meta);
        assert_int_equal(zs_recording_open("r", &r, &diag), -EINVAL);
        assert_null(r);
        assert_non_null(strstr(diag.text, cases[i].says));
    }
    /* a link out of the folder, a pipe nobody writes to */
    put("target.json", "{\"schema\":\"zescope.recording/1\"}");
    assert_int_equal(unlink("r/meta.json"), 0);
    assert_int_equal(symlink("../target.json", "r/meta.json"), 0);
    assert_int_not_equal(zs_recording_open("r", &r, NULL), 0);
    assert_false(zs_recording_probe("r"));
    assert_int_equal(unlink("r/meta.json"), 0);
    assert_int_equal(mkfifo("r/meta.json", 0666), 0);
    assert_int_not_equal(zs_recording_open("r", &r, NULL), 0);
}

static void test_only_meta(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir("r", 0777), 0);
    put("r/meta.json", "{\"schema\":\"zescope.recording/1\",\"argv\":[1,\"a\",null]}");
    struct zs_recording *r = open_it(f);
    uint32_t count;
    zs_recording_modules(r, &count);
    assert_int_equal(count, 0);
    zs_recording_notes(r, &count);
    assert_true(count > 0);
    assert_int_equal(zs_recording_info(r)->argc, 1);
    assert_string_equal(zs_recording_info(r)->argv[0], "a");
    assert_false(zs_recording_info(r)->finished);
    assert_string_equal(zs_recording_info(r)->host, "");
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Everything that a reader must not follow or trust; each costs a note and nothing else. */
static void test_hostile_blobs(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {
        "../../../etc/passwd",
        "/etc/passwd",
        HASH,
        HASH ".",
        HASH ".toolongext",
        HASH ".b/n",
        HASH ".BIN",
        "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef.bin",
        HASH ".bin", /* a symbolic link */
        HASH ".dbg", /* another size than stated */
        HASH ".spv", /* a folder */
        HASH ".txt", /* a pipe */
        "",
    };
    create_and_finish("r");
    assert_int_equal(mkdir("r/process/1", 0777), 0);
    put("r/process/1/process.json", "{}");
    put("outside", "12345");
    assert_int_equal(symlink("../../outside", "r/modules/" HASH ".bin"), 0);
    put("r/modules/" HASH ".dbg", "1234567");
    assert_int_equal(mkdir("r/modules/" HASH ".spv", 0777), 0);
    assert_int_equal(mkfifo("r/modules/" HASH ".txt", 0666), 0);
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        char lines[1024];
        snprintf(lines, sizeof(lines),
                 "{\"event\":\"begin\",\"id\":1}\n{\"event\":\"end\",\"id\":1,\"binary\":"
                 "{\"blob\":\"%s\",\"size_B\":5}}\n",
                 names[i]);
        put("r/process/1/modules.jsonl", lines);
        struct zs_recording *r = open_it(f);
        uint32_t count;
        const struct zs_record_build *b = zs_recording_builds(r, &count);
        assert_int_equal(count, 1);
        assert_int_equal(b->module, ZS_RECORD_NONE);
        zs_recording_modules(r, &count);
        assert_int_equal(count, 0);
        zs_recording_notes(r, &count);
        assert_int_equal(count, 1);
    }
}

static void test_broken_lines(void **state)
{
    struct fixture *f = *state;
    create_and_finish("r");
    assert_int_equal(mkdir("r/process/7", 0777), 0);
    assert_int_equal(mkdir("r/process/7.1", 0777), 0);
    assert_int_equal(mkdir("r/process/7.x", 0777), 0);
    assert_int_equal(mkdir("r/process/-7", 0777), 0);
    assert_int_equal(symlink("7", "r/process/8"), 0);
    put("r/process/7/process.json", "{\"pid\":7,\"argv\":[\"x\"]}");
    put("r/process/7.1/process.json", "[[[");
    put("r/modules/" HASH ".bin", "12345");
    put("r/process/7/modules.jsonl",
        "{\"event\":\"begin\",\"id\":1,\"tid\":-5,\"inputs\":7}\n"
        "\n"
        "{\"event\":\"begin\",\"id\":2,\"inputs\":[1,{},{\"constants\":[[],{\"id\":1e9}]}]}\n"
        "not json\n"
        "[1,2]\n"
        "{\"event\":\"later kind\"}\n"
        "{\"event\":\"end\",\"id\":99}\n"
        "{\"event\":\"end\",\"id\":2,\"result\":\"zz\",\"kernels\":{},\"handle\":\"0x5\","
        "\"binary\":"
        "{\"blob\":\"" HASH ".bin\",\"size_B\":5}}\n"
        "{\"event\":\"end\",\"id\":2}\n"
        "{\"event\":\"link\",\"modules\":[{\"handle\":\"0x5\",\"binary\":3},7]}\n"
        "{\"event\":\"destroy\",\"handle\":[]}\n"
        "{\"event\":\"begin\",\"id\":3}\n"
        "{\"event\":\"end\",\"id\":3,\"bina");
    struct zs_recording *r = open_it(f);
    uint32_t count;
    const struct zs_record_process *p = zs_recording_processes(r, &count);
    assert_int_equal(count, 2);
    assert_int_equal(p[0].pid, 7);
    assert_int_equal(p[1].pid, 7);
    const struct zs_record_build *b = zs_recording_builds(r, &count);
    assert_int_equal(count, 3);
    assert_false(b[0].finished);
    assert_true(b[1].finished);
    assert_int_equal(b[1].module, 0);
    assert_int_equal(b[1].input_count, 3);
    assert_int_equal(b[1].inputs[2].constant_count, 2);
    assert_false(b[2].finished);
    zs_recording_modules(r, &count);
    assert_int_equal(count, 1);
    zs_recording_notes(r, &count);
    assert_true(count >= 7);
}

static void test_notes_are_bounded(void **state)
{
    struct fixture *f = *state;
    create_and_finish("r");
    assert_int_equal(mkdir("r/process/7", 0777), 0);
    put("r/process/7/process.json", "{}");
    FILE *out = fopen("r/process/7/notes.jsonl", "w");
    for (unsigned i = 0; i < 30000; i++)
        fputs("{\"text\":\"x\"}\n", out);
    fclose(out);
    uint32_t count;
    const struct zs_record_note *notes = zs_recording_notes(open_it(f), &count);
    assert_int_equal(count, 10001);
    assert_non_null(strstr(notes[10000].text, "not shown"));
}

static void test_device_names(void **state)
{
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x1902), "skl");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x9a49), "tgllp");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x56a0), "dg2");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x5694), "acm-g11");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x7d55), "mtl-h");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x7d51), "arl-h");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0xd740), "nvl-s");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x674c), "cri");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0x0bd5), "pvc");
    assert_string_equal(zs_device_ocloc_name(0x8086, 0), "");
    assert_string_equal(zs_device_ocloc_name(0x10de, 0x1902), "");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        CASE(test_torn_line_costs_only_itself),
        CASE(test_lines_of_several_threads),
        CASE(test_blob_is_kept_once),
        CASE(test_names),
        CASE(test_existing_folders),
        CASE(test_sources),
        CASE(test_not_a_recording),
        CASE(test_only_meta),
        CASE(test_hostile_blobs),
        CASE(test_broken_lines),
        CASE(test_ranks_with_one_folder),
        CASE(test_notes_are_bounded),
        cmocka_unit_test(test_device_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
