/* SPDX-License-Identifier: MIT */
#include "cli/export_sqlite.h"

#include "base/buf.h"
#include "cli/view.h"
#include "record/merge.h"
#include "record/recordings.h"
#include "record/traces.h"

#include <zescope/analyze.h>

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "zesc": files that are databases of something else are told apart. */
enum { APPLICATION_ID = 0x7a657363, SCHEMA_VERSION = 2 };

enum table {
#define TABLE(name, what) TABLE_##name,
#define COLUMN(name, sql, what)
#define END
#include "cli/export_schema.def"
#undef TABLE
#undef COLUMN
#undef END
    TABLES
};

static const char schema[] =
#define TABLE(name, what)       "CREATE TABLE IF NOT EXISTS " #name "("
#define COLUMN(name, sql, what) #name " " sql ", "
#define END                     ");"
#include "cli/export_schema.def"
#undef TABLE
#undef COLUMN
#undef END
    ;
static const char indices[] = "CREATE INDEX IF NOT EXISTS value_of ON value(kernel, name);"
                              "CREATE INDEX IF NOT EXISTS instruction_of ON instruction(kernel);";

static const struct {
    const char *name;
    int columns;
} tables[TABLES] = {
#define TABLE(name, what)                                                                          \
    {                                                                                              \
#name, 0
#define COLUMN(name, sql, what) +1
#define END                                                                                        \
    }                                                                                              \
    ,
#include "cli/export_schema.def"
#undef TABLE
#undef COLUMN
#undef END
};

struct zs_export {
    const struct zs_common_options *common;
    const char *path;
    char *work; /* where a new file is written; NULL: an old one is appended to */
    sqlite3 *db;
    sqlite3_stmt *insert[TABLES];
    int at; /* parameter of the row that is being written */
    bool failed;
    /* of the recording that is read */
    const char *name;
    sqlite3_int64 recording;
    struct zs_recordings modules;
    struct zs_activities activities;
    struct zs_export_counts *counts;
};

/* ---- rows ---- */

static int fail(struct zs_export *x)
{
    if (x->failed)
        return -EIO;
    x->failed = true;
    zs_cli_fail("%s: %s", x->path, sqlite3_errmsg(x->db));
    return -EIO;
}

static void row(struct zs_export *x)
{
    x->at = 0;
}

static void put_int(struct zs_export *x, enum table t, uint64_t value)
{
    sqlite3_bind_int64(x->insert[t], ++x->at, (sqlite3_int64)value);
}

static void put_null(struct zs_export *x, enum table t)
{
    sqlite3_bind_null(x->insert[t], ++x->at);
}

/* 0: not known */
static void put_known(struct zs_export *x, enum table t, uint64_t value)
{
    if (value)
        put_int(x, t, value);
    else
        put_null(x, t);
}

static void put_real(struct zs_export *x, enum table t, double value)
{
    sqlite3_bind_double(x->insert[t], ++x->at, value); /* NaN becomes NULL */
}

