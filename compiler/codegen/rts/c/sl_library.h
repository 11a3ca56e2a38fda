/* What a library's own functions call (sl_library.c). */
#ifndef SL_LIBRARY_H
#define SL_LIBRARY_H

#include "sl_engine.h"

typedef struct sl_library sl_library;

SL_ENGINE sl_library *sl_library_create(void) SL_UNUSED;
SL_ENGINE int64_t sl_library_push(sl_library *lib, const void *items, size_t n) SL_UNUSED;
SL_ENGINE int64_t sl_library_pull(sl_library *lib, void *items, size_t most) SL_UNUSED;
SL_ENGINE int64_t sl_library_process(sl_library *lib, const void *in, size_t *n, void *out, size_t max) SL_UNUSED;
SL_ENGINE int sl_library_end_input(sl_library *lib) SL_UNUSED;
SL_ENGINE int sl_library_run(sl_library *lib, int64_t iterations) SL_UNUSED;
SL_ENGINE int sl_library_finish(sl_library *lib) SL_UNUSED;
SL_ENGINE const char *sl_library_message(const sl_library *lib) SL_UNUSED;
SL_ENGINE void sl_library_destroy(sl_library *lib) SL_UNUSED;

#endif
