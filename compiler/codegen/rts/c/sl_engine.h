/* The engine of a compiled program: what generated code and the rest of the run-time support share.
 *
 * The text of a program is one C file: sl_math.h, this header, the program's types, its filters, its tables (`sl_program`), its steady
 * state, and the engine. All names but the exported ones are static. With SL_APART the engine is in an object of its own, which programs
 * share and which need not be compiled again for each; its names are then hidden from whoever loads the program. Nothing is allocated after an instance is made, and all
 * that changes lives in the instance (`sl_ctx`).
 */
#ifndef SL_ENGINE_H
#define SL_ENGINE_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sluice_abi.h"

#define SL_UNUSED __attribute__((unused))
/* Of a function that all items go through, though what stands around it is compiled quickly. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define SL_HOT __attribute__((optimize("O3")))
#else
#define SL_HOT
#endif
#define SL_COLD __attribute__((unused, cold, noinline))
#define SL_EXPORT __attribute__((visibility("default")))
#ifdef SL_APART
#define SL_ENGINE __attribute__((visibility("hidden")))
#define SL_ELSEWHERE extern SL_ENGINE
#else
#define SL_ENGINE static
#define SL_ELSEWHERE static
#endif

/* Bytes to which buffers are aligned. */
#define SL_ALIGN 64
#ifdef SL_KERNELS
/* And what a device is told of. */
#define SL_PAGE 4096
#endif

/* What a node does. */
enum { SL_FILTER, SL_IDENTITY, SL_DUPLICATE, SL_SPLIT, SL_JOIN, SL_READER, SL_WRITER };

/* `n` firings on linear buffers. */
typedef void sl_fire_fn(sl_ctx *ctx, void *state, const void *in, void *out, long n);

/* The code of filters with equal arguments. */
typedef struct sl_code {
    sl_fire_fn *fire;
    sl_fire_fn *prework; /* the first firing, or NULL */
    void (*init)(void *state);
    uint32_t pre_peek, pre_pop, pre_push; /* rates of the first firing, where it differs */
    uint32_t text_length;
    const char *text; /* what `init` printed */
    uint64_t state_bytes;
    uint32_t attempt; /* a firing decides on its rates */
    uint64_t most_looked, most_pushed; /* the bounds of those of `work`; UINT64_MAX without */
    sl_fire_fn *sure; /* attempts in a row, up to the first that must be abandoned, or NULL */
} sl_code;

/* A node. */
typedef struct sl_node {
    const char *path;
    uint64_t repetitions, init; /* firings in a steady state, and in the initialisation */
    uint64_t state;             /* offset in the instance's states */
    uint32_t what;              /* the code of a filter, the end of a reader or writer */
    uint32_t first_in, ins;     /* in `ports` */
    uint32_t first_out, outs;   /* in `ports` */
    uint32_t first_weight;      /* in `weights` */
    uint32_t first_link, links; /* in `links`: the messages it sends */
    uint32_t first_wait, waits; /* in `waits`: for whom it waits */
    uint32_t first_next, nexts; /* in `nexts`: who waits for it */
    uint8_t kind;
    uint8_t free; /* readers exist, and none reaches this node */
    uint8_t loose; /* runs as its data allow: epochs do not bound it */
} sl_node;

/* A function of firing numbers: `head`, whose last `period` values repeat, each time greater by `step`. */
typedef struct sl_counts {
    const uint64_t *head;
    uint64_t length, period, step;
} sl_counts;

/* Calls a handler with a message's arguments (a struct of them in order). */
typedef void sl_receive_fn(sl_ctx *ctx, void *state, void *message);

/* A way of messages from a node to one receiver. */
typedef struct sl_link {
    sl_receive_fn *receive;
    sl_counts due;     /* by the sender's firing: before which firing of the receiver it takes effect */
    uint64_t bytes;    /* of the arguments */
    uint32_t send;     /* number of the way in the sender's code */
    uint32_t receiver; /* node */
    uint32_t after;    /* upstream: it takes effect directly after the firing before */
    uint32_t next;     /* it takes effect before the receiver's next firing, whatever `due` */
} sl_link;

/* A node waits until `before` has fired need(t) times before its firing t. */
typedef struct sl_wait {
    sl_counts need;
    uint32_t before;
} sl_wait;

