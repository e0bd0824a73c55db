/* SPDX-License-Identifier: MIT */
#include "metrics/unit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct zs_unit zs_unit_one = {.scale = 1};

struct unit_row {
    const char *name;
    struct zs_unit unit;
};

static const struct unit_row rows[] = {
#define UNIT(name, scale, bytes, time, cycles) {name, {scale, {bytes, time, cycles}}},
#include "metrics/unit.def"
#undef UNIT
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The longest name that the text begins with and that ends there. */
static size_t parse_factor(const char *text, size_t size_B, struct zs_unit *ret_unit)
{
    size_t best = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        size_t n = strlen(rows[i].name);
        if (n <= best || n > size_B || memcmp(rows[i].name, text, n))
            continue;
        if (n < size_B && is_word(text[n]) && is_word(text[n - 1]))
            continue;
        best = n;
        *ret_unit = rows[i].unit;
    }
    return best;
}

size_t zs_unit_parse(const char *text, size_t size_B, struct zs_unit *ret_unit)
{
    struct zs_unit factor;
    size_t at = parse_factor(text, size_B, ret_unit);
    while (at && at < size_B && (text[at] == '/' || text[at] == '*')) {
        size_t n = parse_factor(text + at + 1, size_B - at - 1, &factor);
        if (!n || !zs_unit_combine(ret_unit, &factor, text[at] == '/' ? -1 : 1, ret_unit))
            break;
        at += 1 + n;
    }
    return at;
}

struct zs_unit zs_unit_of_metric(const char *text)
{
    struct zs_unit unit = zs_unit_one;
    size_t size_B = strlen(text);
    return zs_unit_parse(text, size_B, &unit) == size_B ? unit : zs_unit_one;
}

bool zs_unit_same_kind(const struct zs_unit *a, const struct zs_unit *b)
{
    return !memcmp(a->powers, b->powers, sizeof(a->powers));
}

bool zs_unit_combine(const struct zs_unit *a, const struct zs_unit *b, int sign,
                     struct zs_unit *ret_unit)
{
    struct zs_unit unit = {.scale = sign > 0 ? a->scale * b->scale : a->scale / b->scale};
    for (int d = 0; d < ZS_DIM_COUNT; d++) {
        int power = a->powers[d] + sign * b->powers[d];
        if (power > ZS_UNIT_POWER_MAX || power < -ZS_UNIT_POWER_MAX)
            return false;
        unit.powers[d] = (int8_t)power;
    }
    if (!isfinite(unit.scale) || unit.scale == 0)
        return false;
    *ret_unit = unit;
    return true;
}

static void put_power(char *text, const char *name, int power)
{
    size_t used = strlen(text);
    snprintf(text + used, ZS_UNIT_TEXT_B - used, power > 1 ? "%s%s^%d" : "%s%s",
             used && text[used - 1] != '/' ? "*" : "", name, power);
}

void zs_unit_kind(const struct zs_unit *unit, char ret_text[ZS_UNIT_TEXT_B])
{
    static const char *const names[] = {"bytes", "time", "cycles"};
    ret_text[0] = '\0';
    for (int d = 0; d < ZS_DIM_COUNT; d++)
        if (unit->powers[d] > 0)
            put_power(ret_text, names[d], unit->powers[d]);
    bool above = ret_text[0];
    for (int d = 0; d < ZS_DIM_COUNT; d++) {
        if (unit->powers[d] >= 0)
            continue;
        size_t used = strlen(ret_text);
        snprintf(ret_text + used, ZS_UNIT_TEXT_B - used, "%s", above ? "/" : "1/");
        above = true;
        put_power(ret_text, names[d], -unit->powers[d]);
    }
    if (!above)
        snprintf(ret_text, ZS_UNIT_TEXT_B, "a plain number");
}

