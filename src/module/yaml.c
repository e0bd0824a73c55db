/* SPDX-License-Identifier: MIT */
#include "module/yaml.h"

static struct zs_span span_from(struct zs_span s, size_t from, size_t to)
{
    return zs_span_make(s.data ? s.data + from : NULL, to - from);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct zs_span trim(struct zs_span s)
{
    size_t from = 0, to = s.size_B;
    while (from < to && is_blank(s.data[from]))
        from++;
    while (to > from && is_blank(s.data[to - 1]))
        to--;
    return span_from(s, from, to);
}

/* Where a quoted scalar that starts the span ends (behind its closing quote); the whole span when
 * it is not closed. */
static size_t quoted_end(struct zs_span s)
{
    uint8_t quote = s.data[0];
    for (size_t i = 1; i < s.size_B; i++) {
        if (quote == '"' && s.data[i] == '\\')
            i++;
        else if (s.data[i] == quote) {
            if (quote == '\'' && i + 1 < s.size_B && s.data[i + 1] == quote)
                i++;
            else
                return i + 1;
        }
    }
    return s.size_B;
}

static bool is_quote(uint8_t c)
{
    return c == '"' || c == '\'';
}

/* A value without the comment behind it. */
static struct zs_span without_comment(struct zs_span s)
{
    s = trim(s);
    if (s.size_B && is_quote(s.data[0]))
        return span_from(s, 0, quoted_end(s));
    for (size_t i = 0; i < s.size_B; i++)
        if (s.data[i] == '#' && (i == 0 || is_blank(s.data[i - 1])))
            return trim(span_from(s, 0, i));
    return s;
}

/* "key: value" or "key:"; otherwise everything is the value. */
static void split_key(struct zs_span s, struct zs_yaml_line *line)
{
    size_t i = s.size_B && is_quote(s.data[0]) ? quoted_end(s) : 0;
    if (s.size_B && (s.data[0] == '[' || s.data[0] == '{'))
        i = s.size_B;
    for (; i < s.size_B; i++)
        if (s.data[i] == ':' && (i + 1 == s.size_B || is_blank(s.data[i + 1]))) {
            line->key = trim(span_from(s, 0, i));
            line->value = without_comment(span_from(s, i + 1, s.size_B));
            return;
        }
    line->value = without_comment(s);
}

static bool is_marker(struct zs_span s)
{
    return s.size_B >= 3 && (!memcmp(s.data, "---", 3) || !memcmp(s.data, "...", 3)) &&
           trim(s).size_B == 3;
}

/* The next line of the text, without its newline; false at the end. */
static bool take_line(struct zs_yaml *y, struct zs_span *ret_line, size_t *ret_at_B)
{
    if (y->at_B >= y->text.size_B)
        return false;
    const uint8_t *start = y->text.data + y->at_B;
    const uint8_t *newline = memchr(start, '\n', y->text.size_B - y->at_B);
    size_t size_B = newline ? (size_t)(newline - start) : y->text.size_B - y->at_B;
    *ret_line = zs_span_make(start, size_B);
    *ret_at_B = y->at_B;
    y->at_B += size_B + (newline ? 1 : 0);
    return true;
}

void zs_yaml_next(struct zs_yaml *y)
{
    struct zs_span s;
    size_t at_B;
    while (take_line(y, &s, &at_B)) {
        size_t column = 0;
        while (column < s.size_B && s.data[column] == ' ')
            column++;
        struct zs_span content = trim(span_from(s, column, s.size_B));
        if (content.size_B == 0 || content.data[0] == '#' || content.data[0] == '\0' ||
            (column == 0 && (content.data[0] == '%' || is_marker(content))))
            continue;
        y->line = (struct zs_yaml_line){.dash = ZS_YAML_NO_DASH};
        if (content.data[0] == '-' && (content.size_B == 1 || content.data[1] == ' ')) {
            size_t skip = 1;
            while (skip < content.size_B && content.data[skip] == ' ')
                skip++;
            y->line.dash = (uint32_t)column;
            column += skip;
            content = span_from(content, skip, content.size_B);
        }
        y->line.indent = (uint32_t)column;
        y->line.offset_B = y->base_B + at_B + column;
        split_key(content, &y->line);
        return;
    }
    y->line = (struct zs_yaml_line){.end = true};
}

void zs_yaml_init(struct zs_yaml *y, struct zs_span text, uint64_t base_B)
{
    *y = (struct zs_yaml){.text = text, .base_B = base_B};
    zs_yaml_next(y);
}

bool zs_yaml_below(const struct zs_yaml *y, uint32_t indent)
{
    if (y->line.end)
        return false;
    /* a sequence may stand at the column of its key */
    return y->line.dash != ZS_YAML_NO_DASH ? y->line.dash >= indent : y->line.indent > indent;
}

void zs_yaml_skip(struct zs_yaml *y)
{
    uint32_t indent = y->line.indent;
    zs_yaml_next(y);
    while (zs_yaml_below(y, indent))
        zs_yaml_next(y);
}

bool zs_yaml_key_is(const struct zs_yaml_line *line, const char *key)
{
    size_t length = strlen(key);
    return line->key.size_B == length && !memcmp(line->key.data, key, length);
}

bool zs_yaml_i64(struct zs_span value, int64_t *ret)
{
    size_t i = 0;
    bool negative = value.size_B && value.data[0] == '-';
    int64_t number = 0;
    i += negative || (value.size_B && value.data[0] == '+');
    if (i == value.size_B)
        return false;
    for (; i < value.size_B; i++) {
        uint8_t c = value.data[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, c - '0', &number))
            return false;
    }
    *ret = negative ? -number : number;
    return true;
}

