/* SPDX-License-Identifier: MIT */
/*
 * Thompson's construction, and all states at once over the text (Thompson 1968; Cox, "Regular
 * Expression Matching Can Be Simple And Fast"). Instructions are emitted while the expression is
 * parsed; a repeated part is copied, since addresses in it are relative.
 */
#include "base/windows/regex.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTS_MAX = 20000, REPEAT_MAX = 0x7fff, DEPTH_MAX = 200 };

enum regex_op { OP_SET, OP_SPLIT, OP_JUMP, OP_ASSERT, OP_MATCH };

enum regex_assert { AT_BEGIN, AT_END, AT_WORD_EDGE, AT_NO_WORD_EDGE, AT_WORD_BEGIN, AT_WORD_END };

/* OP_SPLIT goes to the next instruction and to `to`, OP_JUMP to `to`, both relative to themselves.
 */
struct regex_inst {
    enum regex_op op;
    int to; /* or enum regex_assert */
    uint64_t set[4];
};

struct zs_regex_program {
    size_t count, capacity;
    struct regex_inst insts[];
};

struct regex_parser {
    const char *at;
    struct zs_regex_program *program;
    int error;
    int depth;
    struct regex_inst nowhere; /* takes what is emitted after an error */
};

static void fail(struct regex_parser *p, int error)
{
    if (!p->error)
        p->error = error;
}

/* ---- emitting ---- */

static bool reserve(struct regex_parser *p, size_t more)
{
    struct zs_regex_program *program = p->program;
    if (p->error)
        return false;
    if (program->count + more > INSTS_MAX) {
        fail(p, REG_ESPACE);
        return false;
    }
    if (program->count + more <= program->capacity)
        return true;
    size_t capacity = 2 * (program->count + more);
    program = realloc(program, sizeof(*program) + capacity * sizeof(program->insts[0]));
    if (!program) {
        fail(p, REG_ESPACE);
        return false;
    }
    program->capacity = capacity;
    p->program = program;
    return true;
}

static struct regex_inst *emit(struct regex_parser *p, enum regex_op op, int to)
{
    if (!reserve(p, 1))
        return &p->nowhere;
    struct regex_inst *inst = &p->program->insts[p->program->count++];
    *inst = (struct regex_inst){.op = op, .to = to};
    return inst;
}

static int size_from(const struct regex_parser *p, size_t begin)
{
    return (int)(p->program->count - begin);
}

/* One more instruction at `begin`: what follows moves up. */
static void insert(struct regex_parser *p, size_t begin, enum regex_op op, int to)
{
    if (!reserve(p, 1))
        return;
    struct regex_inst *inst = &p->program->insts[begin];
    memmove(inst + 1, inst, (p->program->count++ - begin) * sizeof(*inst));
    *inst = (struct regex_inst){.op = op, .to = to};
}

/* A copy of what was emitted from `begin` to `begin + size`. */
static void copy(struct regex_parser *p, size_t begin, int size)
{
    if (!reserve(p, (size_t)size))
        return;
    struct regex_inst *insts = p->program->insts;
    memcpy(insts + p->program->count, insts + begin, (size_t)size * sizeof(*insts));
    p->program->count += (size_t)size;
}

/* ---- sets of bytes ---- */

static void set_add(struct regex_inst *inst, unsigned byte)
{
    inst->set[byte / 64] |= UINT64_C(1) << byte % 64;
}

static bool set_has(const struct regex_inst *inst, unsigned byte)
{
    return inst->set[byte / 64] >> byte % 64 & 1;
}

/* NUL is in no text. */
static void set_invert(struct regex_inst *inst)
{
    for (int i = 0; i < 4; i++)
        inst->set[i] = ~inst->set[i];
    inst->set[0] &= ~UINT64_C(1);
}

static bool is_word(int byte)
{
    return byte < 0x80 && (isalnum(byte) || byte == '_');
}

static bool is_blank(int byte)
{
    return byte == ' ' || byte == '\t';
}

#define CTYPE(name)                                                                                \
    static bool ctype_##name(int byte)                                                             \
    {                                                                                              \
        return byte < 0x80 && is##name(byte);                                                      \
    }
CTYPE(alpha)
CTYPE(digit)
CTYPE(alnum)
CTYPE(upper)
CTYPE(lower)
CTYPE(space)
CTYPE(punct)
CTYPE(print)
CTYPE(graph)
CTYPE(cntrl)
CTYPE(xdigit)
#undef CTYPE