static void put_bytes(struct zs_export *x, enum table t, const void *text, size_t size_B)
{
    if (text && size_B)
        sqlite3_bind_text64(x->insert[t], ++x->at, text, size_B, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        put_null(x, t);
}

/* "" and NULL: not known */
static void put_text(struct zs_export *x, enum table t, const char *text)
{
    put_bytes(x, t, text, text ? strlen(text) : 0);
}

static void put_triple(struct zs_export *x, enum table t, const uint32_t values[3])
{
    for (int i = 0; i < 3; i++)
        put_known(x, t, values[i]);
}

static int done(struct zs_export *x, enum table t)
{
    if (x->at != tables[t].columns) {
        x->failed = true;
        zs_cli_fail("internal error: %d of %d columns of %s", x->at, tables[t].columns,
                    tables[t].name);
        return -EIO;
    }
    if (sqlite3_step(x->insert[t]) != SQLITE_DONE)
        return fail(x);
    sqlite3_reset(x->insert[t]);
    return 0;
}

/* ---- the file ---- */

static int run_sql(struct zs_export *x, const char *sql)
{
    return sqlite3_exec(x->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(x);
}

static int pragma(struct zs_export *x, const char *sql, int *ret_value)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(x->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(x);
    int status = sqlite3_step(statement);
    *ret_value = status == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status == SQLITE_ROW || status == SQLITE_DONE ? 0 : fail(x);
}

/* Whether what is there is ours, and of this version; an empty file is. */
static int check_old(struct zs_export *x)
{
    int application, version, others;
    if (pragma(x, "PRAGMA application_id", &application) ||
        pragma(x, "PRAGMA user_version", &version) ||
        pragma(x, "SELECT count(*) FROM sqlite_master", &others))
        return -EIO;
    if (application == APPLICATION_ID && version == SCHEMA_VERSION)
        return 0;
    if (!application && !others)
        return 0;
    x->failed = true;
    if (application != APPLICATION_ID)
        zs_cli_fail("%s is a database of something else: take another name", x->path);
    else
        zs_cli_fail("%s has version %d of the tables, this zescope writes %d: take another name",
                    x->path, version, SCHEMA_VERSION);
    return -EIO;
}

static int prepare(struct zs_export *x)
{
    for (int t = 0; t < TABLES; t++) {
        char sql[300];
        int length = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(?", tables[t].name);
        for (int i = 1; i < tables[t].columns; i++)
            length += snprintf(sql + length, sizeof(sql) - (size_t)length, ",?");
        snprintf(sql + length, sizeof(sql) - (size_t)length, ")");
        if (sqlite3_prepare_v2(x->db, sql, -1, &x->insert[t], NULL) != SQLITE_OK)
            return fail(x);
    }
    return 0;
}

/* The tables, from their columns: the last comma of each goes. */
static int create_tables(struct zs_export *x)
{
    char sql[sizeof(schema)], version[80];
    size_t n = 0;
    for (const char *s = schema; *s; s++)
        if (strncmp(s, ", )", 3))
            sql[n++] = *s;
        else
            s++;
    sql[n] = '\0';
    snprintf(version, sizeof(version), "PRAGMA application_id=%d; PRAGMA user_version=%d",
             APPLICATION_ID, SCHEMA_VERSION);
    return run_sql(x, version) || run_sql(x, sql) ? -EIO : 0;
}

int zs_export_open(const struct zs_common_options *common, const char *path, bool append,
                   struct zs_export **ret_export)
{
    struct zs_export *x = calloc(1, sizeof(*x));
    *ret_export = x;
    if (!x)
        return zs_cli_fail("out of memory");
    x->common = common;
    x->path = path;
    bool is_new = !append || access(path, F_OK);
    if (is_new && asprintf(&x->work, "%s.%d.tmp", path, (int)getpid()) < 0) {
        x->work = NULL;
        return zs_cli_fail("out of memory");
    }
    if (sqlite3_open(x->work ? x->work : path, &x->db) != SQLITE_OK) {
        fail(x);
        return ZS_EXIT_FAILED;
    }
    sqlite3_busy_timeout(x->db, 10000);
    /* a new file that is not finished is thrown away: nothing has to be kept for it */
    if ((is_new && run_sql(x, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF")) ||
        (!is_new && check_old(x)) || run_sql(x, "BEGIN IMMEDIATE") || create_tables(x) ||
        prepare(x))
        return ZS_EXIT_FAILED;
    return ZS_EXIT_OK;
}

int zs_export_close(struct zs_export *x, bool keep)
{
    if (!x)
        return ZS_EXIT_FAILED;
    for (int t = 0; t < TABLES; t++)
        sqlite3_finalize(x->insert[t]);
    keep = keep && !x->failed;
    if (keep && (run_sql(x, indices) || run_sql(x, "COMMIT")))
        keep = false;
    sqlite3_close(x->db); /* what was not committed is rolled back */
    if (x->work && keep && rename(x->work, x->path)) {
        zs_cli_fail("%s: %s", x->path, strerror(errno));
        keep = false;
    }
    if (x->work && !keep)
        unlink(x->work);
    free(x->work);
    free(x);
    return keep ? ZS_EXIT_OK : ZS_EXIT_FAILED;
}

/* ---- what happened ---- */

static int on_call(void *user, const struct zs_calls *calls, const struct zs_call *call,
                   uint64_t process)
{
    struct zs_export *x = user;
    const enum table t = TABLE_call;
    row(x);
    put_int(x, t, (uint64_t)x->recording);
    put_int(x, t, calls->pid);
    put_int(x, t, calls->tid);
    put_bytes(x, t, call->name.data, call->name.size_B);
    put_int(x, t, call->start_ns);
    if (call->finished) {
        put_int(x, t, call->duration_ns);
        put_int(x, t, (uint64_t)(int64_t)call->result);
    } else {
        put_null(x, t);
        put_null(x, t);
    }
    put_int(x, t, call->depth);
    if (++x->counts->calls % 65536 == 0)
        zs_cli_progress(x->common, x->name, x->counts->calls, UINT64_MAX);
    return done(x, t);
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct zs_export *x = user;
    const enum table t = TABLE_activity;
    const struct zs_act_append *a = e->append;
    static const struct zs_act_append unknown = {0};
    char module[ZS_MODULE_NAME_CHARS] = "", direction[64] = "";
    const struct zs_act_kernel *k = a ? a->kernel : NULL;
    const struct zs_record_module *m =
        k ? zs_recordings_module(&x->modules, k->process, k->build, k->time_ns) : NULL;
    if (m)
        zs_record_module_name(m, module);
    if (a && a->kind == ZS_ACTIVITY_COPY)
        zs_act_direction(a, direction, sizeof(direction));
    row(x);
    put_int(x, t, (uint64_t)x->recording);
    put_int(x, t, (uint32_t)e->process);
    put_known(x, t, a ? a->tid : 0);
    put_text(x, t, a ? zs_act_kind_name(a->kind) : NULL);
    put_text(x, t, k ? k->name : NULL);
    put_text(x, t, module);
    put_text(x, t, a && a->device ? a->device->label : NULL);
    put_int(x, t, e->queue_id);
    put_known(x, t, a ? a->time_ns : 0);
    put_known(x, t, e->submit_ns);
    put_known(x, t, e->end_ns ? e->start_ns : 0);
    put_known(x, t, e->end_ns);
    put_triple(x, t, a ? a->groups : unknown.groups);
    put_triple(x, t, a ? a->size : unknown.size);
    if (a && a->has_bytes)
        put_int(x, t, a->bytes);
    else
        put_null(x, t);
    put_text(x, t, direction);
    x->counts->activities++;
    return done(x, t);
}

static int on_object(void *user, const struct zs_act_object *o)
{
    struct zs_export *x = user;
    const enum table t = TABLE_allocation;
    if (o->type >= ZS_ACT_ALLOCATION_TYPES)
        return 0;
    row(x);
    put_int(x, t, (uint64_t)x->recording);
    put_int(x, t, (uint32_t)o->process);
    put_int(x, t, o->tid);
    put_text(x, t, zs_act_object_name(o->type));
    put_int(x, t, o->handle);
    put_int(x, t, o->size_B);
    put_int(x, t, o->time_ns);
    put_int(x, t, !o->is_create);
    return done(x, t);
}

static int on_mark(void *user, const struct zs_act_mark *m)
{
    struct zs_export *x = user;
    const enum table t = TABLE_mark;
    row(x);
    put_int(x, t, (uint64_t)x->recording);
    put_int(x, t, (uint32_t)m->process);
    put_int(x, t, m->tid);
    put_text(x, t, m->name);
    put_int(x, t, m->time_ns);
    put_known(x, t, m->end_ns == UINT64_MAX ? 0 : m->end_ns);
    return done(x, t);
}

/* ---- what it is ---- */

static int put_recording(struct zs_export *x, const struct zs_recording *recording,
                         uint64_t lost_calls)
{
    const struct zs_recording_info *info = zs_recording_info(recording);
    const enum table t = TABLE_recording;
    struct zs_buf command = {0};
    for (uint32_t i = 0; i < info->argc; i++)
        zs_buf_printf(&command, "%s%s", i ? " " : "", info->argv[i]);
    row(x);
    put_int(x, t, (uint64_t)x->recording);
    put_text(x, t, x->name);
    put_text(x, t, info->version);
    put_text(x, t, info->host);
    put_bytes(x, t, command.data, command.size_B);
    put_text(x, t, info->start_time);
    put_int(x, t, info->duration_ns);
    if (info->finished)
        put_int(x, t, (uint64_t)(int64_t)info->exit_status);
    else
        put_null(x, t);
    put_text(x, t, info->clock);
    put_int(x, t, lost_calls);
    zs_buf_fini(&command);
    return done(x, t);
}

static int put_processes(struct zs_export *x, const struct zs_recording *recording)
{
    const enum table t = TABLE_process;
    uint32_t count;
    const struct zs_record_process *processes = zs_recording_processes(recording, &count);
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        row(x);
        put_int(x, t, (uint64_t)x->recording);
        put_int(x, t, processes[i].pid);
        put_known(x, t, processes[i].parent_pid);
        put_text(x, t, processes[i].exe);
        put_known(x, t, processes[i].start_ns);
        error = done(x, t);
    }
    return error;
}

static int put_modules(struct zs_export *x, const struct zs_recording *recording)
{
    const enum table t = TABLE_module;
    uint32_t count, builds, devices;
    const struct zs_record_module *modules = zs_recording_modules(recording, &count);
    const struct zs_record_build *build = zs_recording_builds(recording, &builds);
    const struct zs_record_device *device = zs_recording_devices(recording, &devices);
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        const struct zs_record_module *m = &modules[i];
        const struct zs_record_build *first = m->first_build < builds ? &build[m->first_build] : 0;
        char name[ZS_MODULE_NAME_CHARS];
        zs_record_module_name(m, name);
        row(x);
        put_int(x, t, (uint64_t)x->recording);
        put_text(x, t, name);
        put_text(x, t, m->device < devices ? device[m->device].ocloc_name : NULL);
        put_text(x, t, m->device < devices ? device[m->device].name : NULL);
        put_text(x, t, first ? first->flags : NULL);
        put_int(x, t, m->build_count);
        put_known(x, t, first ? first->duration_ns : 0);
        put_known(x, t, m->binary.size_B);
        error = done(x, t);
    }
    return error;
}

/* ---- kernels ---- */

/* Kernels that have a row, for their instructions. */
struct kernel_ids {
    struct kernel_id {
        const char *module, *name;
        sqlite3_int64 id;
    } * items;
    uint32_t count;
};

static int put_kernel(struct zs_export *x, const struct zs_analyzed *k)
{
    const enum table t = TABLE_kernel;
    row(x);
    put_null(x, t);
    put_int(x, t, (uint64_t)x->recording);
    put_text(x, t, k->module);
    put_text(x, t, k->name);
    put_text(x, t, k->device);
    put_known(x, t, k->simd);
    put_int(x, t, k->launches);
    put_real(x, t, k->time_ns);
    put_text(x, t, k->limit->by);
    put_real(x, t, k->limit->percent);
    return done(x, t);
}

static int put_values(struct zs_export *x, struct zs_analysis *analysis,
                      const struct zs_analyzed *k, sqlite3_int64 id)
{
    static const char *const kinds[] = {"quantity", "metric", "definition"};
    const enum table t = TABLE_value;
    struct zs_named_value v;
    int error = 0;
    for (uint32_t i = 0; !error && zs_analysis_value(analysis, k, i, &v); i++) {
        if (isnan(v.value))
            continue;
        row(x);
        put_int(x, t, (uint64_t)id);
        put_text(x, t, kinds[v.kind]);
        put_text(x, t, v.name);
        put_text(x, t, v.unit);
        put_real(x, t, v.value);
        error = done(x, t);
    }
    return error;
}

static int put_findings(struct zs_export *x, const struct zs_analyzed *k, sqlite3_int64 id)
{
    const enum table t = TABLE_finding;
    int error = 0;
    for (uint32_t i = 0; i < k->finding_count && !error; i++) {
        const struct zs_finding *f = &k->findings[i];
        const struct zs_source_place *place = f->place_count ? &f->places[0] : NULL;
        row(x);
        put_int(x, t, (uint64_t)id);
        put_text(x, t, f->rule);
        put_text(x, t, f->title);
        put_text(x, t, f->text);
        put_text(x, t, f->advice);
        put_real(x, t, f->severity);
        put_real(x, t, k->gains[i]);
        put_text(x, t, place ? place->path : NULL);
        put_known(x, t, place ? place->line : 0);
        error = done(x, t);
    }
    return error;
}

static int put_kernels(struct zs_export *x, struct zs_analysis *analysis, struct kernel_ids *ids)
{
    uint32_t count = zs_analysis_info(analysis)->kernel_count;
    ids->items = calloc((size_t)count + 1, sizeof(*ids->items));
    if (!ids->items || (count && !zs_analysis_kernel(analysis, 0))) {
        zs_cli_fail("out of memory");
        return -ENOMEM;
    }
    const struct zs_analyzed *k;
    for (uint32_t i = 0; i < count && (k = zs_analysis_kernel(analysis, i)); i++) {
        if (put_kernel(x, k))
            return -EIO;
        sqlite3_int64 id = sqlite3_last_insert_rowid(x->db);
        ids->items[ids->count++] = (struct kernel_id){k->module, k->name, id};
        if (put_values(x, analysis, k, id) || put_findings(x, k, id))
            return -EIO;
    }
    return 0;
}

/* ---- instructions ---- */

/* Columns that the table has of its own, in its order. */
static const char *const counted[] = {"executions", "active_lanes", "read_B", "written_B"};

static int counted_index(const char *name)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(counted); i++)
        if (!strcmp(name, counted[i]))
            return (int)i;
    return -1;
}

static int put_instruction_values(struct zs_export *x, const struct zs_code *code, uint32_t i)
{
    const enum table t = TABLE_instruction_value;
    sqlite3_int64 id = sqlite3_last_insert_rowid(x->db);
    int error = 0;
    for (uint32_t c = 0; c < code->column_count && !error; c++) {
        const struct zs_column *column = &code->columns[c];
        double value = column->values[i];
        if (isnan(value) || value == 0 || counted_index(column->name) >= 0)
            continue;
        row(x);
        put_int(x, t, (uint64_t)id);
        put_text(x, t, column->name);
        put_text(x, t, column->unit);
        put_real(x, t, value);
        error = done(x, t);
    }
    return error;
}

static int put_code(struct zs_export *x, const struct zs_code *code, sqlite3_int64 kernel)
{
    const enum table t = TABLE_instruction;
    const double *counts[ZS_ARRAY_LEN(counted)] = {0};
    for (uint32_t c = 0; c < code->column_count; c++) {
        int index = counted_index(code->columns[c].name);
        if (index >= 0)
            counts[index] = code->columns[c].values;
    }
    uint32_t count = code->isa ? zs_isa_kernel_count(code->isa) : 0;
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        char text[ZS_ISA_LINE_MAX];
        size_t length_B = zs_isa_inst_text(code->isa, i, text);
        const struct zs_line_row *at = zs_code_row(code, i);
        bool has_line = at && at->line && at->file < code->info->file_count;
        row(x);
        put_null(x, t);
        put_int(x, t, (uint64_t)kernel);
        put_int(x, t, zs_isa_inst_offset(code->isa, i));
        put_bytes(x, t, text, length_B);
        put_text(x, t, has_line ? code->info->files[at->file].path : NULL);
        put_known(x, t, has_line ? at->line : 0);
        for (size_t c = 0; c < ZS_ARRAY_LEN(counted); c++) {
            if (counts[c] && !isnan(counts[c][i]))
                put_int(x, t, (uint64_t)counts[c][i]);
            else
                put_null(x, t);
        }
        error = done(x, t);
        if (!error)
            error = put_instruction_values(x, code, i);
        x->counts->instructions++;
    }
    return error;
}