bool zs_yaml_u32(struct zs_span value, uint32_t *ret)
{
    int64_t number;
    if (!zs_yaml_i64(value, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *ret = (uint32_t)number;
    return true;
}

static bool equals(struct zs_span value, const char *text)
{
    return value.size_B == strlen(text) && !memcmp(value.data, text, value.size_B);
}

bool zs_yaml_bool(struct zs_span value, bool *ret)
{
    *ret = equals(value, "true") || equals(value, "1");
    return *ret || equals(value, "false") || equals(value, "0");
}

bool zs_yaml_item(struct zs_span value, uint32_t index, struct zs_span *ret_item)
{
    if (value.size_B < 2 || value.data[0] != '[' || value.data[value.size_B - 1] != ']')
        return false;
    struct zs_span inner = span_from(value, 1, value.size_B - 1);
    size_t from = 0;
    for (uint32_t i = 0; from <= inner.size_B; i++) {
        size_t to = from;
        while (to < inner.size_B && inner.data[to] != ',')
            to++;
        if (i == index) {
            *ret_item = trim(span_from(inner, from, to));
            return ret_item->size_B != 0;
        }
        from = to + 1;
    }
    return false;
}

/* One escape of a double-quoted scalar; those that .ze_info never holds stay as they are. */
static size_t unescape(struct zs_span s, size_t i, char *ret)
{
    static const char from[] = "nrt0\"\\/", to[] = "\n\r\t\0\"\\/";
    const char *at = i + 1 < s.size_B && s.data[i + 1] ? strchr(from, s.data[i + 1]) : NULL;
    *ret = at ? to[at - from] : '\\';
    return at ? 2 : 1;
}

const char *zs_yaml_string(struct zs_span value, struct zs_arena *arena)
{
    if (value.size_B == 0)
        return "";
    uint8_t quote = is_quote(value.data[0]) ? value.data[0] : 0;
    if (!quote)
        return zs_arena_strndup(arena, value.data, value.size_B);
    struct zs_span s = span_from(value, 1, value.size_B);
    if (s.size_B && s.data[s.size_B - 1] == quote)
        s.size_B--;
    char *text = zs_arena_alloc(arena, s.size_B + 1);
    size_t length = 0;
    for (size_t i = 0; text && i < s.size_B;) {
        if (quote == '"' && s.data[i] == '\\') {
            i += unescape(s, i, &text[length++]);
        } else {
            i += quote == '\'' && s.data[i] == '\'' && i + 1 < s.size_B && s.data[i + 1] == '\'';
            text[length++] = (char)s.data[i++];
        }
    }
    return text;
}
