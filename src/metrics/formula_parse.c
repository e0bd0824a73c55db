/* SPDX-License-Identifier: MIT */
/* Text to formulas: a scanner and recursive descent, one function per level of binding. */
#include "metrics/formula_priv.h"

#include "base/number.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token_kind {
    TOKEN_END,  /* of the text */
    TOKEN_LINE, /* end of a line outside parentheses */
    TOKEN_NUMBER,
    TOKEN_NAME,
    TOKEN_QUOTED,
    TOKEN_OPERATOR, /* one or two characters */
};

struct token {
    enum token_kind kind;
    const char *start;
    size_t size_B;
    uint32_t line, column;
    double value;
    struct zs_unit unit;
    bool has_unit;
};

struct parser {
    struct zs_arena *arena;
    struct zs_formula_error *error;
    const char *at, *end, *line_start;
    uint32_t line;
    uint32_t parens; /* lines do not end inside */
    uint32_t depth;
    struct token token;
    const char *comment; /* lines of comment right before the token; with their '#' */
    const char *comment_end;
    struct {
        struct node *items;
        size_t count, capacity;
    } nodes;
    int failed; /* -errno */
};

static const struct {
    const char *text;
    enum node_kind kind;
} operators[] = {
    {"+", NODE_ADD},
    {"-", NODE_SUBTRACT},
    {"*", NODE_MULTIPLY},
    {"/", NODE_DIVIDE},
    {"<=", NODE_LESS_EQUAL},
    {"<", NODE_LESS},
    {">=", NODE_GREATER_EQUAL},
    {">", NODE_GREATER},
    {"==", NODE_EQUAL},
    {"!=", NODE_NOT_EQUAL},
    {"=", NODE_EQUAL},
    {"and", NODE_AND},
    {"or", NODE_OR},
};

const char *formula_operator(enum node_kind kind)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(operators); i++)
        if (operators[i].kind == kind)
            return operators[i].text;
    return "";
}

static void ZS_PRINTF(3, 4)
    fail_at(struct parser *p, const struct token *t, const char *format, ...)
{
    va_list args;
    if (p->failed)
        return;
    p->failed = -EINVAL;
    p->error->line = t->line;
    p->error->column = t->column;
    va_start(args, format);
    vsnprintf(p->error->text, sizeof(p->error->text), format, args);
    va_end(args);
}

static void no_memory(struct parser *p)
{
    fail_at(p, &p->token, "out of memory");
    p->failed = -ENOMEM;
}

/* ---- tokens ---- */

static void next_line(struct parser *p)
{
    p->line++;
    p->line_start = ++p->at;
}

/* Blanks and comments; ends of lines where they mean nothing. */
static void skip(struct parser *p)
{
    while (p->at < p->end) {
        if (*p->at == '#') {
            if (!p->comment_end)
                p->comment = p->at;
            while (p->at < p->end && *p->at != '\n')
                p->at++;
            p->comment_end = p->at;
        } else if (*p->at == '\n' && p->parens) {
            next_line(p);
        } else if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') {
            p->at++;
        } else {
            break;
        }
    }
}

static size_t word_size(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.'))
        at++;
    return (size_t)(at - start);
}

static void scan_number(struct parser *p, struct token *t)
{
    char text[64];
    char *rest;
    size_t size_B = 0;
    const char *at = p->at;
    while (at + size_B < p->end && size_B < sizeof(text) - 1 &&
           (isdigit((unsigned char)at[size_B]) || at[size_B] == '.' ||
            ((at[size_B] == 'e' || at[size_B] == 'E') && at + size_B + 1 < p->end &&
             (isdigit((unsigned char)at[size_B + 1]) || at[size_B + 1] == '-' ||
              at[size_B + 1] == '+')) ||
            (size_B && (at[size_B] == '-' || at[size_B] == '+') &&
             (at[size_B - 1] == 'e' || at[size_B - 1] == 'E'))))
        size_B++;
    memcpy(text, at, size_B);
    text[size_B] = '\0';
    t->kind = TOKEN_NUMBER;
    t->value = zs_number_parse(text, &rest);
    t->size_B = size_B;
    if (*rest || !isfinite(t->value))
        fail_at(p, t, "'%s' is no number", text);
    p->at += size_B;
    const char *unit = p->at;
    while (unit < p->end && *unit == ' ')
        unit++;
    bool names = unit < p->end && (*unit == '%' || isalpha((unsigned char)*unit));
    size_t unit_B = names ? zs_unit_parse(unit, (size_t)(p->end - unit), &t->unit) : 0;
    if (unit_B) {
        t->has_unit = true;
        p->at = unit + unit_B;
    } else if (names) {
        size_t n = word_size(unit, p->end);
        bool word = (n == 2 && !memcmp(unit, "or", 2)) || (n == 3 && !memcmp(unit, "and", 3));
        if (!word) {
            struct token at_unit = {.line = t->line,
                                    .column = (uint32_t)(unit - p->line_start) + 1};
            fail_at(p, &at_unit,
                    "'%.*s' is no unit: B, kB, MB, ns, us, ms, s, cycles, MHz, %% and "
                    "the like are expected behind a number",
                    (int)ZS_MIN(n, (size_t)40), unit);
        }
    }
}

