/* The low-level interface of a compiled stream program.
 *
 * A shared object made by sluice exports one function, `sluice_abi_v1`, which gives a table of functions. The program does
 * no input or output of its own: it calls the host's functions below. Everything that changes lives in the instance that
 * `create` makes: any number of instances run side by side, each used by one thread at a time.
 *
 * Items between program and host are in *host form*: an item's scalars one after the other, little-endian and without padding;
 * a bit or boolean is one byte, 0 or 1; int and float take 4 bytes, double 8, complex 8 (real, imaginary), float2 to float4
 * 8 to 16, arrays element by element, structs field by field. Packing bits eight to a byte, as files do, is the host's task.
 * NaNs that the program writes have one bit pattern: 0x7fc00000, 0x7ff8000000000000.
 */
#ifndef SLUICE_ABI_H
#define SLUICE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of this interface. Functions are only ever added at the end of the structs; `size` says how many there are. */
#define SLUICE_ABI_VERSION 1

/* What `create` and `run` give back. */
enum {
    SLUICE_DONE = 0,      /* the run has ended: the input is used up, or the iterations asked for are complete */
    SLUICE_BLOCKED = 1,   /* no item could be read, or none written, without waiting; call `run` again later */
    SLUICE_STOPPED = 2,   /* the host asked to stop; everything written so far are whole items */
    SLUICE_FAILED = -1,   /* the program is at fault (an index, a division by zero, a rate) */
    SLUICE_HOST = -2,     /* a host function reported an error */
    SLUICE_INTERNAL = -3, /* a fault of the compiler */
    SLUICE_MEMORY = -4,   /* there is no memory */
    SLUICE_FULL = -5      /* a channel of a program with dynamic rates holds more than it may: `site` is its number, `value` the limit; or
                             `site` is -1, and `value` says what is too much: 0 text of one firing, 1 messages under way */
};

/* What `read` gives back when there are no items. */
enum {
    SLUICE_NONE_YET = 0, /* nothing now, perhaps later */
    SLUICE_END = -1,     /* there will be no further item */
    SLUICE_ERROR = -2    /* the host failed; `run` returns SLUICE_HOST */
};

/* The host. Functions marked optional may be NULL. `reader` and `writer` are indices into the ends of that direction. */
typedef struct sluice_host {
    /* sizeof(sluice_host) */
    uint32_t size;
    /* How many writers lead to the place where printed text goes (standard output). The order of prints and of items there is
     * that of the language's reference order; with 0 or 1 things to be seen programs run faster. */
    uint32_t stdout_writers;
    /* First argument of the functions. */
    void *user;
    /* Up to `max` (at least 1) items into `items`: their number, or one of the three values above. It should give what there
     * is, and wait for the first one only where `wait` is not 0; before it waits, the program has handed over all it has
     * written and printed, and the host should pass it on. With `wait` it may still answer SLUICE_NONE_YET. */
    int64_t (*read)(void *user, uint32_t reader, void *items, int64_t max, int32_t wait);
    /* Takes `n` items; not 0 is an error. */
    int32_t (*write)(void *user, uint32_t writer, const void *items, int64_t n);
    /* Takes printed text (not terminated by a zero); not 0 is an error. */
    int32_t (*print)(void *user, const char *text, size_t length);
    /* Optional: how many items `write` can take now. 0 makes `run` return SLUICE_BLOCKED. Without: any number. */
    int64_t (*space)(void *user, uint32_t writer);
    /* Optional: should the run stop? Asked now and then. */
    int32_t (*stop)(void *user);
    /* Optional: where a program's kernels run (sluice_device.h). */
    const struct sluice_device *device;
    /* Optional, for ends whose items are ints, floats, doubles or complex numbers: lends all items of a reader that there are, in a row, in the
     * host's memory: how many, with `*items` the first. They count as read, and stay as they are until `run` returns. Where it gives 0, `read` is called. */
    int64_t (*lend)(void *user, uint32_t reader, const void **items);
    /* Optional, for such ends: where the next `n` items of a writer may be put, before `write` is called with them there; NULL without such a
     * place. */
    void *(*place)(void *user, uint32_t writer, int64_t n);
} sluice_host;

/* Scalars that items are made of. */
enum {
    SLUICE_BIT = 0,
    SLUICE_BOOLEAN = 1,
    SLUICE_INT = 2,
    SLUICE_FLOAT = 3,
    SLUICE_DOUBLE = 4,
    SLUICE_MIXED = 5 /* a struct with several kinds */
};

/* An end of the program. */
typedef struct sluice_end {
    /* The node's path in the program. */
    const char *name;
    /* The item type as it is written in programs. */
    const char *type;
    /* The file named in the program; NULL for the entry's open input or output. */
    const char *file;
    /* SLUICE_BIT to SLUICE_MIXED. */
    uint32_t scalar;
    /* Scalars of an item. */
    uint32_t scalars;
    /* Bytes of an item in host form. */
    uint64_t bytes;
    /* The node's number in program order. */
    uint32_t node;
    /* Not 0 where items are complex numbers: pairs of real and imaginary part. */
    uint32_t complex;
} sluice_end;

/* Why a run failed. */
typedef struct sluice_error {
    /* SLUICE_FAILED, SLUICE_HOST, SLUICE_INTERNAL, SLUICE_MEMORY, SLUICE_FULL, or 0 where nothing has failed. */
    int32_t code;
    /* The node's number in program order, -1 without. */
    int32_t node;
    /* Number of the place in the program's text (`CProgram::sites`), -1 without. */
    int32_t site;
    /* Unused. */
    int32_t reserved;
    /* The value that was wrong. */
    int64_t value;
    /* The firing of the node, from 1; 0 where several firings ran at once and it is not known which. */
    int64_t firing;
    /* All of it in words: `Main.Gain#2: division by zero (radio.str:12:9, firing 7)`. */
    const char *message;
} sluice_error;

/* An instance of the program. */
typedef struct sl_ctx sl_ctx;

/* The functions of a program. */
typedef struct sluice_abi {
    /* sizeof(sluice_abi) */
    uint32_t size;
    /* SLUICE_ABI_VERSION */
    uint32_t version;
    /* The program's name. */
    const char *name;
    /* Its ends, in program order. */
    uint32_t reader_count, writer_count;
    const sluice_end *readers, *writers;
    /* Nodes that print. */
    uint32_t printers;
    /* 0 for a program without sources that end: it runs until `iterations` are done. */
    uint32_t bounded;
    /* Bytes that an instance takes, and the most steady states that run at once. */
    uint64_t bytes, batch;
    /* Makes an instance; the host struct is copied. SLUICE_DONE or SLUICE_MEMORY. */
    int32_t (*create)(const sluice_host *host, sl_ctx **instance);
    /* Runs until the input is used up or, where `iterations` is not negative, until that many steady states have been completed since
     * the instance was made (0: the initialisation only). After SLUICE_BLOCKED, call it again. After an error it gives the error again. */
    int32_t (*run)(sl_ctx *instance, int64_t iterations);
    /* Why the last `run` failed; valid until the instance is destroyed. */
    const sluice_error *(*error)(const sl_ctx *instance);
    /* Steady states completed. */
    int64_t (*iterations)(const sl_ctx *instance);
    /* Frees an instance; NULL is allowed. Calls no host function. */
    void (*destroy)(sl_ctx *instance);
    /* Kernels of a program that can run its steady states on a device; 0 for others. */
    uint32_t kernels;
} sluice_abi;

/* The program's functions. */
const sluice_abi *sluice_abi_v1(void);

#ifdef __cplusplus
}
#endif
#endif