/* A message under way, and those for one receiver. */
typedef struct sl_letter sl_letter;
typedef struct sl_box {
    sl_letter *first, *last;
} sl_box;

/* A channel. Sizes are in items, but for `offset` and `item`. */
typedef struct sl_channel {
    uint64_t offset;   /* of its buffer in the arena */
    uint64_t capacity; /* of its buffer */
    uint64_t fill;     /* at every boundary between steady states */
    const void *initial;
    uint32_t initial_count;
    uint32_t from, to; /* nodes */
    uint32_t item;     /* bytes */
    uint32_t produce, consume, peek;
    uint64_t consumed; /* items taken off in a steady state */
    uint32_t slides;   /* after a batch the items left stay where they are, until there is no room behind them */
} sl_channel;

/* The layout of a type in memory, for ends. Kinds below SL_ARRAY are those of sluice_end.scalar. */
enum { SL_ARRAY = 8, SL_STRUCT = 9 };
typedef struct sl_type {
    uint32_t kind;
    uint32_t count;               /* elements, or fields */
    uint64_t size;                /* bytes in memory */
    const struct sl_type *part;   /* element type */
    const struct sl_field *parts; /* fields */
} sl_type;
typedef struct sl_field {
    uint64_t offset;
    const sl_type *type;
} sl_field;

/* An end, besides what the host is told. */
typedef struct sl_end {
    const sl_type *type;
    uint64_t stage;    /* offset of its buffer in the arena */
    uint64_t capacity; /* of the buffer, in items */
    uint32_t node;
    uint32_t flat;     /* memory and host form are the same bytes */
} sl_end;

/* A place where the program can stop: text before and after the value, and where it is. */
typedef struct sl_site {
    const char *before;
    const char *after; /* NULL: no value */
    const char *where;
} sl_site;

#ifdef SL_KERNELS
/* What runs on a device. The arena's first bytes are exchanged with the host before and after each batch: the status, the filters'
 * states, the items that channels keep at boundaries. */
typedef struct sl_kernels {
    uint64_t arena, exchanged; /* bytes */
    uint64_t states;           /* their offset */
    uint64_t slice_bytes;      /* of what goes to the device and back at a time, at least: shorter copies take as long */
    const uint64_t *kept;      /* by channel that keeps items: their offset */
    /* starts the kernels of `k` steady states; `ends` are the items of readers, then of writers */
    void (*run)(sl_ctx *ctx, uint64_t arena, const uint64_t *ends, uint64_t print, uint64_t room, int64_t k);
} sl_kernels;
typedef struct sl_gpu sl_gpu;
#endif

/* A program. */
typedef struct sl_program {
    const sl_node *nodes;
    const sl_channel *channels;
    const sl_code *codes;
    const uint32_t *ports;   /* channels of the nodes' ports */
    const uint32_t *weights; /* of splitters and joiners */
    const uint32_t *roots;   /* the nodes in the order in which they pull */
    const sl_link *links;
    const sl_wait *waits;
    const uint32_t *nexts;   /* nodes */
    const uint32_t *kept;    /* channels that hold items at boundaries */
    const sl_site *sites;
    const sl_end *readers, *writers;
    uint32_t node_count, channel_count, site_count, kept_count;
    uint32_t link_count; /* 0: no filter looks for messages */
    uint32_t ordered; /* the order of firings can always be seen */
    uint32_t tables;  /* `steady` moves the cursors in `ctx->at` */
    uint32_t dynamic; /* there are dynamic rates: buffers grow */
    uint64_t channel_limit; /* the most items on a channel then */
    uint32_t natives; /* filters call native functions: what those did cannot be undone */
    uint64_t arena_bytes, state_bytes, message_bytes;
    /* `k` steady states, a multiple of `unit` and at most `batch`; from boundary to boundary. */
    void (*steady)(sl_ctx *ctx, int64_t k);
    uint64_t batch, unit;
    uint64_t begin; /* steady states at once in the beginning, a multiple of `unit` and at most `batch` */
    uint64_t rest; /* fewer items of the only reader than this are not seen at a boundary; 0: not known */
    const sluice_abi *abi;
#ifdef SL_KERNELS
    const sl_kernels *kernels;
#endif
#ifdef SL_STAGES
    /* Channels between stages (1 where there are none), steady states of the shortest batch of the crew, and how many times as long as what runs at once one is. */
    uint64_t crossings, least, turns;
#endif
} sl_program;

