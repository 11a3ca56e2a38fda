/* The device of a stand-alone program: `sluice_device` over CUDA's run-time library, for nvcc. Stands behind sluice_device.h, the kernels, and
 *
 *     static const void *const sl_kernel_functions[];  static const char *const sl_kernel_names[];
 *
 * The other part of the program, which is C, calls `sl_cuda_open` once and `sl_cuda_close` at its end. One thread uses it. */
#ifndef SL_CUDA_HOST_H
#define SL_CUDA_HOST_H
#ifdef __CUDACC__

#include <cuda_runtime.h>
#include <stdio.h>

namespace sl_cuda {

static const uint32_t kernel_count = sizeof sl_kernel_functions / sizeof *sl_kernel_functions;
static_assert(sizeof sl_kernel_names / sizeof *sl_kernel_names == kernel_count, "a name for each kernel");

/* Dynamic shared memory that a kernel may have unasked, besides its static one. */
enum { USUAL_SHARED = 48 << 10 };
enum { MOST_PINNED = 256 };

static struct {
    cudaStream_t streams[SLUICE_STREAMS];
    cudaEvent_t events[SLUICE_EVENTS];
    bool recorded[SLUICE_EVENTS];
    /* By kernel, dynamic shared memory that it may have so far. */
    uint32_t shared[kernel_count];
    void *pinned[MOST_PINNED];
    uint32_t pinned_count;
    bool opened;
    char why[512];
    sluice_device device;
} self;

/* 0 where it went well; else `what` could not be done, and it is said why. */
static int32_t result(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return 0;
    snprintf(self.why, sizeof self.why, "the GPU failed to %s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
    return 1;
}

static int32_t allocate(void *, uint64_t bytes, uint64_t *address)
{
    void *at = nullptr;
    cudaError_t error = cudaMalloc(&at, bytes ? bytes : 1);
    *address = (uint64_t)(uintptr_t)at;
    if (error == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        (void)cudaGetLastError();
        cudaMemGetInfo(&left, &all);
        snprintf(self.why, sizeof self.why, "the GPU has no memory for %llu bytes, %llu are free", (unsigned long long)bytes,
                 (unsigned long long)left);
        return 1;
    }
    return result(error, "allocate memory");
}

static int32_t release(void *, uint64_t address)
{
    cudaError_t error = cudaDeviceSynchronize();
    return result(error == cudaSuccess ? cudaFree((void *)(uintptr_t)address) : error, "free memory");
}

static int32_t put(void *, uint32_t stream, uint64_t to, const void *from, uint64_t bytes)
{
    if (!bytes) return 0;
    return result(cudaMemcpyAsync((void *)(uintptr_t)to, from, bytes, cudaMemcpyHostToDevice, self.streams[stream]), "put bytes into its memory");
}

static int32_t get(void *, uint32_t stream, void *to, uint64_t from, uint64_t bytes)
{
    if (!bytes) return 0;
    const void *at = (const void *)(uintptr_t)from;
    return result(cudaMemcpyAsync(to, at, bytes, cudaMemcpyDeviceToHost, self.streams[stream]), "get bytes from its memory");
}

static int32_t clear(void *, uint32_t stream, uint64_t at, uint64_t bytes)
{
    if (!bytes) return 0;
    return result(cudaMemsetAsync((void *)(uintptr_t)at, 0, bytes, self.streams[stream]), "clear its memory");
}

/* A kernel that there is may have so much shared memory. */
static bool is_kernel(uint32_t kernel)
{
    if (kernel >= kernel_count) snprintf(self.why, sizeof self.why, "there is no kernel %u", kernel);
    return kernel < kernel_count;
}
static cudaError_t may_have(uint32_t kernel, uint32_t shared)
{
    if (shared <= self.shared[kernel]) return cudaSuccess;
    cudaError_t error = cudaFuncSetAttribute(sl_kernel_functions[kernel], cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error == cudaSuccess) self.shared[kernel] = shared;
    return error;
}

static int32_t resident(void *, uint32_t kernel, uint32_t threads, uint32_t shared, uint32_t *blocks)
{
    if (!is_kernel(kernel)) return 1;
    int count = 0;
    cudaError_t error = may_have(kernel, shared);
    if (error == cudaSuccess) {
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, sl_kernel_functions[kernel], (int)threads, shared);
    }
    *blocks = (uint32_t)count;
    return result(error, "say how many blocks run at once");
}

static int32_t launch(void *, uint32_t kernel, uint32_t blocks, uint32_t threads, uint32_t shared, uint32_t together, const void *job, uint32_t)
{
    if (!is_kernel(kernel)) return 1;
    const void *function = sl_kernel_functions[kernel];
    cudaError_t error = may_have(kernel, shared);
    void *arguments[] = {const_cast<void *>(job)};
    cudaStream_t stream = self.streams[SLUICE_COMPUTE];
    if (error == cudaSuccess) {
        error = together ? cudaLaunchCooperativeKernel(function, dim3(blocks), dim3(threads), arguments, shared, stream)
                         : cudaLaunchKernel(function, dim3(blocks), dim3(threads), arguments, shared, stream);
    }
    if (error == cudaSuccess) return 0;
    char what[160];
    snprintf(what, sizeof what, "start %s with %u blocks of %u threads", sl_kernel_names[kernel], blocks, threads);
    return result(error, what);
}

/* An event is made when it is first used. */
static cudaError_t made(uint32_t event) { return self.events[event] ? cudaSuccess : cudaEventCreate(&self.events[event]); }

static int32_t record(void *, uint32_t event, uint32_t stream)
{
    cudaError_t error = made(event);
    if (error == cudaSuccess) error = cudaEventRecord(self.events[event], self.streams[stream]);
    self.recorded[event] = true;
    return result(error, "record an event");
}

static int32_t await(void *, uint32_t stream, uint32_t event)
{
    if (!self.recorded[event]) return 0;
    return result(cudaStreamWaitEvent(self.streams[stream], self.events[event], 0), "wait for an event");
}

static int32_t finish(void *, uint32_t stream) { return result(cudaStreamSynchronize(self.streams[stream]), "finish its work"); }

static int32_t elapsed(void *, uint32_t from, uint32_t to, float *milliseconds)
{
    return result(cudaEventElapsedTime(milliseconds, self.events[from], self.events[to]), "say how long something took");
}

/* Pinned memory only makes copies faster: where it cannot be had, nothing is lost. */
static void pin(void *, void *at, uint64_t bytes)
{
    if (self.pinned_count < MOST_PINNED && bytes && cudaHostRegister(at, bytes, cudaHostRegisterDefault) == cudaSuccess) {
        self.pinned[self.pinned_count++] = at;
    } else {
        (void)cudaGetLastError();
    }
}

static void unpin(void *, void *at)
{
    for (uint32_t i = 0; i < self.pinned_count; i++) {
        if (self.pinned[i] == at) {
            self.pinned[i] = self.pinned[--self.pinned_count];
            cudaHostUnregister(at);
            return;
        }
    }
}

static const char *why(void *) { return self.why; }

/* Why the GPU cannot be used, or nothing. */
static const char *missing()
{
    int driver = 0, library = 0, count = 0, major = 0, minor = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&library);
    cudaError_t error = cudaGetDeviceCount(&count);
    if (!driver) return "there is no CUDA driver";
    if (error == cudaErrorInsufficientDriver) {
        snprintf(self.why, sizeof self.why, "the CUDA driver is too old: it is for CUDA %d.%d, the program was built with %d.%d", driver / 1000,
                 driver % 1000 / 10, library / 1000, library % 1000 / 10);
        return self.why;
    }
    if (error == cudaErrorNoDevice || (error == cudaSuccess && !count)) return "the CUDA driver finds no GPU";
    if (error != cudaSuccess || (error = cudaSetDevice(0)) != cudaSuccess) {
        (void)result(error, "begin");
        return self.why;
    }
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    if (major * 10 + minor < 75) {
        snprintf(self.why, sizeof self.why, "the GPU is too old: its architecture is sm_%d%d, the program needs sm_75 (Turing) or newer", major, minor);
        return self.why;
    }
    for (uint32_t k = 0; k < kernel_count; k++) {
        cudaFuncAttributes is;
        error = cudaFuncGetAttributes(&is, sl_kernel_functions[k]);
        if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
            snprintf(self.why, sizeof self.why, "the program has no code for this GPU: build it again with -arch=sm_%d%d", major, minor);
            return self.why;
        }
        if (result(error, "load the kernels")) return self.why;
        self.shared[k] = is.sharedSizeBytes < USUAL_SHARED ? USUAL_SHARED - (uint32_t)is.sharedSizeBytes : 0;
    }
    return nullptr;
}

}