static void set_add_class(struct regex_inst *inst, bool (*has)(int byte))
{
    for (int byte = 1; byte < 256; byte++)
        if (has(byte))
            set_add(inst, (unsigned)byte);
}

static const struct {
    const char *name;
    bool (*has)(int byte);
} class_rows[] = {
    {"alpha", ctype_alpha}, {"digit", ctype_digit}, {"alnum", ctype_alnum},
    {"upper", ctype_upper}, {"lower", ctype_lower}, {"space", ctype_space},
    {"blank", is_blank},    {"punct", ctype_punct}, {"print", ctype_print},
    {"graph", ctype_graph}, {"cntrl", ctype_cntrl}, {"xdigit", ctype_xdigit},
};

/* [:name:] after its "[:". */
static void parse_class(struct regex_parser *p, struct regex_inst *inst)
{
    const char *end = strstr(p->at, ":]");
    size_t length = end ? (size_t)(end - p->at) : 0;
    for (size_t i = 0; end && i < sizeof(class_rows) / sizeof(class_rows[0]); i++) {
        if (strlen(class_rows[i].name) == length && !memcmp(class_rows[i].name, p->at, length)) {
            set_add_class(inst, class_rows[i].has);
            p->at = end + 2;
            return;
        }
    }
    fail(p, end ? REG_ECTYPE : REG_EBRACK);
}

/* One end of a range: a byte, [.x.] or [=x=]. */
static int parse_range_end(struct regex_parser *p)
{
    const char *at = p->at;
    if (at[0] == '[' && (at[1] == '.' || at[1] == '=')) {
        if (!at[2] || at[3] != at[1] || at[4] != ']') {
            fail(p, REG_ECOLLATE);
            return 0;
        }
        p->at += 5;
        return (uint8_t)at[2];
    }
    p->at += *at != '\0';
    return (uint8_t)at[0];
}

static void parse_bracket(struct regex_parser *p)
{
    struct regex_inst set = {.op = OP_SET};
    bool is_inverted = *p->at == '^';
    p->at += is_inverted;
    for (bool is_first = true; !p->error && (is_first || *p->at != ']'); is_first = false) {
        if (!*p->at) {
            fail(p, is_first ? REG_BADPAT : REG_EBRACK);
        } else if (p->at[0] == '[' && p->at[1] == ':') {
            p->at += 2;
            parse_class(p, &set);
        } else {
            int low = parse_range_end(p), high = low;
            if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
                p->at++;
                high = parse_range_end(p);
            }
            if (low > high)
                fail(p, REG_ERANGE);
            for (int byte = low; byte <= high; byte++)
                set_add(&set, (unsigned)byte);
        }
    }
    p->at += !p->error;
    if (is_inverted)
        set_invert(&set);
    memcpy(emit(p, OP_SET, 0)->set, set.set, sizeof(set.set));
}

/* ---- the grammar ---- */

static void parse_alternatives(struct regex_parser *p);

/* Whether it may be repeated: assertions may not. */
static bool parse_escape(struct regex_parser *p)
{
    char c = *p->at++;
    static const char asserts[] = "`'bB<>"; /* in the order of enum regex_assert */
    const char *which = c ? strchr(asserts, c) : NULL;
    if (which) {
        emit(p, OP_ASSERT, (int)(which - asserts));
        return false;
    }
    if (!c) {
        p->at--;
        fail(p, REG_EESCAPE);
    } else if (c >= '1' && c <= '9') {
        fail(p, REG_ESUBREG);
    } else {
        struct regex_inst *inst = emit(p, OP_SET, 0);
        if (c == 'w' || c == 'W')
            set_add_class(inst, is_word);
        else if (c == 's' || c == 'S')
            set_add_class(inst, ctype_space);
        else
            set_add(inst, (uint8_t)c);
        if (c == 'W' || c == 'S')
            set_invert(inst);
    }
    return true;
}