/* Where a channel's items are: the first one not consumed, and the first free place, in items from the buffer's start. */
typedef struct sl_cursor {
    int64_t head, tail;
} sl_cursor;

/* Of a reader: there are no further items; there would be, but they cannot be read, which is told when all before have been used. */
enum { SL_ENDED = 1, SL_BROKEN = 2 };

/* Items between the host and the program: read and not used yet, or written and not handed over. */
typedef struct sl_stage_of_end {
    const char *lent; /* a reader's: where its items are while they are in the host's memory, else NULL */
    int64_t head, tail;
    int32_t ended;
} sl_stage_of_end;

/* A set of numbers with quick access to the greatest and the next: bits, and bits that tell which words are not zero. */
typedef struct sl_set {
    uint64_t *level[6];
    uint32_t levels;
} sl_set;

/* Messages under way: a box for each node, cells to use again, how many there are, how many were sent. */
typedef struct sl_mail {
    sl_box *boxes;
    sl_letter *unused;
    uint32_t made;
    uint64_t sent;
} sl_mail;

/* What native functions gave back in attempts that were abandoned; the next attempt has come to `at`. */
typedef struct sl_calls {
    char *bytes;
    size_t at, length, room;
} sl_calls;

#ifdef SL_STAGES
/* A stage: its nodes, the channels that keep items at boundaries (all that it consumes; those within it), its crossings. */
typedef struct sl_stage {
    void (*run)(sl_ctx *ctx, int64_t k, int64_t again);
    uint32_t first_node, nodes;
    uint32_t first_kept, kept;
    uint32_t first_inner, inner;
    uint32_t first_in, ins;
    uint32_t first_out, outs;
    uint32_t replicas, reads;
} sl_stage;
/* A channel between stages. */
typedef struct sl_crossing {
    uint32_t channel;
    uint32_t by_maker; /* its producer keeps what goes in front of the next block */
} sl_crossing;
/* Items of a reader that come once more. */
typedef struct sl_back {
    char *items;
    int64_t at, count;
} sl_back;
#endif

#define SL_PRINT_BYTES 8192
#define SL_MESSAGE_BYTES 1024

/* An instance. */
struct sl_ctx {
    const sl_program *program;
    char *arena;       /* buffers */
    char *states;      /* of filters */
    sl_cursor *at;     /* by channel; in use while `slow` */
    char **place;       /* by channel: its buffer, and its items; in use while `slow` */
    uint64_t *capacity;
    int64_t *need;     /* by node: for so many items its next attempt waits, beyond what its rates say */
    int64_t *fired;    /* by node; in use while `slow` */
    uint8_t *dead;     /* by node */
    uint32_t *on_path; /* by node: 1 + its place in the path, or 0 */
    uint32_t *rank;    /* by node: its place among the roots */
    uint32_t *path;    /* the walk of the last pull, from the root to the source */
    uint32_t *stack;   /* nodes that may die */
    sl_stage_of_end *read, *written;
    sl_set ready; /* nodes that can fire, by number */
    sl_set below; /* nodes below their quota, by rank */
    sl_set suspects; /* nodes that may have lost their input for good, by number */
    sl_mail mail;
    char *saved;          /* states and items left, as they were before the batch; NULL where nothing is saved */
    int64_t *again;       /* by reader: where its stage began then */
    int64_t *handed_over; /* by writer, then text: what the batch has put out */
    int64_t *left_out;    /* by writer, then text: what a batch that was undone had put out */
    uint32_t in_batch;
    uint32_t slow_only; /* a batch was undone */
#ifdef SL_STATS
    struct sl_stats *stats;
#endif
#ifdef SL_STAGES
    char **block;       /* by crossing, of a part */
    sluice_crew *crew;  /* of the whole */
    void *crew_user;
    sl_back *back;      /* by reader */
    uint32_t settled;   /* batches have the size that they will have */
#endif
#ifdef SL_KERNELS
    sl_gpu *gpu; /* NULL until the first batch */
#endif
    uint32_t path_length;
    uint32_t alive; /* nodes that are neither dead nor free */
    uint32_t has_readers;
    uint32_t ordered;   /* never run fast */
    uint32_t at_once;   /* nobody can tell how many firings of a node follow one another */
    uint32_t one_source; /* all items come from one node */
    uint32_t any_dead;
    uint32_t boundary;  /* between two epochs; otherwise within one, slowly */
    uint32_t started;   /* has the text of the init blocks been printed? */
    uint32_t ended;
    int64_t epoch;      /* the one that runs, or that ran last */
    int64_t pace;       /* steady states at once, so that a batch takes some milliseconds at most */
    int64_t handed;     /* when everything was last handed to the host, in milliseconds */
    uintptr_t base;     /* where the stack was when the run began */
    char *undo;         /* the state of the node that attempts to fire, as it was */
    char *held;         /* what it has printed */
    size_t held_length, held_room;
    uint64_t have, room, looked; /* items that are there, room for more, items looked at */
    int64_t surely;     /* firings of attempts in a row */
    int64_t took, gave, wanted;  /* items popped and pushed; items that it needs to begin again */
    int64_t flow_items;
    uint32_t attempting;
    uint32_t noting;    /* this attempt may be abandoned */
    sl_calls *calls;    /* by node; NULL without dynamic rates or native functions */
    uint32_t moved;     /* has a node fired in this epoch? */
    jmp_buf attempt;
    int32_t node;       /* that fires, -1 for none */
    int32_t last_end;   /* whose items are staged: a writer, -1 for text, -2 for none */
    int64_t firing;     /* its number from 1, or 0 */
    size_t print_length;
    sluice_host host;
    sluice_error error;
    jmp_buf escape;
    char print[SL_PRINT_BYTES];
    char message[SL_MESSAGE_BYTES];
};

