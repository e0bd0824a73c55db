/* SPDX-License-Identifier: MIT */
/*
 * Compare our instruction set with libiga64.
 *
 * usage: compare_iga SET FILE.insts [--mutate N] [--random N] [--seed S] [--encode] [--assemble]
 *                    [--show N] [--known FILE]
 *
 * FILE.insts are 16 bytes an instruction. Compared is the text, or that both refuse; with --encode
 * also that encoding what was decoded gives the same bytes; with --assemble that our assembler
 * makes of the text what libiga64's does. --mutate changes up to four bits or one byte of
 * instructions of the file; --random draws all bits but those of a few opcodes at random. libiga64
 * works in child processes; instructions on which it crashes or does not come to an end in ten
 * seconds are counted and left out.
 *
 * Differences are gathered by class, what differs and the operation, most frequent first, with
 * examples. FILE of --known has a line for each class in which libiga64 is known to be wrong, "SETS
 * ORIGIN CLASS: why": the instruction sets, separated by commas; "compiled" (the file's own
 * instructions) or "made" (mutated and random ones); the class, whose end may be "*". What is known
 * is counted by class, too. Exit status 0: no difference outside known classes.
 */
#include "iga.h"
#include "subject.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 256, CHUNK = 8192, CLASSES_MAX = 512, NAME_MAX_B = 64, EXAMPLES_MAX = 8 };
enum { EXAMPLE_MAX_B = 640, CPU_SECONDS_MAX = 10 };

struct class_row {
    char name[NAME_MAX_B];
    uint64_t count;
    char examples[EXAMPLES_MAX][EXAMPLE_MAX_B];
};

/* Shared by the parent and its children. */
struct results {
    uint64_t compared, refused, crashed;
    uint32_t done; /* of the chunk, in instructions */
    uint32_t class_count;
    struct class_row classes[CLASSES_MAX];
};

struct options {
    enum zs_isa_platform platform;
    const char *file, *known;
    uint64_t mutate, random, seed;
    uint32_t show;
    bool encode, assemble;
};

static struct options options = {.seed = 1, .show = 2};
static struct results *results;
static uint8_t (*corpus)[16];
static uint32_t corpus_count;

/* ---- differences ---- */

static void hex(const uint8_t *bytes, uint32_t size_B, char *text)
{
    for (uint32_t i = 0; i < size_B; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
}

/* "add" of "(W&~f0.0) add (8|M0)  ...". */
static void operation_of(const char *line, char name[32])
{
    if (*line == '(') {
        line = strchrnul(line, ')');
        line += *line == ')';
    }
    line += strspn(line, " ");
    size_t size_B = ZS_MIN(strcspn(line, " ("), (size_t)31);
    memcpy(name, line, size_B);
    name[size_B] = '\0';
}

static void differ(const char *what, const char *operation, const uint8_t inst[16],
                   const char *theirs, const char *ours)
{
    char name[NAME_MAX_B], encoding[40];
    snprintf(name, sizeof(name), "%s %s", what, operation);
    hex(inst, inst_size_B(inst), encoding);
    uint32_t i = 0;
    while (i < results->class_count && strcmp(results->classes[i].name, name) != 0)
        i++;
    if (i == CLASSES_MAX)
        i--;
    struct class_row *row = &results->classes[i];
    if (i == results->class_count) {
        strcpy(row->name, name);
        results->class_count++;
    }
    if (row->count < EXAMPLES_MAX)
        snprintf(row->examples[row->count], EXAMPLE_MAX_B,
                 "    %s\n      iga:  %.280s\n      ours: %.280s\n", encoding, theirs, ours);
    row->count++;
}

/* Spaces do not count in branches: how many follow a label depends on how libiga64 is called. */
static bool same_text(const char *a, const char *b, bool is_branch)
{
    if (!is_branch)
        return strcmp(a, b) == 0;
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (!*a || *a != *b)
            return *a == *b;
    }
}

/* libiga64 writes three-source immediates of type b as the character of that code, and its line
 * ends there when that is 0 or 10. True when `theirs` is what that makes of `ours`. */
static bool same_but_bytes(const char *theirs, const char *ours)
{
    while (*theirs && *ours) {
        size_t digits = strspn(ours + (*ours == '-'), "0123456789") + (*ours == '-');
        if (digits > (*ours == '-') && strncmp(ours + digits, ":b", 2) == 0) {
            if (*theirs++ != (char)atoi(ours))
                return false;
            ours += digits;
        } else if (*theirs++ != *ours++) {
            return false;
        }
    }
    ours += strspn(ours, " ");
    return !*theirs && (!*ours || strncmp(ours, "0:b", 3) == 0 || strncmp(ours, "10:b", 4) == 0);
}

