/* What device code says of the world it runs in: threads, barriers, shared memory, atomics, asynchronous copies, marks of memory accesses.
 *
 * One text for two worlds. For CUDA (nvcc, NVRTC; sm_75 and later, C++17) these are the built-in things under other names. With
 * SL_EMULATE a C++ compiler makes a shared object of the same text for the CPU, and they are functions of the emulator (sl_emulator.h, at
 * the end of the text), which checks what it is told. Nothing here includes a header for NVRTC, which has none. */
#ifndef SL_ENV_H
#define SL_ENV_H

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
#if defined(_WIN32)
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
typedef unsigned long long size_t;
#else
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
#endif
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#else
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

#ifndef SL_EMULATE

/* ---- CUDA ---- */

/* A function that is part of what calls it; one that is not; a kernel, and the most threads its blocks have; one with a block for each
 * multiprocessor: so it may have as many registers as calls of functions that are not part of it need, without storing any. */
#define SL_DEVICE __device__ __forceinline__
#define SL_TASK static __device__ __noinline__
#ifdef SL_REGISTERS
/* The compiler is told how many registers a thread may have (-maxrregcount), which it would not heed where a block's threads are said. */
#define SL_KERNEL(threads) extern "C" __global__
#define SL_KERNEL_ALONE(threads) extern "C" __global__
#define SL_KERNEL_ROLES(threads) extern "C" __global__
#else
#define SL_KERNEL(threads) extern "C" __global__ __launch_bounds__(threads)
#define SL_KERNEL_ALONE(threads) extern "C" __global__ __launch_bounds__(threads, 1)
/* One whose warps have roles. Of an odd number of warps the compiler would often have so many blocks on a multiprocessor that it stores registers: it is told the next even
 * one, unless whoever compiles has seen that the number itself does better (-DSL_ROLES=32). */
#ifndef SL_ROLES
#define SL_ROLES 64
#endif
#define SL_KERNEL_ROLES(threads) extern "C" __global__ __launch_bounds__(((threads) + SL_ROLES - 1) / SL_ROLES * SL_ROLES)
#endif
/* Tables: small ones that all threads read at the same place, others. */
#define SL_CONSTANT static __constant__ const /* the compiler knows their values */
#define SL_GLOBAL_TABLE static __device__ const

/* The thread in its block, the block in its launch, and how many there are. */
SL_DEVICE unsigned sl_thread() { return threadIdx.x; }
SL_DEVICE unsigned sl_threads() { return blockDim.x; }
/* The compiler may count on so many threads. */
SL_DEVICE void sl_threads_are(unsigned n) { __builtin_assume(blockDim.x == n); }
SL_DEVICE unsigned sl_block() { return blockIdx.x; }
SL_DEVICE unsigned sl_blocks() { return gridDim.x; }

/* Barriers: of all threads of the block; of `count` of them (whole warps) that name the same `id`, 1 to 15; of the warp. What was
 * written before one is seen behind it. `sl_arrive_some` counts as coming to a named barrier, and does not wait there. */
SL_DEVICE void sl_sync() { __syncthreads(); }
/* The barrier of all threads of the block that tells all of them whether any of them says so. */
SL_DEVICE bool sl_any(bool mine) { return __syncthreads_or(mine) != 0; }
SL_DEVICE void sl_sync_some(unsigned id, unsigned count)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
SL_DEVICE void sl_arrive_some(unsigned id, unsigned count)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}
SL_DEVICE void sl_sync_warp() { __syncwarp(); }
/* The same with numbers that the compiler knows: a multiprocessor runs fewer blocks of a kernel that may use all 16 barriers. */
template <unsigned ID, unsigned COUNT> SL_DEVICE void sl_sync_named() { asm volatile("bar.sync %0, %1;" ::"n"(ID), "n"(COUNT) : "memory"); }
template <unsigned ID, unsigned COUNT> SL_DEVICE void sl_arrive_named() { asm volatile("bar.arrive %0, %1;" ::"n"(ID), "n"(COUNT) : "memory"); }

/* The barrier of all blocks of a launch that runs them together. All threads of all blocks come to it. `counter` is device memory, 0 before
 * the first launch and left to this function from then on: its low 31 bits count the blocks that are there, and are 0 whenever no
 * barrier is under way; the top bit turns over with every barrier. So launches of different numbers of blocks may share it, for ever. */
SL_DEVICE void sl_grid_sync(unsigned *counter)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
        __threadfence();
        unsigned before = atomicAdd(counter, mine);
        unsigned seen;
        do {
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        } while (((before ^ seen) & 0x80000000u) == 0);
        __threadfence();
    }
    __syncthreads();
}

/* The block's shared memory, as many bytes as the launch says; aligned to 16 bytes. */
SL_DEVICE char *sl_shared()
{
    extern __shared__ __align__(16) char sl_shared_memory[];
    return sl_shared_memory;
}