void zs_unit_base_text(const struct zs_unit *unit, char ret_text[ZS_UNIT_TEXT_B])
{
    static const struct {
        int8_t powers[ZS_DIM_COUNT];
        const char *text;
    } names[] = {{{0, 0, 0}, ""},         {{1, 0, 0}, "B"},     {{0, 1, 0}, "ns"},
                 {{0, 0, 1}, "cycles"},   {{1, -1, 0}, "GB/s"}, {{0, -1, 1}, "GHz"},
                 {{1, 0, -1}, "B/cycle"}, {{0, -1, 0}, "1/ns"}, {{-1, 0, 0}, "1/B"}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        if (!memcmp(unit->powers, names[i].powers, sizeof(names[i].powers))) {
            snprintf(ret_text, ZS_UNIT_TEXT_B, "%s", names[i].text);
            return;
        }
    }
    zs_unit_kind(unit, ret_text);
}

/* ---- values ---- */

struct prefix {
    double from; /* values from here on */
    const char *text;
    double scale;
};

static void put_number(struct zs_buf *out, double value)
{
    double size = fabs(value);
    if (size >= 1e15 || (size > 0 && size < 1e-3))
        zs_buf_printf(out, "%.3g", value);
    else if (value == floor(value))
        zs_buf_printf(out, "%.0f", value);
    else
        zs_buf_printf(out, "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3, value);
}

static void put_scaled(struct zs_buf *out, double value, const struct prefix *prefixes,
                       size_t count, const char *behind)
{
    const struct prefix *best = &prefixes[0];
    for (size_t i = 0; i < count; i++)
        if (fabs(value) >= prefixes[i].from)
            best = &prefixes[i];
    put_number(out, value / best->scale);
    if (*best->text || *behind)
        zs_buf_printf(out, " %s%s", best->text, behind);
}

void zs_unit_put_value(struct zs_buf *out, double value, const char *unit_text)
{
    static const struct prefix times[] = {
        {0, "ns", 1}, {1e3, "us", 1e3}, {1e6, "ms", 1e6}, {1e9, "s", 1e9}};
    static const struct prefix bytes[] = {
        {0, "B", 1}, {1e5, "kB", 1e3}, {1e6, "MB", 1e6}, {1e9, "GB", 1e9}};
    static const struct prefix rates[] = {
        {0, "", 1}, {1e3, "k", 1e3}, {1e6, "M", 1e6}, {1e9, "G", 1e9}, {1e12, "T", 1e12}};
    static const struct prefix counts[] = {
        {0, "", 1}, {1e7, "M ", 1e6}, {1e10, "G ", 1e9}, {1e13, "T ", 1e12}};
    if (isnan(value)) {
        zs_buf_puts(out, "n/a");
        return;
    }
    struct zs_unit unit = zs_unit_of_metric(unit_text);
    static const struct zs_unit byte = {1, {1, 0, 0}}, ns = {1, {0, 1, 0}};
    if (unit.scale == 1 && zs_unit_same_kind(&unit, &ns)) {
        put_scaled(out, value, times, ZS_ARRAY_LEN(times), "");
    } else if (unit.scale == 1 && zs_unit_same_kind(&unit, &byte)) {
        put_scaled(out, value, bytes, ZS_ARRAY_LEN(bytes), "");
    } else if (*unit_text == 'G' && strlen(unit_text) > 2 &&
               !strcmp(unit_text + strlen(unit_text) - 2, "/s")) {
        put_scaled(out, value * 1e9, rates, ZS_ARRAY_LEN(rates), unit_text + 1);
    } else if (unit.scale == 1 && zs_unit_same_kind(&unit, &zs_unit_one) && fabs(value) >= 1e7) {
        put_scaled(out, value, counts, ZS_ARRAY_LEN(counts), unit_text);
    } else {
        put_number(out, value);
        if (*unit_text && strcmp(unit_text, "1"))
            zs_buf_printf(out, " %s", strcmp(unit_text, "percent") ? unit_text : "%");
    }
}

void zs_unit_put_gain(struct zs_buf *out, double least, double most)
{
    if (lround(least) <= 0 && lround(most) > 0)
        zs_buf_printf(out, "gain up to %.0f %%", most);
    else if (lround(least) < lround(most))
        zs_buf_printf(out, "gain %.0f to %.0f %%", least, most);
    else
        zs_buf_printf(out, "gain %.0f %%", most);
}