static void scan_quoted(struct parser *p, struct token *t)
{
    const char *close = p->at + 1;
    while (close < p->end && *close != '"' && *close != '\n')
        close++;
    if (close == p->end || *close != '"') {
        fail_at(p, t, "the quotation mark is not closed on its line");
        close = p->end - 1;
    }
    t->kind = TOKEN_QUOTED;
    t->start = p->at + 1;
    t->size_B = (size_t)(close - t->start);
    p->at = close + 1;
}

static void scan_operator(struct parser *p, struct token *t)
{
    static const char *const twos[] = {"<=", ">=", "==", "!="};
    t->kind = TOKEN_OPERATOR;
    t->size_B = 1;
    for (size_t i = 0; i < ZS_ARRAY_LEN(twos); i++)
        if (p->end - p->at >= 2 && !memcmp(p->at, twos[i], 2))
            t->size_B = 2;
    unsigned char c = (unsigned char)*p->at;
    if (!strchr("+-*/<>=!()[],:", c) || !c)
        fail_at(p, t, isprint(c) ? "'%c' means nothing here" : "byte 0x%02x means nothing here", c);
    p->at += t->size_B;
}

static void advance(struct parser *p)
{
    p->comment = p->comment_end = NULL;
    skip(p);
    struct token t = {.start = p->at,
                      .line = p->line,
                      .column = (uint32_t)(p->at - p->line_start) + 1,
                      .unit = zs_unit_one};
    if (p->failed || p->at >= p->end) {
        t.kind = TOKEN_END;
    } else if (*p->at == '\n') {
        t.kind = TOKEN_LINE;
        t.size_B = 1;
        next_line(p);
    } else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        scan_number(p, &t);
    } else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
        t.kind = TOKEN_NAME;
        t.size_B = word_size(p->at, p->end);
        p->at += t.size_B;
    } else if (*p->at == '"') {
        scan_quoted(p, &t);
    } else {
        scan_operator(p, &t);
    }
    p->token = t;
}

static bool is_operator(const struct parser *p, const char *text)
{
    return p->token.kind == TOKEN_OPERATOR && p->token.size_B == strlen(text) &&
           !memcmp(p->token.start, text, p->token.size_B);
}

static bool is_word(const struct parser *p, const char *text)
{
    return p->token.kind == TOKEN_NAME && p->token.size_B == strlen(text) &&
           !memcmp(p->token.start, text, p->token.size_B);
}

static void expected(struct parser *p, const char *what)
{
    const struct token *t = &p->token;
    if (t->kind == TOKEN_END)
        fail_at(p, t, "%s is expected, not the end", what);
    else if (t->kind == TOKEN_LINE)
        fail_at(p, t, "%s is expected, not the end of the line", what);
    else
        fail_at(p, t, "%s is expected, not '%.*s'", what, (int)ZS_MIN(t->size_B, (size_t)40),
                t->start);
}

static bool take(struct parser *p, const char *text)
{
    if (!is_operator(p, text))
        return false;
    p->parens += *text == '(';
    p->parens -= *text == ')' && p->parens;
    advance(p);
    return true;
}

static void need(struct parser *p, const char *text)
{
    char what[8];
    snprintf(what, sizeof(what), "'%s'", text);
    if (!take(p, text))
        expected(p, what);
}

static const char *keep(struct parser *p, const char *text, size_t size_B)
{
    const char *kept = zs_arena_strndup(p->arena, text, size_B);
    if (!kept)
        no_memory(p);
    return kept ? kept : "";
}

/* ---- expressions ---- */