/* The device, or NULL, and in the `room` bytes at `why` why there is none. */
extern "C" const sluice_device *sl_cuda_open(char *why, uint64_t room)
{
    using namespace sl_cuda;
    const char *text = missing();
    int processors = 0;
    for (int i = 0; !text && i < SLUICE_STREAMS; i++) {
        if (result(cudaStreamCreateWithFlags(&self.streams[i], cudaStreamNonBlocking), "begin")) text = self.why;
    }
    if (!text && result(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "begin")) text = self.why;
    if (text) {
        snprintf(why, room, "%s", text);
        return nullptr;
    }
    self.opened = true;
    sluice_device &d = self.device;
    d.size = sizeof d;
    d.processors = (uint32_t)processors;
    d.allocate = allocate;
    d.release = release;
    d.put = put;
    d.get = get;
    d.clear = clear;
    d.launch = launch;
    d.record = record;
    d.await = await;
    d.finish = finish;
    d.elapsed = elapsed;
    d.pin = pin;
    d.unpin = unpin;
    d.why = sl_cuda::why;
    d.resident = resident;
    return &d;
}

/* Lets it go, with all its memory. */
extern "C" void sl_cuda_close(void)
{
    using namespace sl_cuda;
    if (!self.opened) return;
    self.opened = false;
    cudaDeviceSynchronize();
    while (self.pinned_count) cudaHostUnregister(self.pinned[--self.pinned_count]);
    cudaDeviceReset();
}

#endif
#endif