static int put_kernel_code(struct zs_export *x, const struct zs_module_view *view,
                           struct zs_annotation *annotation, const struct zs_kernel_ref *ref,
                           sqlite3_int64 id)
{
    struct zs_code *code;
    int error = zs_code_open(annotation, ref->image, ref->kernel, ZS_ISA_TEXT, &code);
    if (error)
        return error;
    if (view->columns.attach)
        error = view->columns.attach(view->columns.user, code);
    if (!error)
        error = put_code(x, code, id);
    if (view->columns.release)
        view->columns.release(view->columns.user, code);
    zs_code_close(code);
    return error;
}

static int put_view(struct zs_export *x, const struct zs_module_view *view,
                    const struct kernel_ids *ids)
{
    struct zs_annotation *annotation;
    int error = zs_annotation_open(view->module, &annotation);
    for (size_t i = 0; i < view->kernel_count && !error; i++) {
        const struct zs_kernel_ref *ref = &view->kernels[i];
        for (uint32_t k = 0; k < ids->count && !error; k++)
            if (!strcmp(ids->items[k].name, ref->kernel->name) &&
                (!ref->module[0] || !strcmp(ids->items[k].module, ref->module)))
                error = put_kernel_code(x, view, annotation, ref, ids->items[k].id);
        zs_cli_progress(x->common, x->name, i + 1, view->kernel_count);
    }
    zs_annotation_close(annotation);
    return error;
}

