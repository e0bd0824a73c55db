/* SPDX-License-Identifier: MIT */
/*
 * What was counted below Intel's driver gets names: the input is a file of counts and the module
 * whose code it may be, the first one's length in four bytes before it.
 */
#include "../folder.h"
#include "base/compiler.h"
#include "base/reader.h"
#include "report/walks.h"

#include <zescope/record.h>

#include <string.h>

#define BLOB "0000000000000000000000000000000000000000000000000000000000000000.bin"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static void put_text(const char *name, const char *text)
{
    put(name, (const uint8_t *)text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_reader r = zs_reader_make(zs_span_make(data, size_B), 0, NULL);
    if (!folder[0]) {
        make_folder("trace process/1 counts modules");
        put_text("meta.json", "{\"schema\": \"zescope.recording/1\"}");
        put_text("process/1/process.json",
                 "{\"schema\": \"zescope.recording.process/1\", \"pid\": 1, \"ordinal\": 0, "
                 "\"ppid\": 0, \"exe\": \"/a\", \"argv\": [\"a\"], \"start_ns\": 1, "
                 "\"realtime_ns\": 1}\n");
        put_text(
            "process/1/modules.jsonl",
            "{\"event\": \"begin\", \"tid\": 1, \"t_ns\": 1, \"id\": 1, \"format\": \"native\", "
            "\"app_flags\": \"\", \"flags\": \"\", \"inputs\": []}\n"
            "{\"event\": \"end\", \"tid\": 1, \"t_ns\": 2, \"id\": 1, \"duration_ns\": 1, "
            "\"result\": "
            "\"0x0\", \"handle\": \"0x1\", \"binary\": {\"blob\": \"" BLOB
            "\", \"size_B\": 1}, \"kernels\": []}\n");
    }
    uint32_t first_B = zs_read_u32(&r, "length");
    first_B = (uint32_t)ZS_MIN((size_t)first_B, zs_reader_left(&r));
    struct zs_span walks = zs_read_bytes(&r, first_B, "walks");
    struct zs_span module = zs_read_bytes(&r, zs_reader_left(&r), "module");
    put("counts/1-0-0.walks", walks.data, walks.size_B);
    put("modules/" BLOB, module.data, module.size_B);
    struct zs_recording *recording;
    struct zs_diag diag = {0};
    size_t others = 0;
    if (zs_recording_open(folder, &recording, &diag))
        __builtin_trap();
    int error = zs_walks_name(folder, recording, NULL, &others, &diag);
    zs_assert(!error || diag.text[0]);
    zs_recording_close(recording);
    return 0;
}