static bool parse_atom(struct regex_parser *p)
{
    char c = *p->at++;
    switch (c) {
    case '(':
        if (++p->depth > DEPTH_MAX)
            fail(p, REG_ESPACE);
        if (!p->error)
            parse_alternatives(p);
        p->depth--;
        if (*p->at == ')')
            p->at++;
        else
            fail(p, REG_EPAREN);
        return true;
    case '[':
        parse_bracket(p);
        return true;
    case '\\':
        return parse_escape(p);
    case '^':
        emit(p, OP_ASSERT, AT_BEGIN);
        return false;
    case '$':
        emit(p, OP_ASSERT, AT_END);
        return false;
    case '*':
    case '+':
    case '?':
    case '{':
        fail(p, REG_BADRPT);
        return false;
    case '.':
        set_invert(emit(p, OP_SET, 0));
        return true;
    default:
        set_add(emit(p, OP_SET, 0), (uint8_t)c);
        return true;
    }
}

static int parse_number(struct regex_parser *p)
{
    int value = -1;
    for (; isdigit((unsigned char)*p->at); p->at++)
        value = value > REPEAT_MAX ? value : (value < 0 ? 0 : value) * 10 + (*p->at - '0');
    return value;
}

/* {low}, {low,}, {,high}, {low,high} after the brace; high -1: no limit. */
static void parse_interval(struct regex_parser *p, int *ret_low, int *ret_high)
{
    int low = parse_number(p), high = low;
    bool has_comma = *p->at == ',';
    if (has_comma) {
        p->at++;
        high = parse_number(p);
    }
    if (*p->at != '}')
        fail(p, *p->at ? REG_BADBR : REG_EBRACE);
    else if ((low < 0 && !has_comma) || (high >= 0 && low > high))
        fail(p, REG_BADBR);
    else if (low > REPEAT_MAX || high > REPEAT_MAX)
        fail(p, REG_ESPACE);
    p->at += !p->error;
    *ret_low = low < 0 ? 0 : low;
    *ret_high = high;
}

/* What was emitted from `begin` becomes low to high of it. */
static void repeat(struct regex_parser *p, size_t begin, int low, int high)
{
    int size = size_from(p, begin);
    size_t last = begin;
    if (high == 0) {
        p->program->count = begin;
        return;
    }
    for (int i = 1; i < low && !p->error; i++) {
        last = p->program->count;
        copy(p, begin, size);
    }
    if (high < 0 && low > 0) { /* x+ */
        emit(p, OP_SPLIT, -size);
    } else if (high < 0) { /* x*: split over x and back */
        insert(p, last, OP_SPLIT, size + 2);
        emit(p, OP_JUMP, -(size + 1));
    } else if (low == 0) { /* x?, each of the others behind the one before */
        insert(p, begin, OP_SPLIT, high * (size + 1));
        for (int i = 1; i < high && !p->error; i++) {
            emit(p, OP_SPLIT, (high - i) * (size + 1));
            copy(p, begin + 1, size);
        }
    } else {
        for (int i = low; i < high && !p->error; i++) {
            emit(p, OP_SPLIT, (high - i) * (size + 1));
            copy(p, begin, size);
        }
    }
}

static void parse_repeated(struct regex_parser *p)
{
    size_t begin = p->program->count;
    bool may_repeat = parse_atom(p);
    while (may_repeat && !p->error && *p->at && strchr("*+?{", *p->at)) {
        int low = *p->at == '+', high = *p->at == '?' ? 1 : -1;
        if (*p->at++ == '{')
            parse_interval(p, &low, &high);
        if (!p->error)
            repeat(p, begin, low, high);
    }
}

static void parse_sequence(struct regex_parser *p)
{
    while (!p->error && *p->at && *p->at != '|' && (*p->at != ')' || !p->depth))
        parse_repeated(p);
}

/* a|b|c: each but the last has a split before it, to the next one, and a jump behind it, to the
 * jump of the next one or the end. */
static void parse_alternatives(struct regex_parser *p)
{
    size_t jump = 0;
    for (bool is_first = true; !p->error; is_first = false) {
        size_t begin = p->program->count;
        parse_sequence(p);
        bool is_last = *p->at != '|';
        if (!is_last)
            insert(p, begin, OP_SPLIT, size_from(p, begin) + 2);
        if (!p->error && !is_first)
            p->program->insts[jump].to = size_from(p, jump);
        if (is_last)
            return;
        p->at++;
        jump = p->program->count;
        emit(p, OP_JUMP, 0);
    }
}

int regcomp(regex_t *regex, const char *pattern, int flags)
{
    (void)flags;
    struct regex_parser p = {.at = pattern, .program = calloc(1, sizeof(*p.program))};
    regex->program = NULL;
    if (!p.program)
        return REG_ESPACE;
    parse_alternatives(&p);
    emit(&p, OP_MATCH, 0);
    if (p.error)
        free(p.program);
    else
        regex->program = p.program;
    return p.error;
}