static int put_instructions(struct zs_export *x, const char *path, const struct kernel_ids *ids)
{
    char *operand = strdup(path);
    const struct zs_input_select select = {.allow_none = true};
    struct zs_source_options sources = {.size_B = sizeof(sources)};
    struct zs_view view;
    if (!operand)
        return -ENOMEM;
    int status = zs_view_open(x->common, &select, &sources, 1, &operand, &view);
    int error = status ? -EIO : put_view(x, &view.view, ids);
    x->failed |= status != ZS_EXIT_OK;
    zs_view_close(&view);
    free(operand);
    return error;
}

/* ---- a recording ---- */

static int read_events(struct zs_export *x, const char *path, struct zs_diag *diag)
{
    const struct zs_merge_sink sink = {.user = x,
                                       .call = on_call,
                                       .execute = on_execute,
                                       .object = on_object,
                                       .mark = on_mark,
                                       .no_values = true};
    struct zs_merge_totals totals = {0};
    int error = zs_merge(path, &sink, &x->activities, &totals, diag);
    x->counts->lost_calls = totals.lost;
    x->counts->damaged_files = totals.damaged_files;
    zs_activities_free(&x->activities);
    return error;
}

static int put_opened(struct zs_export *x, const char *path, struct zs_recording *recording,
                      struct zs_diag *diag)
{
    struct zs_analysis *analysis;
    struct kernel_ids ids = {0};
    uint32_t modules;
    int error = zs_analysis_open(path, &analysis, diag);
    if (error)
        return error;
    zs_recording_modules(recording, &modules);
    error = read_events(x, path, diag);
    if (!error)
        error = put_recording(x, recording, x->counts->lost_calls);
    if (!error)
        error = put_processes(x, recording);
    if (!error)
        error = put_modules(x, recording);
    if (!error)
        error = put_kernels(x, analysis, &ids);
    if (!error && modules && ids.count)
        error = put_instructions(x, path, &ids);
    free(ids.items);
    zs_analysis_close(analysis);
    return error;
}