/* libiga64 does not know that dpas saturates. True when `ours` is `theirs` with that word. */
static bool same_but_saturation(const char *theirs, const char *ours)
{
    const char *word = strncmp(theirs, "        dpas", 12) == 0 ? strstr(ours, "(sat)") : NULL;
    char without[512];
    if (!word)
        return false;
    snprintf(without, sizeof(without), "%.*s%s", (int)(word - ours), ours, word + 5);
    const char *x = theirs, *y = without;
    for (;; x++, y++) { /* columns move */
        x += strspn(x, " ");
        y += strspn(y, " ");
        if (*x != *y)
            return false;
        if (!*x)
            return true;
    }
}

/* Also opcode 0, which libiga64 prints without a reason. */
static bool refused_by_iga(const char *line)
{
    char name[32];
    operation_of(line, name);
    return strcmp(name, "illegal") == 0;
}

static void compare_assembly(struct iga *iga, const uint8_t inst[16], const char *line,
                             const char *operation)
{
    uint8_t theirs[16], ours[16] = {0};
    uint32_t their_size_B = 0, our_size_B = 0;
    char reason[SUBJECT_LINE_MAX_B] = "", their_text[80] = "refused", our_text[80];
    bool they = iga_assemble(iga, line, theirs, &their_size_B);
    bool we = subject_assemble(options.platform, line, ours, &our_size_B, reason);
    if (they)
        hex(theirs, their_size_B, their_text);
    else
        snprintf(their_text, sizeof(their_text), "refused: %.60s", iga_error(iga));
    if (we)
        hex(ours, our_size_B, our_text);
    else
        snprintf(our_text, sizeof(our_text), "refused: %.60s", reason);
    bool same = they == we &&
                (!they || (their_size_B == our_size_B && memcmp(theirs, ours, their_size_B) == 0));
    if (!same)
        differ(they == we ? "assembly"
               : we       ? "assembly-ours-only"
                          : "assembly-iga-only",
               operation, inst, their_text, our_text);
}

/* Encoded without a change it gives its own bytes. What libiga64's assembler makes of its text,
 * which has zeros wherever the text says nothing, comes back from the fields alone. */
static void compare_encoding(struct iga *iga, const uint8_t inst[16], const char *line,
                             const char *operation)
{
    uint8_t bytes[16] = {0}, theirs[16];
    char text[SUBJECT_LINE_MAX_B] = "";
    uint32_t size_B = 0;
    if (!subject_encode(options.platform, inst, false, bytes, text)) {
        differ("not-encoded", operation, inst, line, text);
    } else if (memcmp(bytes, inst, inst_size_B(inst)) != 0) {
        hex(bytes, 16, text);
        differ("bytes", operation, inst, line, text);
    }
    if (inst_is_branch(inst) || !iga_assemble(iga, line, theirs, &size_B))
        return;
    memset(bytes, 0, sizeof(bytes));
    if (!subject_print(options.platform, theirs, text)) {
        differ("assembled-illegal", operation, theirs, line, text);
    } else if (!subject_encode(options.platform, theirs, true, bytes, text)) {
        differ("not-encoded-afresh", operation, theirs, line, text);
    } else if (memcmp(bytes, theirs, size_B) != 0) {
        hex(bytes, inst_size_B(bytes), text);
        differ("bytes-afresh", operation, theirs, line, text);
    }
}

static void compare_one(struct iga *iga, const uint8_t inst[16], const char *theirs)
{
    char ours[SUBJECT_LINE_MAX_B], operation[32];
    bool they = !refused_by_iga(theirs), we = subject_print(options.platform, inst, ours);
    operation_of(they ? theirs : ours, operation);
    results->compared++;
    if (!they && !we) {
        results->refused++;
        return;
    }
    if (they != we) {
        char refused[48];
        snprintf(refused, sizeof(refused), "opcode 0x%02x", inst[0] & 0x7f);
        differ(we ? "refused-by-iga" : "refused-by-us", they ? operation : refused, inst, theirs,
               ours);
        return;
    }
    bool same = same_text(theirs, ours, inst_is_branch(inst));
    if (!same && same_but_bytes(theirs, ours))
        differ("text-byte-immediate", "", inst, theirs, ours);
    else if (!same && same_but_saturation(theirs, ours))
        differ("text-saturation", "", inst, theirs, ours);
    else if (!same && strstr(theirs, "???"))
        differ("text-without-value", "", inst, theirs, ours);
    else if (!same)
        differ("text", operation, inst, theirs, ours);
    if (options.encode)
        compare_encoding(iga, inst, theirs, operation);
    if (options.assemble && !inst_is_branch(inst))
        compare_assembly(iga, inst, theirs, operation);
}