/* ---- matching ---- */

struct regex_states {
    uint32_t *items;
    uint32_t *mark; /* of the position at which a state was added last */
    size_t count;
};

static bool holds(enum regex_assert assertion, int before, int after)
{
    bool is_word_before = before && is_word(before), is_word_after = after && is_word(after);
    switch (assertion) {
    case AT_BEGIN:
        return !before;
    case AT_END:
        return !after;
    case AT_WORD_EDGE:
        return is_word_before != is_word_after;
    case AT_NO_WORD_EDGE:
        return is_word_before == is_word_after;
    case AT_WORD_BEGIN:
        return !is_word_before && is_word_after;
    case AT_WORD_END:
        return is_word_before && !is_word_after;
    }
    return false;
}

/* The states that `first` reaches without a byte; true when one of them is the end. */
static bool add(const struct zs_regex_program *program, struct regex_states *states, uint32_t first,
                uint32_t mark, int before, int after, uint32_t *stack)
{
    size_t depth = 0;
    stack[depth++] = first;
    while (depth) {
        uint32_t i = stack[--depth];
        const struct regex_inst *inst = &program->insts[i];
        if (states->mark[i] == mark)
            continue;
        states->mark[i] = mark;
        if (inst->op == OP_MATCH)
            return true;
        if (inst->op == OP_SET)
            states->items[states->count++] = i;
        if (inst->op == OP_SPLIT || inst->op == OP_JUMP)
            stack[depth++] = i + (uint32_t)inst->to;
        if (inst->op == OP_SPLIT ||
            (inst->op == OP_ASSERT && holds((enum regex_assert)inst->to, before, after)))
            stack[depth++] = i + 1;
    }
    return false;
}

int regexec(const regex_t *regex, const char *text, size_t match_count, void *matches, int flags)
{
    (void)match_count, (void)matches, (void)flags;
    const struct zs_regex_program *program = regex->program;
    size_t n = program->count;
    /* two lists, the marks, and a stack: each state is pushed at most by two others */
    uint32_t *memory = calloc(5 * n + 1, sizeof(*memory));
    if (!memory)
        return REG_ESPACE;
    struct regex_states now = {memory, memory + 2 * n, 0}, next = {memory + n, memory + 2 * n, 0};
    uint32_t *stack = memory + 3 * n;
    bool is_match = add(program, &now, 0, 1, 0, (uint8_t)text[0], stack);
    for (uint32_t i = 0; text[i] && !is_match; i++) {
        uint8_t byte = (uint8_t)text[i], after = (uint8_t)text[i + 1];
        next.count = 0;
        for (size_t s = 0; s < now.count && !is_match; s++)
            if (set_has(&program->insts[now.items[s]], byte))
                is_match = add(program, &next, now.items[s] + 1, i + 2, byte, after, stack);
        if (!is_match)
            is_match = add(program, &next, 0, i + 2, byte, after, stack);
        struct regex_states swap = now;
        now = next;
        next = swap;
    }
    free(memory);
    return is_match ? 0 : REG_NOMATCH;
}

/* ---- the rest ---- */

size_t regerror(int error, const regex_t *regex, char *text, size_t size_B)
{
    static const char *const texts[] = {
        [REG_BADPAT] = "Invalid regular expression",
        [REG_ECOLLATE] = "Invalid collation character",
        [REG_ECTYPE] = "Invalid character class name",
        [REG_EESCAPE] = "Trailing backslash",
        [REG_ESUBREG] = "Invalid back reference",
        [REG_EBRACK] = "Unmatched [, [^, [:, [., or [=",
        [REG_EPAREN] = "Unmatched ( or \\(",
        [REG_EBRACE] = "Unmatched \\{",
        [REG_BADBR] = "Invalid content of \\{\\}",
        [REG_ERANGE] = "Invalid range end",
        [REG_ESPACE] = "Regular expression too big",
        [REG_BADRPT] = "Invalid preceding regular expression",
    };
    (void)regex;
    const char *found =
        error > 0 && (size_t)error < sizeof(texts) / sizeof(texts[0]) && texts[error]
            ? texts[error]
            : "Invalid regular expression";
    return (size_t)snprintf(text, size_B, "%s", found) + 1;
}

void regfree(regex_t *regex)
{
    free(regex->program);
    regex->program = NULL;
}
