/* The push and pull interface of a library: queues at the open ends, files for those that the program names. */
#include "sl_file.h"
#include "sl_library.h"

/* What the functions give back; the header has them with the library's own prefix. */
enum { SL_LIB_DONE = -1, SL_LIB_FAILED = -2, SL_LIB_FILE = -3, SL_LIB_USE = -4 };

/* Items in host form, in a ring. */
typedef struct sl_queue {
    char *items;
    uint64_t bytes;    /* of an item */
    uint64_t capacity; /* items */
    uint64_t head, held;
    int ended;
} sl_queue;

/* An instance. */
struct sl_library {
    sl_ctx *ctx;
    sl_files files;
    sl_queue in, out;
    /* while items are pulled: where the caller wants them, and how many more; only while the queue is empty */
    char *wanted;
    uint64_t room;
    /* while items are processed: the caller's that come after those in the queue */
    const char *offered;
    uint64_t offers;
    int has_in, has_out, done, finished;
    char message[SL_MESSAGE_BYTES];
    /* what the last call that made no sense was; it fails nothing */
    const char *misuse;
};

static uint64_t sl_queue_put(sl_queue *q, const char *items, uint64_t n) {
    n = n < q->capacity - q->held ? n : q->capacity - q->held;
    uint64_t at = (q->head + q->held) % q->capacity, first = q->capacity - at < n ? q->capacity - at : n;
    memcpy(q->items + at * q->bytes, items, first * q->bytes);
    memcpy(q->items, items + first * q->bytes, (n - first) * q->bytes);
    q->held += n;
    return n;
}

static uint64_t sl_queue_get(sl_queue *q, char *items, uint64_t n) {
    n = n < q->held ? n : q->held;
    uint64_t first = q->capacity - q->head < n ? q->capacity - q->head : n;
    memcpy(items, q->items + q->head * q->bytes, first * q->bytes);
    memcpy(items + first * q->bytes, q->items, (n - first) * q->bytes);
    q->head = (q->head + n) % q->capacity;
    q->held -= n;
    return n;
}

static int sl_queue_create(sl_queue *q, const sluice_end *end, uint64_t capacity) {
    q->bytes = end->bytes;
    q->capacity = capacity;
    q->items = malloc((size_t)(q->bytes * capacity));
    return q->items ? 0 : -1;
}

/* ---- the host ---- */

/* Is this where C would put such items? */
static int sl_is_aligned(const void *items, const sluice_end *end) {
    return (uintptr_t)items % (end->scalar == SLUICE_DOUBLE ? 8 : 4) == 0;
}

/* Steady states that are worth to be lent: one that runs by itself before them takes as long as a vector of them. */
enum { SL_WORTH_LENDING = 64 };

/* How many of the offered items to copy, of `most` at most, where the program has `there`: as many as make steady states whole where many more come
 * behind them. Were some of the next steady state's items with the program, all that follow would have to be copied, too, and could not be lent. */
static uint64_t sl_library_some(const sl_library *lib, uint32_t reader, uint64_t there, uint64_t most) {
    const sl_program *p = &sl_the_program;
    const uint64_t some = lib->offers < most ? lib->offers : most;
    const uint64_t whole = p->nodes[p->readers[reader].node].repetitions * p->unit;
    const int lent = lib->ctx->host.lend && sl_are_numbers(p->readers[reader].type) && sl_is_aligned(lib->offered, &p->abi->readers[reader]);
    if (lent && there > 0 && whole > 0 && lib->offers / SL_WORTH_LENDING >= whole) {
        const uint64_t least = there > p->rest ? there : p->rest, missing = (least + whole - 1) / whole * whole - there;
        return missing < some ? missing : some;
    }
    return some;
}

static int64_t sl_library_read(void *user, uint32_t reader, void *items, int64_t max, int32_t wait) {
    sl_library *lib = user;
    if (sl_the_program.abi->readers[reader].file) {
        return sl_file_read(&lib->files, &lib->files.read[reader], items, max, wait);
    }
    uint64_t n = sl_queue_get(&lib->in, items, (uint64_t)max);
    if (lib->offers > 0 && n < (uint64_t)max) {
        const sl_stage_of_end *stage = &lib->ctx->read[reader];
        const uint64_t some = sl_library_some(lib, reader, (uint64_t)(stage->tail - stage->head) + n, (uint64_t)max - n);
        memcpy((char *)items + n * lib->in.bytes, lib->offered, some * lib->in.bytes);
        lib->offered += some * lib->in.bytes;
        lib->offers -= some;
        n += some;
    }
    return n > 0 ? (int64_t)n : lib->in.ended ? SLUICE_END : SLUICE_NONE_YET;
}

static int64_t sl_library_lend(void *user, uint32_t reader, const void **items) {
    sl_library *lib = user;
    const sluice_end *end = &sl_the_program.abi->readers[reader];
    if (end->file || lib->in.held > 0 || lib->offers == 0 || !sl_is_aligned(lib->offered, end)) {
        return 0;
    }
    const uint64_t n = lib->offers;
    *items = lib->offered;
    lib->offered += n * lib->in.bytes;
    lib->offers = 0;
    return (int64_t)n;
}

