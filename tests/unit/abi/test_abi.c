/* SPDX-License-Identifier: MIT */
/*
 * The sizes of public structs that stand in arrays or that callers allocate: docs/api.md freezes
 * them. A row that fails here means another soname, or an accessor instead of a member. Until the
 * first release a row may be changed, on purpose.
 */
#include <zescope/analyze.h>
#include <zescope/annotate.h>
#include <zescope/correlate.h>
#include <zescope/debug.h>
#include <zescope/edit.h>
#include <zescope/isa.h>
#include <zescope/metrics.h>
#include <zescope/module.h>
#include <zescope/record.h>
#include <zescope/trace.h>

#define ROW(name, size_B) _Static_assert(sizeof(struct name) == (size_B), #name " is frozen");
#if defined(__x86_64__)
/* clang-format off */
ROW(zs_column, 48)
ROW(zs_span, 16)
ROW(zs_diag, 496)
ROW(zs_dwarf_file, 32)
ROW(zs_line_row, 16)
ROW(zs_code_range, 8)
ROW(zs_frame, 48)
ROW(zs_scope, 16)
ROW(zs_variable, 48)
ROW(zs_type, 48)
ROW(zs_type_member, 40)
ROW(zs_location, 24)
ROW(zs_location_iterator, 40)
ROW(zs_dwarf_register, 8)
ROW(zs_piece, 72)
ROW(zs_eval_result, 2312)
ROW(zs_join_line, 20)
ROW(zs_join_run, 8)
ROW(zs_path_map, 16)
ROW(zs_source_provider, 16)
ROW(zs_edit_buffer, 40)
ROW(zs_edit_record, 32)
ROW(zs_probe, 28)
ROW(zs_isa_operand, 24)
ROW(zs_isa_swsb, 4)
ROW(zs_isa_inst, 216)
ROW(zs_isa_message, 64)
ROW(zs_isa_edge, 12)
ROW(zs_isa_block, 40)
ROW(zs_isa_loop, 20)
ROW(zs_section, 96)
ROW(zs_part, 72)
ROW(zs_module_note, 16)
ROW(zs_arg, 96)
ROW(zs_payload, 28)
ROW(zs_surface, 20)
ROW(zs_sampler, 24)
ROW(zs_place, 16)
ROW(zs_symbol, 40)
ROW(zs_relocation, 64)
ROW(zs_thread_payload, 36)
ROW(zs_token_list, 32)
ROW(zs_debug, 48)
ROW(zs_string, 16)
ROW(zs_kernel, 528)
ROW(zs_data_buffer, 48)
ROW(zs_host_access, 16)
ROW(zs_function, 40)
ROW(zs_image, 408)
ROW(zs_debug_entry, 64)
ROW(zs_token, 56)
ROW(zs_token_field, 56)
ROW(zs_record_blob, 16)
ROW(zs_record_process, 40)
ROW(zs_record_device, 48)
ROW(zs_record_constant, 16)
ROW(zs_record_input, 48)
ROW(zs_record_build, 104)
ROW(zs_record_module, 64)
ROW(zs_record_source, 24)
ROW(zs_record_note, 16)
ROW(zs_record_drops, 32)
ROW(zs_metric, 48)
ROW(zs_metric_group, 48)
ROW(zs_metric_launch, 104)
ROW(zs_metric_report, 64)
ROW(zs_metric_place, 40)
ROW(zs_metric_sum, 88)
ROW(zs_metric_sums, 24)
ROW(zs_api_param, 48)
ROW(zs_source_place, 40)
ROW(zs_finding_number, 24)
ROW(zs_finding, 64)
ROW(zs_not_judged, 24)
ROW(zs_roof, 48)
ROW(zs_formula_error, 308)
ROW(zs_named_value, 48)
ROW(zs_debug_event, 528)
ROW(zs_debug_history, 40)
ROW(zs_debug_place, 32)
ROW(zs_debug_writer, 600)
ROW(zs_debug_thread, 72)
ROW(zs_debug_lane, 32)
ROW(zs_debug_frame, 40)
ROW(zs_debug_register, 88)
ROW(zs_debug_inst, 320)
ROW(zs_debug_function, 32)
/* clang-format on */
#endif

/* Those that begin with their size may grow, and take callers of other versions. */
#define SIZED(name)                                                                                \
    _Static_assert(offsetof(struct name, size_B) == 0 &&                                           \
                       sizeof(((struct name *)0)->size_B) == sizeof(size_t),                       \
                   #name " begins with its size");
SIZED(zs_module_options)
SIZED(zs_isa_options)
SIZED(zs_source_options)
SIZED(zs_eval_context)
SIZED(zs_api_trace_options)
SIZED(zs_debug_options)
SIZED(zs_debug_breakpoint_options)
SIZED(zs_debug_watch_options)

int main(void)
{
    return 0;
}
