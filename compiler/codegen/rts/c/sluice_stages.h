/* The interface of a program that is made to run on several threads, exported as `sluice_stages_v1` beside `sluice_abi_v1`.
 *
 * The program is cut into stages. One instance of it, the *whole*, runs as any other; when there is work for many batches, it calls the host's
 * *crew*, which runs the stages, each in threads and instances of its own (*parts*), and hands *blocks* of items from one to the next. Threads
 * and queues are the host's; a part is used by one thread at a time, and parts share nothing but the blocks.
 *
 * A batch is `k` steady states. Batch b of a stage with n replicas is run by its part number b mod n.
 */
#ifndef SLUICE_STAGES_H
#define SLUICE_STAGES_H

/* Number of this interface. */
#define SLUICE_STAGES_VERSION 2

/* Runs at most `most` batches of `k` steady states each, and says how many are complete in all stages; the states of the stages and what
 * they left are back in the whole then. SLUICE_DONE: go on without the crew; SLUICE_STOPPED; or what `fail` was told. */
typedef int32_t sluice_crew(void *user, int64_t k, int64_t most, int64_t *batches);

/* A stage. */
typedef struct sluice_stage {
    uint32_t replicas;
    uint32_t reads; /* not 0: it has the program's readers */
    uint32_t calls; /* not 0: it calls native functions */
    uint32_t unused;
} sluice_stage;

/* A channel from one stage to a later one. A block for k steady states takes before + k * each bytes. */
typedef struct sluice_crossing {
    uint32_t from, to;
    uint64_t before, each;
} sluice_crossing;

typedef struct sluice_stages {
    uint32_t size, version;
    uint32_t stage_count, crossing_count;
    const sluice_stage *stages;
    const sluice_crossing *crossings;
    /* Can the whole go back to the boundary before a batch in which there was a fault? Then images of all batches under way are kept. */
    int32_t (*undoable)(void);
    /* Makes a part. SLUICE_DONE or SLUICE_MEMORY. It is destroyed as any instance. */
    int32_t (*part)(const sluice_host *host, sl_ctx **part);
    /* Tells the whole of its crew. `k`: the steady states of a batch, or 0 for as many as take a while. */
    void (*attach)(sl_ctx *whole, sluice_crew *crew, void *user, int64_t k);
    /* What a stage keeps from one batch to the next: bytes; out of an instance; into one. */
    uint64_t (*image_bytes)(uint32_t stage);
    void (*take)(const sl_ctx *from, uint32_t stage, void *image);
    void (*give)(sl_ctx *to, uint32_t stage, const void *image);
    /* Before the first batch of a part, when it has been given its image. */
    void (*begin)(sl_ctx *part, sl_ctx *whole, uint32_t stage);
    /* Is there input for another batch? 1 yes, 0 not now, 2 there will be none, or a negative code. `blocks` as `fire` is given them, which comes next after a yes: some of the input may be
     * in those that lead away then. They are NULL where something else may come first. */
    int32_t (*admit)(sl_ctx *part, uint32_t stage, int64_t k, char *const *blocks);
    /* The input of the next batch, which was admitted: bytes, and a copy. */
    uint64_t (*input_bytes)(uint32_t stage, int64_t k);
    void (*input)(const sl_ctx *part, uint32_t stage, int64_t k, void *copy);
    /* Runs a batch, which begins at the boundary `epoch`; `first` where no other part has run one before it. `blocks` by crossing: those that
     * lead here are full, those that lead away are filled. SLUICE_DONE or a negative code. */
    int32_t (*fire)(sl_ctx *part, uint32_t stage, int64_t epoch, int64_t k, int32_t first, char *const *blocks);
    /* Hands over what was written and printed a while ago, or (`all`) all of it. */
    int32_t (*flush)(sl_ctx *part, int32_t all);
    /* After the last batch: what was read and not used goes back to the whole. SLUICE_DONE or SLUICE_MEMORY. `inputs` are `count` copies of
     * input that was used and is to come again. */
    int32_t (*finish)(sl_ctx *part, sl_ctx *whole, uint32_t stage, int64_t k, const void *const *inputs, uint64_t count);
    /* After a fault: what the part has put out since the image was taken is left out when the whole goes on from there, one firing at a time. */
    void (*undo)(sl_ctx *part, sl_ctx *whole, uint32_t stage, const void *image);
    /* The whole fails as the part has. */
    void (*fail)(const sl_ctx *part, sl_ctx *whole);
} sluice_stages;

/* The stages. */
const sluice_stages *sluice_stages_v1(void);

#endif