static void *sl_library_place(void *user, uint32_t writer, int64_t n) {
    sl_library *lib = user;
    const sluice_end *end = &sl_the_program.abi->writers[writer];
    return !end->file && lib->room >= (uint64_t)n && sl_is_aligned(lib->wanted, end) ? lib->wanted : NULL;
}

static int32_t sl_library_write(void *user, uint32_t writer, const void *items, int64_t n) {
    sl_library *lib = user;
    if (sl_the_program.abi->writers[writer].file) {
        return sl_file_write(&lib->files, &lib->files.write[writer], items, n);
    }
    const char *from = items;
    const uint64_t all = (uint64_t)n, some = all < lib->room ? all : lib->room;
    if (some > 0) {
        /* the program may have put them there itself */
        if (from != lib->wanted) {
            memcpy(lib->wanted, from, some * lib->out.bytes);
        }
        lib->wanted += some * lib->out.bytes;
        lib->room -= some;
    }
    return sl_queue_put(&lib->out, from + some * lib->out.bytes, all - some) == all - some ? 0 : -1;
}

static int32_t sl_library_print(void *user, const char *text, size_t length) {
    (void)user;
    return fwrite(text, 1, length, stdout) == length ? 0 : -1;
}

static int64_t sl_library_space(void *user, uint32_t writer) {
    sl_library *lib = user;
    return sl_the_program.abi->writers[writer].file ? INT64_MAX : (int64_t)(lib->out.capacity - lib->out.held + lib->room);
}

/* ---- instances ---- */

SL_ENGINE void sl_library_destroy(sl_library *lib) {
    if (lib) {
        sl_destroy(lib->ctx);
        sl_files_destroy(&lib->files);
        free(lib->in.items);
        free(lib->out.items);
        free(lib);
    }
}

SL_UNUSED static int sl_library_fail(sl_library *lib, int code, const char *what) {
    snprintf(lib->message, sizeof lib->message, "%s", what);
    return code;
}

SL_UNUSED static int sl_library_misused(sl_library *lib, const char *what) {
    lib->misuse = what;
    return SL_LIB_USE;
}

/* NULL only where memory is short; other faults are noted and told by the functions called next. */
SL_ENGINE sl_library *sl_library_create(void) {
    const sl_program *p = &sl_the_program;
    const sluice_abi *abi = p->abi;
    const sl_format raw = {"raw", SL_FORMAT_RAW, 0};
    sl_library *lib = calloc(1, sizeof *lib);
    if (!lib || sl_files_create(&lib->files) != 0) {
        sl_library_destroy(lib);
        return NULL;
    }
    int bad = 0;
    for (uint32_t i = 0; i < abi->reader_count && !bad; i++) {
        const sluice_end *end = &abi->readers[i];
        if (end->file) {
            bad = sl_file_open_read(&lib->files, &lib->files.read[i], end, end->file, raw);
        } else {
            lib->has_in = 1;
            if (sl_queue_create(&lib->in, end, 2 * p->readers[i].capacity) != 0) {
                sl_library_destroy(lib);
                return NULL;
            }
        }
    }
    for (uint32_t i = 0; i < abi->writer_count && !bad; i++) {
        const sluice_end *end = &abi->writers[i];
        if (end->file) {
            bad = sl_file_open_write(&lib->files, &lib->files.write[i], end, end->file, raw);
        } else {
            uint64_t batch = abi->batch * p->nodes[end->node].repetitions;
            lib->has_out = 1;
            if (sl_queue_create(&lib->out, end, 2 * (batch > p->writers[i].capacity ? batch : p->writers[i].capacity)) != 0) {
                sl_library_destroy(lib);
                return NULL;
            }
        }
    }
    const sluice_host host = {sizeof host, 0, lib, sl_library_read, sl_library_write, sl_library_print, sl_library_space, NULL,
                              NULL, sl_library_lend, sl_library_place};
    if (sl_create(&host, &lib->ctx) != SLUICE_DONE) {
        sl_library_destroy(lib);
        return NULL;
    }
    if (bad) {
        sl_library_fail(lib, SL_LIB_FILE, lib->files.message);
    }
    return lib;
}

/* Runs as far as it goes: 0 where it may go on later, SL_LIB_DONE, or an error. */
static int sl_library_go(sl_library *lib, int64_t until) {
    if (lib->message[0]) {
        return lib->ctx->error.code < 0 && lib->ctx->error.code != SLUICE_HOST ? SL_LIB_FAILED : SL_LIB_FILE;
    }
    if (lib->done) {
        return SL_LIB_DONE;
    }
    int32_t result = sl_run(lib->ctx, until);
    if (result == SLUICE_HOST) {
        return sl_library_fail(lib, SL_LIB_FILE, lib->files.message[0] ? lib->files.message : sl_error(lib->ctx)->message);
    }
    if (result < 0) {
        return sl_library_fail(lib, SL_LIB_FAILED, sl_error(lib->ctx)->message);
    }
    if (result == SLUICE_DONE && lib->ctx->ended) {
        lib->done = 1;
        if (sl_files_finish(&lib->files) != 0) {
            return sl_library_fail(lib, SL_LIB_FILE, lib->files.message);
        }
        return SL_LIB_DONE;
    }
    return 0;
}

