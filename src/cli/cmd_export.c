/* SPDX-License-Identifier: MIT */
/* zescope export: recordings as tables of a database. */
#include "cli/export_sqlite.h"

#include "cli/options.h"

#include <string.h>
#include <sys/stat.h>

struct export_options {
    struct zs_common_options common;
    const char *sqlite;
    bool append;
};

static const struct zs_option options[] = {
    {"sqlite", 0, ZS_OPTION_STRING, offsetof(struct export_options, sqlite), "FILE",
     "the database that is written"},
    {"append", 0, ZS_OPTION_FLAG, offsetof(struct export_options, append), NULL,
     "add to a database of earlier exports, which stays as it was if that fails"},
};

extern const struct zs_command zs_command_export;

static int export_all(const struct export_options *o, struct zs_export *export, int count,
                      char **paths)
{
    int status = ZS_EXIT_OK;
    for (int i = 0; i < count && status == ZS_EXIT_OK; i++) {
        struct zs_export_counts c;
        status = zs_export_recording(export, paths[i], &c);
        if (status == ZS_EXIT_OK) {
            zs_cli_note(&o->common, "%s: %llu calls, %llu activities, %llu instructions", paths[i],
                        (unsigned long long)c.calls, (unsigned long long)c.activities,
                        (unsigned long long)c.instructions);
            zs_cli_note_losses(&o->common, paths[i], c.calls, c.lost_calls, c.damaged_files);
        }
    }
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct export_options *o = parsed;
    struct zs_export *export;
    if (!operand_count)
        return zs_cli_usage(&zs_command_export, "a recording is needed");
    if (!o->sqlite || !o->sqlite[0] || !strcmp(o->sqlite, "-"))
        return zs_cli_usage(&zs_command_export, "--sqlite FILE says where to write");
    struct stat st;
    if (stat(o->sqlite, &st) == 0 && !S_ISREG(st.st_mode))
        return zs_cli_fail("%s is no file", o->sqlite);
    int status = zs_export_open(&o->common, o->sqlite, o->append, &export);
    if (status == ZS_EXIT_OK)
        status = export_all(o, export, operand_count, operands);
    int closing = zs_export_close(export, status == ZS_EXIT_OK);
    return status != ZS_EXIT_OK ? status : closing;
}

const struct zs_command zs_command_export = {
    .name = "export",
    .summary = "recordings as tables of an SQLite database",
    .operands = "[RECORDING...]",
    .takes_recording = true,
    .description =
        "Writes calls, device activity, memory, kernels with their counts, metrics and findings, "
        "and instructions with their source lines into one SQLite database, for sqlite3, pandas, "
        "DuckDB or Grafana. Several recordings go into one file, a folder of recordings one by "
        "one; --append adds what was recorded since. docs/export.md has the tables and queries.",
    .examples =
        "zescope export rec --sqlite rec.db\n"
        "    one recording\n"
        "zescope export nightly/* --append --sqlite all.db\n"
        "    more of them into a database that is there\n"
        "sqlite3 rec.db 'SELECT name, launches, time_ns FROM kernel ORDER BY time_ns DESC'\n"
        "    kernels by time\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct export_options),
    .run = run,
};
