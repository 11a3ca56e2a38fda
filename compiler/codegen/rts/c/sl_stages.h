/* What the stages of a program are (sl_stages.c): tables that it brings, and what its interface (sluice_stages.h) is made of. */
#ifndef SL_STAGES_H
#define SL_STAGES_H

#include "sl_engine.h"

#ifdef SL_APART
extern SL_ENGINE const sl_stage sl_the_stages[];
extern SL_ENGINE const sl_crossing sl_the_crossings[];
/* Of each stage in turn: its nodes; the channels that keep items, those within it, and from whose buffers those are read; its crossings. */
extern SL_ENGINE const uint32_t sl_stage_nodes[], sl_stage_kept[], sl_stage_inner[], sl_stage_inner_in[], sl_stage_ins[], sl_stage_outs[];
/* By channel: items of batches before in front of a block. By node: firings that are done again. */
extern SL_ENGINE const uint64_t sl_before[], sl_again[];
/* By reader: the crossing that its items can go to at once, or UINT32_MAX. */
extern SL_ENGINE const uint32_t sl_read_to[];
#endif

SL_ENGINE int32_t sl_undoable(void) SL_UNUSED;
SL_ENGINE int32_t sl_part_make(const sluice_host *host, sl_ctx **part) SL_UNUSED;
SL_ENGINE void sl_attach(sl_ctx *whole, sluice_crew *crew, void *user, int64_t k) SL_UNUSED;
SL_ENGINE uint64_t sl_image_bytes(uint32_t stage) SL_UNUSED;
SL_ENGINE void sl_take_image(const sl_ctx *from, uint32_t stage, void *image) SL_UNUSED;
SL_ENGINE void sl_give_image(sl_ctx *to, uint32_t stage, const void *image) SL_UNUSED;
SL_ENGINE void sl_begin_part(sl_ctx *part, sl_ctx *whole, uint32_t stage) SL_UNUSED;
SL_ENGINE int32_t sl_admit(sl_ctx *part, uint32_t stage, int64_t k, char *const *blocks) SL_UNUSED;
SL_ENGINE uint64_t sl_input_bytes(uint32_t stage, int64_t k) SL_UNUSED;
SL_ENGINE void sl_copy_input(const sl_ctx *part, uint32_t stage, int64_t k, void *copy) SL_UNUSED;
SL_ENGINE int32_t sl_fire_part(sl_ctx *part, uint32_t stage, int64_t epoch, int64_t k, int32_t first, char *const *blocks) SL_UNUSED;
SL_ENGINE int32_t sl_flush_part(sl_ctx *part, int32_t all) SL_UNUSED;
SL_ENGINE int32_t sl_finish_part(sl_ctx *part, sl_ctx *whole, uint32_t stage, int64_t k, const void *const *inputs, uint64_t count) SL_UNUSED;
SL_ENGINE void sl_undo_part(sl_ctx *part, sl_ctx *whole, uint32_t stage, const void *image) SL_UNUSED;
SL_ENGINE void sl_fail_part(const sl_ctx *part, sl_ctx *whole) SL_UNUSED;

#endif