/* ---- what is compared ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Instruction n of a kind; the same for the same seed. */
static void make_mutated(uint64_t n, uint8_t inst[16])
{
    uint64_t state = options.seed * 0x2545f4914f6cdd1d + n;
    memcpy(inst, corpus[next_random(&state) % corpus_count], 16);
    uint64_t r = next_random(&state);
    uint32_t size_B = inst_size_B(inst);
    if ((r & 7) == 0) {
        inst[(r >> 8) % size_B] = (uint8_t)(r >> 16);
    } else {
        for (uint32_t i = 0; i <= (r & 3); i++) {
            uint32_t bit = (uint32_t)(next_random(&state) % (size_B * 8));
            inst[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    if (inst_size_B(inst) == 8)
        memset(inst + 8, 0, 8);
}

static void make_random(uint64_t n, uint8_t inst[16])
{
    uint64_t state = options.seed * 0x9fb21c651e98df25 + n;
    uint64_t bits[2] = {next_random(&state), next_random(&state)};
    memcpy(inst, bits, 16);
    /* opcodes that are used, and mostly not compacted */
    inst[0] = (uint8_t)((inst[0] & 0x80) | (corpus[next_random(&state) % corpus_count][0] & 0x7f));
    if (next_random(&state) % 4)
        inst[3] &= (uint8_t)~0x20u;
    if (inst_size_B(inst) == 8)
        memset(inst + 8, 0, 8);
}

static void make_given(uint64_t n, uint8_t inst[16])
{
    memcpy(inst, corpus[n], 16);
}

typedef void make_fn(uint64_t n, uint8_t inst[16]);

/* ---- children ---- */

static void compare_batch(struct iga *iga, make_fn *make, uint64_t first, uint32_t count)
{
    uint8_t insts[BATCH][16];
    const char *lines[BATCH];
    for (uint32_t i = 0; i < count; i++)
        make(first + i, insts[i]);
    if (!iga_print(iga, (const uint8_t(*)[16])insts, count, lines)) {
        fprintf(stderr, "libiga64 fails altogether\n");
        _exit(3);
    }
    for (uint32_t i = 0; i < count; i++)
        compare_one(iga, insts[i], lines[i]);
}

static void child(make_fn *make, uint64_t first, uint32_t count, uint32_t batch)
{
    signal(SIGALRM, SIG_DFL);
    struct iga *iga = iga_open(options.platform);
    while (results->done < count) {
        uint32_t n = ZS_MIN(batch, count - results->done);
        const struct itimerval most = {.it_value = {.tv_sec = CPU_SECONDS_MAX}};
        setitimer(ITIMER_PROF, &most, NULL); /* of the processor: the machine may be busy */
        compare_batch(iga, make, first + results->done, n);
        results->done += n;
    }
    iga_close(iga);
    fflush(NULL);
    _exit(0);
}

/* Status 0: done; else the child ended at instruction results->done. */
static int run_child(make_fn *make, uint64_t first, uint32_t count, uint32_t batch)
{
    fflush(NULL);
    pid_t pid = fork();
    zs_assert(pid >= 0);
    if (pid == 0)
        child(make, first, count, batch);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
        exit(2);
    return status;
}

/* A batch in which libiga64 crashed: one by one. What was compared before the crash counts twice.
 */
static void run_singly(make_fn *make, uint64_t first, uint32_t count)
{
    uint32_t done = 0;
    while (done < count) {
        results->done = 0;
        if (run_child(make, first + done, count - done, 1) == 0)
            return;
        uint8_t inst[16];
        char encoding[40];
        done += results->done;
        make(first + done, inst);
        hex(inst, inst_size_B(inst), encoding);
        if (results->crashed++ < options.show)
            printf("  libiga64 crashes or hangs on %s\n", encoding);
        done++;
    }
}

static void compare_all(make_fn *make, uint64_t total)
{
    for (uint64_t first = 0; first < total; first += CHUNK) {
        uint32_t count = (uint32_t)ZS_MIN((uint64_t)CHUNK, total - first), from = 0;
        while (from < count) {
            results->done = 0;
            if (run_child(make, first + from, count - from, BATCH) == 0)
                break;
            from += results->done;
            uint32_t n = ZS_MIN((uint32_t)BATCH, count - from);
            run_singly(make, first + from, n);
            from += n;
        }
    }
}

/* ---- report ---- */

static int by_count(const void *a, const void *b)
{
    const struct class_row *x = a, *y = b;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->name, y->name);
}

/* Whether `list` of words between commas, which ends at a blank, has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t size_B = strlen(word);
    for (;; list++) {
        size_t n = strcspn(list, ", ");
        if (n == size_B && memcmp(list, word, n) == 0)
            return true;
        list += n;
        if (*list != ',')
            return false;
    }
}

/* Whether a line of the file is for this run and this class. */
static bool is_row_of(const char *line, const char *name)
{
    const char *origin = strchr(line, ' '), *text = origin ? strchr(origin + 1, ' ') : NULL;
    if (*line == '#' || !text)
        return false;
    if (!has_word(line, zs_isa_platform_info(options.platform)->name) ||
        !has_word(origin + 1, options.mutate || options.random ? "made" : "compiled"))
        return false;
    text++;
    size_t size_B = strcspn(text, ":");
    if (text[size_B] != ':')
        return false;
    if (size_B && text[size_B - 1] == '*')
        return strncmp(text, name, size_B - 1) == 0;
    return strlen(name) == size_B && strncmp(text, name, size_B) == 0;
}

static bool is_known(const char *name)
{
    FILE *file = options.known ? fopen(options.known, "r") : NULL;
    char line[512];
    bool known = false;
    while (file && !known && fgets(line, sizeof(line), file))
        known = is_row_of(line, name);
    if (file)
        fclose(file);
    return known;
}

static int report(void)
{
    uint64_t differences = 0, known = 0;
    qsort(results->classes, results->class_count, sizeof(results->classes[0]), by_count);
    for (uint32_t i = 0; i < results->class_count; i++) {
        const struct class_row *row = &results->classes[i];
        if (is_known(row->name)) {
            known += row->count;
            printf("  %8llu  known: %s\n", (unsigned long long)row->count, row->name);
            continue;
        }
        differences += row->count;
        printf("  %8llu  %s\n", (unsigned long long)row->count, row->name);
        for (uint32_t e = 0; e < ZS_MIN((uint64_t)options.show, row->count) && e < EXAMPLES_MAX;
             e++)
            fputs(row->examples[e], stdout);
    }
    printf("%s: %llu compared, %llu refused by both, %llu crashes of libiga64, %llu known, "
           "%llu differences\n",
           zs_isa_platform_info(options.platform)->name, (unsigned long long)results->compared,
           (unsigned long long)results->refused, (unsigned long long)results->crashed,
           (unsigned long long)known, (unsigned long long)differences);
    return differences ? 1 : 0;
}

/* ---- main ---- */

static void read_corpus(void)
{
    FILE *file = fopen(options.file, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", options.file, strerror(errno));
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    long size_B = ftell(file);
    rewind(file);
    zs_assert(size_B > 0 && size_B % 16 == 0);
    corpus = malloc((size_t)size_B);
    zs_assert(corpus);
    corpus_count = (uint32_t)(size_B / 16);
    zs_assert(fread(corpus, 16, corpus_count, file) == corpus_count);
    fclose(file);
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = text ? strtoull(text, &end, 0) : 0;
    if (!text || *end) {
        fprintf(stderr, "a number is expected\n");
        exit(2);
    }
    return value;
}

static void parse(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s SET FILE.insts [options]\n", argv[0]);
        exit(2);
    }
    for (int p = 1; p < ZS_ISA_PLATFORM_COUNT; p++)
        if (strcmp(zs_isa_platform_info((enum zs_isa_platform)p)->name, argv[1]) == 0)
            options.platform = (enum zs_isa_platform)p;
    options.file = argv[2];
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--encode") == 0)
            options.encode = true;
        else if (strcmp(argv[i], "--assemble") == 0)
            options.assemble = true;
        else if (strcmp(argv[i], "--mutate") == 0)
            options.mutate = number(argv[++i]);
        else if (strcmp(argv[i], "--random") == 0)
            options.random = number(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0)
            options.seed = number(argv[++i]);
        else if (strcmp(argv[i], "--show") == 0)
            options.show = (uint32_t)number(argv[++i]);
        else if (strcmp(argv[i], "--known") == 0)
            options.known = argv[++i];
        else
            exit(2);
    }
    struct iga *iga = iga_open(options.platform);
    if (!iga) {
        fprintf(stderr, "libiga64 does not know %s\n", argv[1]);
        exit(2);
    }
    iga_close(iga);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    read_corpus();
    results =
        mmap(NULL, sizeof(*results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    zs_assert(results != MAP_FAILED);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!options.mutate && !options.random)
        compare_all(make_given, corpus_count);
    compare_all(make_mutated, options.mutate);
    compare_all(make_random, options.random);
    free(corpus);
    return report();
}