/* The program: what the engine knows of it. */
SL_ELSEWHERE const sl_program sl_the_program;

/* The functions of `sluice_abi`. */
SL_ENGINE int32_t sl_create(const sluice_host *host, sl_ctx **instance) SL_UNUSED;
SL_ENGINE int32_t sl_run(sl_ctx *ctx, int64_t until) SL_UNUSED;
SL_ENGINE const sluice_error *sl_error(const sl_ctx *ctx) SL_UNUSED;
SL_ENGINE int64_t sl_iterations(const sl_ctx *ctx) SL_UNUSED;
SL_ENGINE void sl_destroy(sl_ctx *ctx) SL_UNUSED;

/* Ends the run: a place in the program's text went wrong. */
_Noreturn SL_ENGINE void sl_fail(sl_ctx *ctx, int32_t site, int64_t value) SL_COLD;
/* Is the stack all but used up, by calls that are nested too deeply? */
#define SL_STACK_BYTES (4u << 20)
static inline SL_UNUSED int sl_too_deep(const sl_ctx *ctx) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return (here > ctx->base ? here - ctx->base : ctx->base - here) > SL_STACK_BYTES;
}
/* Ends the run for another reason. */
_Noreturn SL_ENGINE void sl_stop_run(sl_ctx *ctx, int32_t code, const char *what) SL_COLD;

/* The time in milliseconds. It decides only when things are done, never what comes out. */
SL_ENGINE int64_t sl_now(void) SL_UNUSED;

/* Printing, as the language has it. */
SL_ENGINE void sl_print_text(sl_ctx *ctx, const char *text, size_t length) SL_UNUSED;
SL_ENGINE void sl_print_int(sl_ctx *ctx, int32_t value) SL_UNUSED;
SL_ENGINE void sl_print_float(sl_ctx *ctx, float value) SL_UNUSED;
SL_ENGINE void sl_print_double(sl_ctx *ctx, double value) SL_UNUSED;
SL_ENGINE void sl_print_boolean(sl_ctx *ctx, uint8_t value) SL_UNUSED;
SL_ENGINE void sl_print_bit(sl_ctx *ctx, uint8_t value) SL_UNUSED;
SL_ENGINE void sl_print_complex(sl_ctx *ctx, sl_complex value) SL_UNUSED;
SL_ENGINE void sl_print_float2(sl_ctx *ctx, sl_float2 value) SL_UNUSED;
SL_ENGINE void sl_print_float3(sl_ctx *ctx, sl_float3 value) SL_UNUSED;
SL_ENGINE void sl_print_float4(sl_ctx *ctx, sl_float4 value) SL_UNUSED;

