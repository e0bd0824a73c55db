/* SPDX-License-Identifier: MIT */
/* What the readers need of the token table: sizes and names by number. */
#ifndef ZS_MODULE_TOKENS_H
#define ZS_MODULE_TOKENS_H

#include "base/reader.h"
#include "module/module.h"
#include "module/patch.h"

enum zs_token_number {
#define ZS_TOKEN_BEGIN(number, name, least_B) ZS_TOKEN_##name = number,
#include "module/tokens.def"
};

enum { ZS_NAME_FIELD_B = 1024 }; /* names in tables 53, 54 and 57: not always terminated */

/*
 * The next token of a list that has not been checked yet. 1: *ret_token is set; 0: the end; a
 * negative error with diag when sizes do not fit, a body is shorter than the token needs.
 */
int zs_token_next_checked(const struct zs_token_list *list, size_t *cursor,
                          struct zs_token *ret_token, struct zs_diag *diag);
/* The dword at that place of a body; 0 where the token is shorter. */
static inline uint32_t zs_token_u32(const struct zs_token *token, size_t dword)
{
    return dword < token->body.size_B / 4 ? zs_load_u32(token->body.data + 4 * dword) : 0;
}
/* Bytes of one entry of tables 53, 54, 57; 0 for tokens without a table. */
uint32_t zs_token_entry_B(const struct zs_token *token);
/* Where the fields of a symbol stand in an entry of table 53, behind its type. In modules of
 * IGC 1.0.17791 (1082 of the format) the offset has 64 bits, and the compiler's structure gaps: the
 * size of the table tells. */
struct zs_symbol_fields {
    uint32_t offset_at, size_at, name_at;
};
struct zs_symbol_fields zs_token_symbol_fields(const struct zs_token *token);

#endif
