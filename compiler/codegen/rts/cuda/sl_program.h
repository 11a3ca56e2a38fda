/* Stands behind `sl_job`, the kernels, `sl_kernel_table`, `sl_kernel_names` and `sl_regions` (at least one) in a text for the emulator: what it is told of them. */
#ifndef SL_PROGRAM_H
#define SL_PROGRAM_H

#include "sl_env.h"

static const uint32_t sl_kernel_count = sizeof sl_kernel_table / sizeof *sl_kernel_table;
static_assert(sizeof sl_kernel_names / sizeof *sl_kernel_names == sl_kernel_count, "a name for each kernel");

static void sl_run_kernel(uint32_t kernel, const void *job) { sl_kernel_table[kernel](*(const sl_job *)job); }

const sl_program sl_emulated = {sl_kernel_count, sizeof sl_regions / sizeof *sl_regions, sl_kernel_names, sl_regions, sl_run_kernel};
#endif