/* Puts `value`, not 0, into the flag if it is 0: true for who was first. As long as a flag is up, nobody looks at what kernels make. */
SL_DEVICE bool sl_first(int32_t *flag, int32_t value) { return atomicCAS((int *)flag, 0, (int)value) == 0; }
/* Gives what was there. */
SL_DEVICE unsigned sl_atomic_add(unsigned *at, unsigned value) { return atomicAdd(at, value); }
SL_DEVICE void sl_fence() { __threadfence(); }

/* Copies of 4, 8 or 16 bytes, aligned to as many, from global to shared memory, while the thread goes on. `sl_copy_commit` makes one group of
 * those the thread has begun since the last; `sl_copy_wait(n)` waits until of its groups no more than the last n (0 to 7) are under
 * way. Then the thread itself may read what was copied, others behind a barrier. Before sm_80 the thread copies. */
SL_DEVICE void sl_copy_async(void *shared, const void *global, unsigned bytes)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned to = (unsigned)__cvta_generic_to_shared(shared);
    if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(global) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
#else
    if (bytes == 16) *(int4 *)shared = *(const int4 *)global;
    else if (bytes == 8) *(int2 *)shared = *(const int2 *)global;
    else *(int *)shared = *(const int *)global;
#endif
}
SL_DEVICE void sl_copy_commit()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
SL_DEVICE void sl_copy_wait(unsigned n)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    switch (n) {
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    }
#else
    (void)n;
#endif
}

/* 16 bytes of global memory, aligned to as many: to a thread's own, and from there. (Compilers take stores apart again.) */
SL_DEVICE void sl_load_wide(void *own, const void *global) { *(int4 *)own = *(const int4 *)global; }
SL_DEVICE void sl_store_wide(void *global, const void *own)
{
    const int4 v = *(const int4 *)own;
    asm volatile("st.global.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(global)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

/* Marks: said before an access to global or shared memory that passes between threads. */
#define SL_READ(pointer, bytes) ((void)0)
#define SL_WRITE(pointer, bytes) ((void)0)

#define SL_UNLIKELY(x) __builtin_expect(!!(x), 0)

#else

/* ---- emulation: the same things; what is only declared here is defined by the emulator (sl_emulator.h), a text of its own or behind this one ---- */

#define SL_UNUSED __attribute__((unused))
#define SL_DEVICE inline SL_UNUSED
#define SL_TASK static SL_UNUSED __attribute__((noinline))
#define SL_KERNEL(threads) static
#define SL_KERNEL_ALONE(threads) static
#define SL_KERNEL_ROLES(threads) static
#define SL_CONSTANT static SL_UNUSED
#define SL_GLOBAL_TABLE static SL_UNUSED const

/* The argument of kernels, which begins with a member `char *arena`; kernels; what parts of the arena are called in messages. */
struct sl_job;
typedef void sl_kernel_fn(const sl_job);
struct sl_region {
    uint64_t offset, bytes;
    const char *name;
};

/* What the emulator is told of a program (sl_program.h): `run` calls a kernel with a job. */
struct sl_program {
    uint32_t kernels, regions;
    const char *const *names;
    const sl_region *parts;
    void (*run)(uint32_t kernel, const void *job);
};
#pragma GCC visibility push(hidden)
extern const sl_program sl_emulated;

/* The thread that runs. */
struct sl_place {
    unsigned thread, threads, block, blocks;
    char *shared;
};
extern sl_place sl_here;

SL_DEVICE unsigned sl_thread() { return sl_here.thread; }
SL_DEVICE unsigned sl_threads() { return sl_here.threads; }
SL_DEVICE void sl_threads_are(unsigned n) { (void)n; }
SL_DEVICE unsigned sl_block() { return sl_here.block; }
SL_DEVICE unsigned sl_blocks() { return sl_here.blocks; }
SL_DEVICE char *sl_shared() { return sl_here.shared; }

void sl_sync();
bool sl_any(bool mine);
void sl_sync_some(unsigned id, unsigned count);
void sl_arrive_some(unsigned id, unsigned count);
void sl_sync_warp();
template <unsigned ID, unsigned COUNT> SL_DEVICE void sl_sync_named() { sl_sync_some(ID, COUNT); }
template <unsigned ID, unsigned COUNT> SL_DEVICE void sl_arrive_named() { sl_arrive_some(ID, COUNT); }
void sl_grid_sync(unsigned *counter);
bool sl_first(int32_t *flag, int32_t value);
unsigned sl_atomic_add(unsigned *at, unsigned value);
SL_DEVICE void sl_fence() {}
void sl_load_wide(void *own, const void *at);
void sl_store_wide(void *at, const void *own);
void sl_copy_async(void *shared, const void *global, unsigned bytes);
void sl_copy_commit();
void sl_copy_wait(unsigned n);
void sl_mark_read(const volatile void *at, uint64_t bytes);
void sl_mark_write(const volatile void *at, uint64_t bytes);
#pragma GCC visibility pop
#define SL_READ(pointer, bytes) sl_mark_read(pointer, bytes)
#define SL_WRITE(pointer, bytes) sl_mark_write(pointer, bytes)

#define SL_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
#endif