static uint32_t push(struct parser *p, const struct token *t, struct node node)
{
    node.line = t->line;
    node.column = t->column;
    if (p->failed)
        return NO_NODE;
    if (p->nodes.count >= ZS_FORMULA_NODES_MAX)
        fail_at(p, t, "the formula has more than %d parts", ZS_FORMULA_NODES_MAX);
    else if (!ZS_VEC_PUSH(&p->nodes, node))
        no_memory(p);
    return p->failed ? NO_NODE : (uint32_t)p->nodes.count - 1;
}

static uint32_t parse_expression(struct parser *p);

static uint32_t parse_name(struct parser *p)
{
    const struct token t = p->token;
    if (!t.size_B || t.size_B > ZS_FORMULA_NAME_MAX_B) {
        fail_at(p, &t, "a name has 1 to %d characters", ZS_FORMULA_NAME_MAX_B);
        return NO_NODE;
    }
    struct node node = {NODE_NAME, .a = NO_NODE, .b = NO_NODE, .c = NO_NODE};
    node.name = keep(p, t.start, t.size_B);
    advance(p);
    return push(p, &t, node);
}

/* min and max of many are those of two, again and again. */
static uint32_t parse_extreme(struct parser *p, const struct token *t, enum node_kind kind)
{
    uint32_t all = parse_expression(p);
    while (!p->failed && take(p, ",")) {
        uint32_t more = parse_expression(p);
        all = push(p, t, (struct node){kind, .a = all, .b = more, .c = NO_NODE});
    }
    return all;
}

static uint32_t parse_if(struct parser *p, const struct token *t)
{
    uint32_t condition = parse_expression(p);
    need(p, ",");
    uint32_t yes = parse_expression(p);
    need(p, ",");
    uint32_t no = parse_expression(p);
    return push(p, t, (struct node){NODE_IF, .a = condition, .b = yes, .c = no});
}

static uint32_t parse_call(struct parser *p, const struct token *t)
{
    static const char *const names[] = {"min", "max", "if", "abs"};
    size_t f = 0;
    uint32_t result = NO_NODE;
    while (f < ZS_ARRAY_LEN(names) &&
           (strlen(names[f]) != t->size_B || memcmp(names[f], t->start, t->size_B)))
        f++;
    if (f == ZS_ARRAY_LEN(names)) {
        fail_at(p, t, "there is no function '%.*s': there are min, max, if, abs",
                (int)ZS_MIN(t->size_B, (size_t)40), t->start);
        return NO_NODE;
    }
    take(p, "(");
    if (f < 2)
        result = parse_extreme(p, t, f ? NODE_MAX : NODE_MIN);
    else if (f == 2)
        result = parse_if(p, t);
    else
        result = push(
            p, t, (struct node){NODE_ABS, .a = parse_expression(p), .b = NO_NODE, .c = NO_NODE});
    need(p, ")");
    return result;
}

static uint32_t parse_primary(struct parser *p)
{
    const struct token t = p->token;
    if (t.kind == TOKEN_NUMBER) {
        advance(p);
        return push(p, &t,
                    (struct node){NODE_NUMBER, .a = NO_NODE, .b = NO_NODE, .c = NO_NODE,
                                  .value = t.value * t.unit.scale, .unit = t.unit,
                                  .has_unit = t.has_unit});
    }
    if (t.kind == TOKEN_QUOTED)
        return parse_name(p);
    if (t.kind == TOKEN_NAME && !is_word(p, "and") && !is_word(p, "or")) {
        const char *behind = p->at;
        while (behind < p->end && *behind == ' ')
            behind++;
        if (behind == p->end || *behind != '(')
            return parse_name(p);
        advance(p);
        return parse_call(p, &t);
    }
    if (take(p, "(")) {
        uint32_t inside = parse_expression(p);
        need(p, ")");
        return inside;
    }
    expected(p, "a number, a name or '('");
    return NO_NODE;
}

static uint32_t parse_unary(struct parser *p)
{
    const struct token t = p->token;
    uint32_t result;
    if (++p->depth > ZS_FORMULA_NESTING_MAX) {
        fail_at(p, &t, "nested deeper than %d levels", ZS_FORMULA_NESTING_MAX);
        result = NO_NODE;
    } else if (take(p, "-")) {
        result = push(p, &t,
                      (struct node){NODE_NEGATE, .a = parse_unary(p), .b = NO_NODE, .c = NO_NODE});
    } else {
        result = parse_primary(p);
    }
    p->depth--;
    return result;
}