static int export_one(struct zs_export *x, const char *path, struct zs_export_counts *counts)
{
    struct zs_diag diag = {0};
    struct zs_recording *recording;
    int last = 0;
    *counts = (struct zs_export_counts){0};
    if (zs_recording_open(path, &recording, &diag))
        return zs_cli_fail("%s: %s", path, diag.text);
    x->name = path;
    x->counts = counts;
    int error = pragma(x, "SELECT max(id) FROM recording", &last);
    x->recording = last + 1;
    if (!error)
        error = zs_recordings_open(path, &x->modules);
    if (!error)
        error = put_opened(x, path, recording, &diag);
    zs_recordings_close(&x->modules);
    zs_recording_close(recording);
    if (error && !x->failed)
        return zs_cli_fail("%s: %s", path, diag.text[0] ? diag.text : strerror(-error));
    return error ? ZS_EXIT_FAILED : ZS_EXIT_OK;
}

int zs_export_recording(struct zs_export *x, const char *path, struct zs_export_counts *ret_counts)
{
    struct zs_traces parts = {0};
    struct zs_diag diag = {0};
    int status = ZS_EXIT_OK;
    *ret_counts = (struct zs_export_counts){0};
    if (zs_recording_probe(path) || zs_traces_open_parts(path, &parts, &diag) || !parts.part_count)
        status = export_one(x, path, ret_counts);
    for (size_t i = 0; i < parts.part_count && status == ZS_EXIT_OK; i++) {
        struct zs_export_counts one;
        char *name = NULL;
        if (asprintf(&name, "%s/%s", path, parts.parts[i].rank) < 0)
            return zs_cli_fail("out of memory");
        status = export_one(x, name, &one);
        ret_counts->calls += one.calls;
        ret_counts->lost_calls += one.lost_calls;
        ret_counts->damaged_files += one.damaged_files;
        ret_counts->activities += one.activities;
        ret_counts->instructions += one.instructions;
        free(name);
    }
    zs_traces_close(&parts);
    return status;
}