/* The next `n` items of a reader, which are there; in memory form, valid until the next read. */
SL_ENGINE const void *sl_take(sl_ctx *ctx, uint32_t reader, int64_t n) SL_UNUSED;
#ifdef SL_STAGES
/* Brings items to a place where they may be already. */
static inline SL_UNUSED void sl_bring(void *to, const void *from, size_t bytes) {
    if (to != from) {
        memcpy(to, from, bytes);
    }
}
#endif
/* Gives `n` items in memory form to a writer; their NaNs are changed in place. */
SL_ENGINE void sl_put(sl_ctx *ctx, uint32_t writer, void *items, int64_t n) SL_UNUSED;
/* The same where the caller has looked at them as they were made: is there a NaN (sl_nans)? */
SL_ENGINE void sl_put_seen(sl_ctx *ctx, uint32_t writer, void *items, int64_t n, int nan) SL_UNUSED;
/* Are there said to be no NaNs (`--fast-math`), so that none is looked for? (An engine that is apart is told.) */
#if defined(SL_NO_NANS)
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#define SL_NO_NANS 1
#else
#define SL_NO_NANS 0
#endif
/* Is one of n floats a NaN? */
static SL_HOT SL_UNUSED int sl_nans_among(const void *floats, long n) {
    if (SL_NO_NANS) return 0;
    const char *at = floats;
    int32_t any = 0;
    for (long i = 0; i < n; i++) {
        int32_t b;
        memcpy(&b, at + i * 4, 4);
        any |= 0x7f800000 - (b & 0x7fffffff);
    }
    return any < 0;
}
/* The same of many: gcc takes several vectors at once only of blocks of a known length, clang anyway. */
static SL_HOT SL_UNUSED int sl_nans(const void *floats, long n) {
    const char *at = floats;
    int any = 0;
#if !defined(__clang__)
    for (; n >= 128; n -= 128, at += 128 * 4) {
        any |= sl_nans_among(at, 128);
    }
#endif
    return any | sl_nans_among(at, n);
}
/* Where to put `n` items for a writer before they are put there for good: in the host's memory, or at `own`. */
SL_ENGINE void *sl_place(sl_ctx *ctx, uint32_t writer, void *own, int64_t n) SL_UNUSED;
/* `n` firings of a node by its tables, with the cursors in `ctx->at`; the items are there. */
SL_ENGINE void sl_fire_node(sl_ctx *ctx, uint32_t v, int64_t n) SL_UNUSED;

/* Sends a message by the way number `send` of the code of the node that fires, in its firing `firing` (from 1). */
SL_ENGINE void sl_send(sl_ctx *ctx, uint32_t send, int64_t firing, const void *message) SL_UNUSED;
/* What takes effect before the node's next firing (`fired` are complete) does so. Gives how many of the next `n` firings can follow. */
SL_ENGINE long sl_deliver(sl_ctx *ctx, uint32_t v, int64_t fired, long n) SL_UNUSED;

/* Of `n` items for a writer, or bytes of text for the index after the last writer: how many came out already. */
SL_ENGINE int64_t sl_already_out(sl_ctx *ctx, uint32_t end, int64_t n) SL_UNUSED;
SL_ENGINE void sl_take_back(sl_ctx *ctx, int64_t *count) SL_UNUSED;

/* An attempt needs the item at this position from its first one, which is not there. */
_Noreturn SL_ENGINE void sl_want(sl_ctx *ctx, uint64_t position) SL_COLD;
/* The same, and it is remembered how far an attempt has looked. */
static inline SL_UNUSED void sl_look(sl_ctx *ctx, uint64_t position) {
    if (position >= ctx->have) {
        sl_want(ctx, position);
    }
    if (position >= ctx->looked) {
        ctx->looked = position + 1;
    }
}
/* An attempt has no room for another item. */
_Noreturn SL_ENGINE void sl_full(sl_ctx *ctx) SL_COLD;
/* Tries to fire a node. */
SL_ENGINE int sl_attempt(sl_ctx *ctx, uint32_t v) SL_UNUSED;
/* Keeps text back, and prints it after all. */
SL_ENGINE void sl_hold_text(sl_ctx *ctx, const char *text, size_t length) SL_UNUSED;
SL_ENGINE void sl_let_go(sl_ctx *ctx) SL_UNUSED;
/* Sees to it that a buffer has room for `n` more items: moves what it holds, or takes a larger one. */
SL_ENGINE void sl_make_room(sl_ctx *ctx, uint32_t c, uint64_t n) SL_UNUSED;
SL_ENGINE void sl_watch_limit(sl_ctx *ctx, const sl_node *n) SL_UNUSED;
SL_ENGINE void sl_free_buffers(sl_ctx *ctx) SL_UNUSED;
/* Has an abandoned attempt of this firing made this call of a native function? Then what it gave back and left in arrays is recalled,
 * otherwise noted. */