struct level {
    enum node_kind first, last;
};

/* Operators by how loosely they bind. */
static const struct level levels[] = {
    {NODE_OR, NODE_OR},        {NODE_AND, NODE_AND},         {NODE_LESS, NODE_NOT_EQUAL},
    {NODE_ADD, NODE_SUBTRACT}, {NODE_MULTIPLY, NODE_DIVIDE},
};
enum { LEVEL_COMPARE = 2, LEVEL_SUM = 3 };

static bool operator_of(const struct parser *p, size_t level, enum node_kind *ret_kind)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(operators); i++) {
        enum node_kind kind = operators[i].kind;
        if (kind < levels[level].first || kind > levels[level].last)
            continue;
        if (!is_operator(p, operators[i].text) && !is_word(p, operators[i].text))
            continue;
        *ret_kind = kind;
        return true;
    }
    return false;
}

static uint32_t parse_level(struct parser *p, size_t level)
{
    enum node_kind kind;
    if (level == ZS_ARRAY_LEN(levels))
        return parse_unary(p);
    if (level == LEVEL_COMPARE && is_word(p, "not")) {
        const struct token t = p->token;
        advance(p);
        if (++p->depth > ZS_FORMULA_NESTING_MAX)
            fail_at(p, &t, "nested deeper than %d levels", ZS_FORMULA_NESTING_MAX);
        uint32_t inner = p->failed ? NO_NODE : parse_level(p, level);
        p->depth--;
        return push(p, &t, (struct node){NODE_NOT, .a = inner, .b = NO_NODE, .c = NO_NODE});
    }
    uint32_t left = parse_level(p, level + 1);
    while (!p->failed && operator_of(p, level, &kind)) {
        const struct token t = p->token;
        advance(p);
        uint32_t right = parse_level(p, level + 1);
        left = push(p, &t, (struct node){kind, .a = left, .b = right, .c = NO_NODE});
        if (level == LEVEL_COMPARE && operator_of(p, level, &kind))
            fail_at(p, &p->token, "comparisons do not follow each other: 'a < b and b < c'");
    }
    return left;
}

static uint32_t parse_expression(struct parser *p)
{
    uint32_t result = NO_NODE;
    if (++p->depth > ZS_FORMULA_NESTING_MAX)
        fail_at(p, &p->token, "nested deeper than %d levels", ZS_FORMULA_NESTING_MAX);
    else
        result = parse_level(p, 0);
    p->depth--;
    return result;
}

/* What has been parsed since `first`, on its own; its root is the last node. */
static const struct zs_formula *finish(struct parser *p)
{
    struct zs_formula *formula = p->failed ? NULL : ZS_ARENA_NEW(p->arena, struct zs_formula);
    if (formula)
        formula->nodes = ZS_ARENA_ARRAY(p->arena, p->nodes.count, struct node);
    if (!formula || !formula->nodes) {
        if (!p->failed)
            no_memory(p);
        return NULL;
    }
    memcpy(formula->nodes, p->nodes.items, p->nodes.count * sizeof(*p->nodes.items));
    formula->count = (uint32_t)p->nodes.count;
    p->nodes.count = 0;
    return formula;
}

/* ---- statements ---- */

/* The comment's lines as one text. */
static const char *description(struct parser *p, const char *start, const char *end)
{
    struct zs_buf text = {0};
    for (const char *c = start; c && c < end; c++) {
        bool blank = *c == '#' || *c == '\n' || *c == '\r' || *c == '\t' || *c == ' ';
        if (!blank)
            zs_buf_putc(&text, *c);
        else if (text.size_B && text.data[text.size_B - 1] != ' ')
            zs_buf_putc(&text, ' ');
    }
    while (text.size_B && text.data[text.size_B - 1] == ' ')
        text.size_B--;
    const char *kept = text.size_B ? keep(p, (const char *)text.data, text.size_B) : "";
    zs_buf_fini(&text);
    return kept;
}