SL_ENGINE int64_t sl_library_push(sl_library *lib, const void *items, size_t n) {
    const char *from = items;
    uint64_t pushed = 0;
    if (lib->message[0]) {
        return sl_library_go(lib, -1);
    }
    if (!lib->has_in) {
        return sl_library_misused(lib, "the program has no open input");
    }
    if (lib->in.ended) {
        return sl_library_misused(lib, "items come after the end of the input");
    }
    while (pushed < n) {
        uint64_t some = sl_queue_put(&lib->in, from + pushed * lib->in.bytes, n - pushed);
        pushed += some;
        if (pushed == n) {
            break;
        }
        /* the queue is full: make room where the output has some */
        uint64_t held = lib->in.held;
        int result = sl_library_go(lib, -1);
        if (result < SL_LIB_DONE) {
            return result;
        }
        if (result == SL_LIB_DONE || lib->in.held == held) {
            break;
        }
    }
    return (int64_t)pushed;
}

SL_ENGINE int64_t sl_library_pull(sl_library *lib, void *items, size_t most) {
    char *to = items;
    uint64_t pulled = 0;
    /* what came before a fault and found no room yet comes first */
    if (lib->message[0] && lib->out.held == 0) {
        return sl_library_go(lib, -1);
    }
    if (!lib->has_out) {
        return sl_library_misused(lib, "the program has no open output");
    }
    while (pulled < most) {
        uint64_t some = sl_queue_get(&lib->out, to + pulled * lib->out.bytes, most - pulled);
        pulled += some;
        if (pulled == most) {
            break;
        }
        lib->wanted = to + pulled * lib->out.bytes;
        lib->room = most - pulled;
        int result = sl_library_go(lib, -1);
        some = most - pulled - lib->room;
        lib->room = 0;
        pulled += some;
        if (some == 0 && lib->out.held == 0) {
            return pulled > 0 || result == 0 ? (int64_t)pulled : result;
        }
    }
    return (int64_t)pulled;
}

/* Items in and out at once. What comes in is used where it lies; what is left of it is kept, but for what has to wait for room for output. */
SL_ENGINE SL_UNUSED int64_t sl_library_process(sl_library *lib, const void *in, size_t *n, void *out, size_t max) {
    const size_t given = *n;
    *n = 0;
    if (lib->message[0]) {
        return sl_library_pull(lib, out, max);
    }
    if (given > 0 && lib->in.ended) {
        return sl_library_misused(lib, "items come after the end of the input");
    }
    lib->offered = in;
    lib->offers = given;
    int64_t pulled = sl_library_pull(lib, out, max);
    for (uint32_t r = 0; r < lib->ctx->program->abi->reader_count; r++) {
        const uint64_t left = (uint64_t)sl_give_back(lib->ctx, r);
        lib->offered -= left * lib->in.bytes;
        lib->offers += left;
    }
    if (pulled >= 0 && ((size_t)pulled < max || max == 0)) {
        const uint64_t kept = sl_queue_put(&lib->in, lib->offered, lib->offers);
        lib->offers -= kept;
    }
    *n = given - lib->offers;
    lib->offered = NULL;
    lib->offers = 0;
    return pulled;
}

SL_ENGINE int sl_library_end_input(sl_library *lib) {
    if (lib->message[0]) {
        return sl_library_go(lib, -1);
    }
    if (!lib->has_in) {
        return sl_library_misused(lib, "the program has no open input");
    }
    lib->in.ended = 1;
    return 0;
}

SL_ENGINE int sl_library_run(sl_library *lib, int64_t iterations) {
    int64_t done = sl_iterations(lib->ctx);
    return sl_library_go(lib, iterations < 0 ? -1 : iterations > INT64_MAX - done ? INT64_MAX : done + iterations);
}

/* Ends a run that has no end of its own: its files become complete. */
SL_ENGINE int sl_library_finish(sl_library *lib) {
    lib->in.ended = 1;
    if (!lib->done && !lib->message[0]) {
        lib->done = 1;
        if (sl_files_finish(&lib->files) != 0) {
            return sl_library_fail(lib, SL_LIB_FILE, lib->files.message);
        }
    }
    return lib->message[0] ? sl_library_go(lib, -1) : 0;
}

SL_ENGINE const char *sl_library_message(const sl_library *lib) {
    return !lib ? "not enough memory" : lib->message[0] || !lib->misuse ? lib->message : lib->misuse;
}
