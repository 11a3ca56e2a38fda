/* A device as programs see it: memory apart from the host's, and kernels that run there.
 *
 * A program that has kernels (`sluice_abi.kernels` is not 0) runs its steady states on the device that its host gives it in
 * `sluice_host.device`; without one it runs as any other program. Streams are queues of work: what is in one is done in order,
 * what is in different ones in any order, as far as nothing waits (`record`, `await`). All functions give 0, or something else where
 * they failed; then `why` says why, and the run ends with SLUICE_HOST.
 */
#ifndef SLUICE_DEVICE_H
#define SLUICE_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The streams. */
enum { SLUICE_COMPUTE = 0, SLUICE_UP = 1, SLUICE_DOWN = 2, SLUICE_STREAMS = 3 };

/* Events are numbers below this one. */
#define SLUICE_EVENTS 64

typedef struct sluice_device {
    /* sizeof(sluice_device) */
    uint32_t size;
    /* Multiprocessors, or 0 where that is not known: kernels that do not need a certain number of blocks start as many as fill them. */
    uint32_t processors;
    /* First argument of the functions. */
    void *user;
    /* Memory of the device; aligned to 256 bytes, its contents undefined. */
    int32_t (*allocate)(void *user, uint64_t bytes, uint64_t *address);
    /* Frees it, after all streams have come to their ends. */
    int32_t (*release)(void *user, uint64_t address);
    /* Puts bytes into it, gets bytes out of it: in the order of a stream. The host's memory must stay until `finish`. */
    int32_t (*put)(void *user, uint32_t stream, uint64_t to, const void *from, uint64_t bytes);
    int32_t (*get)(void *user, uint32_t stream, void *to, uint64_t from, uint64_t bytes);
    /* Sets bytes to 0. */
    int32_t (*clear)(void *user, uint32_t stream, uint64_t at, uint64_t bytes);
    /* Starts a kernel, by its number in the program, in the stream SLUICE_COMPUTE; `shared` bytes of shared memory for each block;
     * with `together` all blocks run at once, and wait for one another in the kernel. `job` is its one argument, a struct of `bytes`. */
    int32_t (*launch)(void *user, uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, uint32_t together,
                      const void *job, uint32_t bytes);
    /* An event happens when its stream comes to it; another stream goes no further before. */
    int32_t (*record)(void *user, uint32_t event, uint32_t stream);
    int32_t (*await)(void *user, uint32_t stream, uint32_t event);
    /* Waits until all is done that is in a stream. */
    int32_t (*finish)(void *user, uint32_t stream);
    /* Milliseconds between two events that have happened. */
    int32_t (*elapsed)(void *user, uint32_t from, uint32_t to, float *milliseconds);
    /* Tells of memory of the host that will be put and got often; optional, NULL. `unpin` before it is freed. */
    void (*pin)(void *user, void *at, uint64_t bytes);
    void (*unpin)(void *user, void *at);
    /* Why the last function failed: text that stays until the next call. */
    const char *(*why)(void *user);
    /* For devices that measure; optional, NULL. The launches that follow are those of `steady_states`, which begin with what is in the device's
     * memory now; 0: they were the last ones. */
    void (*batch)(void *user, int64_t steady_states);
    /* How many blocks of a kernel a multiprocessor runs at once; optional, NULL. */
    int32_t (*resident)(void *user, uint32_t kernel, uint32_t threads, uint32_t shared, uint32_t *blocks);
} sluice_device;

#ifdef __cplusplus
}
#endif
#endif