static const char *parse_unit(struct parser *p)
{
    struct zs_unit unit;
    const char *close = p->at;
    while (close < p->end && *close != ']' && *close != '\n')
        close++;
    size_t size_B = (size_t)(close - p->at);
    if (close == p->end || *close != ']') {
        fail_at(p, &p->token, "'[' is not closed on its line");
        return "";
    }
    if (!size_B || zs_unit_parse(p->at, size_B, &unit) != size_B) {
        struct token at = {.line = p->line, .column = (uint32_t)(p->at - p->line_start) + 1};
        fail_at(p, &at,
                "'%.*s' is no unit: B, ns, cycles, %%, GB/s, flop/B and the like are "
                "expected",
                (int)ZS_MIN(size_B, (size_t)40), p->at);
        return "";
    }
    const char *text = keep(p, p->at, size_B);
    p->at = close;
    advance(p);
    need(p, "]");
    return text;
}

static const struct zs_definition *find(const struct zs_formula_file *file, const char *name)
{
    for (size_t i = 0; i < file->definitions.count; i++)
        if (!strcmp(file->definitions.items[i].name, name))
            return &file->definitions.items[i];
    return NULL;
}

static void parse_definition(struct parser *p, struct zs_formula_file *file, const char *comment,
                             const char *comment_end)
{
    const struct token t = p->token;
    struct zs_definition d = {.unit = "", .line = t.line, .column = t.column};
    if (t.size_B > ZS_FORMULA_NAME_MAX_B)
        fail_at(p, &t, "a name has at most %d characters", ZS_FORMULA_NAME_MAX_B);
    d.name = keep(p, t.start, t.size_B);
    d.description = description(p, comment, comment_end);
    const struct zs_definition *known = find(file, d.name);
    if (known)
        fail_at(p, &t, "'%.60s' is defined already, in line %u", d.name, known->line);
    advance(p);
    if (is_operator(p, "["))
        d.unit = parse_unit(p);
    need(p, "=");
    parse_expression(p);
    d.formula = finish(p);
    if (!p->failed && !ZS_VEC_PUSH(&file->definitions, d))
        no_memory(p);
}

static const struct {
    const char *word;
    enum node_kind plain, plain_equal; /* besides "=" */
} kinds[] = {
    [ZS_ASSERT_HOLDS] = {"assert", NODE_EQUAL, NODE_EQUAL},
    [ZS_ASSERT_MAX] = {"max", NODE_LESS, NODE_LESS_EQUAL},
    [ZS_ASSERT_MIN] = {"min", NODE_GREATER, NODE_GREATER_EQUAL},
};

/* From the text itself: patterns are not made of tokens. The last ':' of the line ends one, as
 * expressions have none. */
static const char *parse_glob(struct parser *p)
{
    const char *start = p->at, *colon = NULL, *end = start;
    struct token t = {.line = p->line, .column = (uint32_t)(start - p->line_start) + 1};
    for (; end < p->end && *end != '\n' && *end != '#'; end++)
        colon = *end == ':' ? end : colon;
    if (!colon)
        return NULL;
    const char *last = colon;
    while (last > start && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    if (last - start >= 2 && *start == '"' && last[-1] == '"') {
        start++;
        last--;
    }
    if (start == last)
        fail_at(p, &t, "a kernel's name, or a pattern of names, is expected before ':'");
    p->at = colon + 1;
    return keep(p, start, (size_t)(last - start));
}

static void parse_limit(struct parser *p, struct zs_assertion *a)
{
    enum node_kind kind;
    parse_level(p, LEVEL_SUM);
    a->value = finish(p);
    if (p->failed)
        return;
    if (!operator_of(p, LEVEL_COMPARE, &kind)) {
        expected(p, "'=' and the limit");
        return;
    }
    if (kind != NODE_EQUAL && kind != kinds[a->kind].plain && kind != kinds[a->kind].plain_equal)
        fail_at(p, &p->token,
                "'%.*s' does not go with %s: '=', '%s' or '%s' say where the limit "
                "is",
                (int)p->token.size_B, p->token.start, kinds[a->kind].word,
                formula_operator(kinds[a->kind].plain),
                formula_operator(kinds[a->kind].plain_equal));
    advance(p);
    parse_level(p, LEVEL_SUM);
    const struct node *only = p->nodes.items;
    a->limit_is_bare =
        only &&
        ((p->nodes.count == 1 && only[0].kind == NODE_NUMBER) ||
         (p->nodes.count == 2 && only[0].kind == NODE_NUMBER && only[1].kind == NODE_NEGATE)) &&
        !only[0].has_unit;
    a->limit = finish(p);
}

/* What stands behind the word, or a whole text: no token of it has been taken. */
static void parse_assertion(struct parser *p, struct zs_formula_file *file,
                            enum zs_assertion_kind kind)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
    const char *start = p->at;
    struct zs_assertion a = {
        .kind = kind, .line = p->line, .column = (uint32_t)(start - p->line_start) + 1};
    a.kernels = parse_glob(p);
    advance(p);
    if (kind == ZS_ASSERT_HOLDS) {
        parse_expression(p);
        a.value = finish(p);
    } else {
        parse_limit(p, &a);
    }
    const char *end = p->token.kind == TOKEN_END ? p->end : p->token.start;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    if (!p->failed)
        a.text = keep(p, start, (size_t)(end - start));
    if (!p->failed && !ZS_VEC_PUSH(&file->assertions, a))
        no_memory(p);
}