SL_ENGINE int sl_called(sl_ctx *ctx, uint32_t native) SL_UNUSED;
SL_ENGINE void sl_recall(sl_ctx *ctx, void *to, size_t bytes) SL_UNUSED;
SL_ENGINE void sl_note_call(sl_ctx *ctx, const void *from, size_t bytes) SL_UNUSED;
SL_ENGINE void sl_begin_calls(sl_ctx *ctx, uint32_t v, int sure) SL_UNUSED;
SL_ENGINE void sl_forget_calls(sl_ctx *ctx, uint32_t v) SL_UNUSED;
SL_ENGINE void sl_free_calls(sl_ctx *ctx) SL_UNUSED;
/* Runs several epochs of a program with dynamic rates. */
SL_ENGINE void sl_flow(sl_ctx *ctx, int64_t k) SL_UNUSED;
/* Too much text (0) or too many messages (1). */
_Noreturn SL_ENGINE void sl_too_much(sl_ctx *ctx, int64_t which, const char *what) SL_COLD;
_Noreturn SL_ENGINE void sl_escape(sl_ctx *ctx, int32_t code, int32_t site, int64_t value) SL_COLD;

#ifdef SL_KERNELS
/* Runs `k` steady states on the host's device. */
SL_ENGINE void sl_device_steady(sl_ctx *ctx, int64_t k) SL_UNUSED;
/* Starts a kernel, with as many blocks as are asked for; or says how many there should be at most. */
SL_ENGINE void sl_launch(sl_ctx *ctx, uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, uint32_t together,
                         const void *job, uint32_t bytes) SL_UNUSED;
SL_ENGINE uint32_t sl_blocks_for(sl_ctx *ctx, uint64_t blocks) SL_UNUSED;
SL_ENGINE uint32_t sl_blocks_at_once(sl_ctx *ctx, uint32_t kernel, uint32_t threads, uint32_t shared, uint32_t blocks) SL_UNUSED;
/* The next kernel reads the input of so many iterations of the batch; those before the last one have written the output of so many. */
SL_ENGINE void sl_need_input(sl_ctx *ctx, uint32_t iterations) SL_UNUSED;
SL_ENGINE void sl_has_output(sl_ctx *ctx, uint32_t iterations) SL_UNUSED;
/* So many iterations go to the device, and come back, at a time. */
SL_ENGINE uint32_t sl_slice(sl_ctx *ctx) SL_UNUSED;
#endif

/* A step of a schedule as a table: `n` firings of a node, or a loop over the next `length` steps. */
typedef struct sl_step {
    uint64_t times;
    uint32_t node;   /* UINT32_MAX for a loop */
    uint32_t length; /* steps in the loop */
} sl_step;

/* Runs a schedule that is a table, scaled by `k`: each of its steps `k` times as often. */
SL_ENGINE void sl_run_scaled(sl_ctx *ctx, const sl_step *steps, uint64_t count, int64_t k) SL_UNUSED;
/* Runs a schedule that is a table, `k` times. */
SL_ENGINE void sl_run_steps(sl_ctx *ctx, const sl_step *steps, uint64_t count, int64_t k) SL_UNUSED;
/* After `k` steady states whose cursors did not run: brings the items left to the starts of their buffers, or goes on to them where channels slide. */
SL_ENGINE void sl_keep(sl_ctx *ctx, int64_t k) SL_UNUSED;
/* The latter for one channel. */
SL_ENGINE void sl_slide(sl_ctx *ctx, uint32_t c, int64_t k) SL_UNUSED;
/* Before `k` steady states at once: room for them behind what is on channels that slide. */
SL_ENGINE void sl_make_way(sl_ctx *ctx, int64_t k) SL_UNUSED;

#endif