static bool is_assertion(const struct parser *p, enum zs_assertion_kind *ret_kind)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(kinds); i++) {
        const char *behind = p->at;
        while (behind < p->end && (*behind == ' ' || *behind == '\t'))
            behind++;
        if (is_word(p, kinds[i].word) && behind < p->end && *behind != '=' && *behind != '[') {
            *ret_kind = (enum zs_assertion_kind)i;
            return true;
        }
    }
    return false;
}

static void parse_statement(struct parser *p, struct zs_formula_file *file, const char *comment,
                            const char *comment_end)
{
    enum zs_assertion_kind kind;
    if (file->definitions.count + file->assertions.count >= ZS_FORMULAS_MAX)
        fail_at(p, &p->token, "more than %d definitions and assertions", ZS_FORMULAS_MAX);
    if (is_assertion(p, &kind)) {
        parse_assertion(p, file, kind);
    } else if (p->token.kind == TOKEN_NAME) {
        parse_definition(p, file, comment, comment_end);
    } else {
        expected(p, "a definition (name = formula), assert, max or min");
    }
    if (!p->failed && p->token.kind != TOKEN_LINE && p->token.kind != TOKEN_END)
        expected(p, "an operator or the end of the line");
}

static struct parser parser_make(const char *text, size_t size_B, struct zs_formula_file *file,
                                 struct zs_formula_error *error)
{
    *error = (struct zs_formula_error){0};
    return (struct parser){.arena = &file->arena,
                           .error = error,
                           .at = text,
                           .end = text + size_B,
                           .line_start = text,
                           .line = 1};
}

int zs_formula_file_parse(const char *text, size_t size_B, struct zs_formula_file *ret_file,
                          struct zs_formula_error *ret_error)
{
    *ret_file = (struct zs_formula_file){0};
    zs_arena_init(&ret_file->arena, (size_t)64 << 20);
    struct parser p = parser_make(text, size_B, ret_file, ret_error);
    const char *comment = NULL, *comment_end = NULL;
    if (size_B > ZS_FORMULA_TEXT_MAX_B)
        fail_at(&p, &(struct token){.line = 1, .column = 1}, "the file is larger than 1 MiB");
    advance(&p);
    while (!p.failed && p.token.kind != TOKEN_END) {
        if (p.token.kind != TOKEN_LINE) {
            parse_statement(&p, ret_file, comment, comment_end);
            comment = comment_end = NULL;
        } else {
            /* a blank line parts a comment from what follows */
            comment = p.comment ? (comment ? comment : p.comment) : NULL;
            comment_end = p.comment_end;
        }
        if (!p.failed && p.token.kind == TOKEN_LINE)
            advance(&p);
    }
    free(p.nodes.items);
    return p.failed;
}

int zs_formula_file_assert(struct zs_formula_file *file, enum zs_assertion_kind kind,
                           const char *text, struct zs_formula_error *ret_error)
{
    size_t size_B = strlen(text);
    struct parser p = parser_make(text, size_B, file, ret_error);
    size_t before = file->assertions.count;
    if (size_B > ZS_FORMULA_TEXT_MAX_B)
        fail_at(&p, &(struct token){.line = 1, .column = 1}, "longer than 1 MiB");
    if (!p.failed)
        parse_assertion(&p, file, kind);
    if (!p.failed && p.token.kind != TOKEN_END)
        expected(&p, "an operator or the end");
    if (p.failed)
        file->assertions.count = before;
    free(p.nodes.items);
    return p.failed;
}

void zs_formula_file_free(struct zs_formula_file *file)
{
    free(file->definitions.items);
    free(file->assertions.items);
    zs_arena_fini(&file->arena);
    *file = (struct zs_formula_file){0};
}
