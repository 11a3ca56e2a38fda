/* A CUDA driver for tests without a GPU: its functions do at once, on the host, what they are asked for. Kernels are those of the emulator, in the
 * shared object that FALSE_KERNELS names (without, launches fail); a kernel's number is the order in which it was asked for, or the one in the name of
 * those that measure. FALSE_DRIVER says what goes wrong:
 * `init=N`, `count=N`, `version=N`, `arch=N`, `load=N`, `allocate=N`, `finish=N`, where N is a number, or an error of the driver; `idle=1`: launches
 * do nothing, and succeed; `room=N`: no allocation is of more bytes; `local=N`: bytes of a thread's
 * own memory in each kernel; `tell=1`: memory of the host that is pinned is told; `slow=N`: those of blocks with fewer threads than N take twice as long as others, half a millisecond; `stuck=1`: events
 * do not happen. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*emulate_t)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, const void *, uint64_t, char *, uint64_t);
typedef void (*memory_t)(char *, uint64_t, int32_t);

enum { NO_MEMORY = 2, FAILED = 719 };
static void *library, *current;
static emulate_t emulate;
static memory_t memory;
static intptr_t kernels, events, streams;
static long last_threads;
static size_t pinned;

static long wrong(const char *what, long otherwise) {
    const char *all = getenv("FALSE_DRIVER");
    size_t n = strlen(what);
    return all && strncmp(all, what, n) == 0 && all[n] == '=' ? atol(all + n + 1) : otherwise;
}

int cuInit(unsigned flags) { return (int)wrong("init", flags); }
int cuDriverGetVersion(int *version) { *version = (int)wrong("version", 13050); return 0; }
int cuDeviceGetCount(int *count) { *count = (int)wrong("count", 1); return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int room, int device) { snprintf(name, (size_t)room, "False GPU %d", device); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = (size_t)1 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    long arch = wrong("arch", 90);
    (void)device;
    switch (attribute) {
    case 75: *value = (int)(arch / 10); break;
    case 76: *value = (int)(arch % 10); break;
    case 16: *value = 3; break;
    case 97: *value = 99 << 10; break;
    case 39: *value = 1536; break;
    case 82: *value = 65536; break;
    default: *value = 0; break;
    }
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)(intptr_t)(device + 1); return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return 0; }
int cuCtxGetCurrent(void **context) { *context = current; return 0; }
int cuCtxSetCurrent(void *context) { current = context; return 0; }

int cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = (void *)++streams; return 0; }
int cuStreamDestroy_v2(void *stream) { (void)stream; return 0; }
int cuStreamSynchronize(void *stream) { (void)stream; return (int)wrong("finish", 0); }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { (void)stream; (void)flags; return event ? 0 : 400; }
int cuEventCreate(void **event, unsigned flags) { (void)flags; *event = (void *)++events; return 0; }
int cuEventRecord(void *event, void *stream) { return event && stream ? 0 : 400; }
int cuEventElapsedTime(float *time, void *from, void *to) { *time = last_threads < wrong("slow", 0) ? 1.0f : 0.5f; return from && to ? 0 : 400; }
int cuEventQuery(void *event) { return !event ? 400 : wrong("stuck", 0) ? 600 : (int)wrong("finish", 0); }
int cuEventDestroy_v2(void *event) { (void)event; return 0; }

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    int error = bytes > (size_t)wrong("room", 1L << 40) ? NO_MEMORY : (int)wrong("allocate", 0);
    void *at = error ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!at) return error ? error : NO_MEMORY;
    memset(at, 0xa5, bytes);
    if (memory) memory(at, bytes, 1);
    *address = (uint64_t)(uintptr_t)at;
    return 0;
}
int cuMemFree_v2(uint64_t address) {
    if (memory) memory((char *)(uintptr_t)address, 0, 0);
    free((void *)(uintptr_t)address);
    return 0;
}
int cuMemGetInfo_v2(size_t *left, size_t *all) { *left = 1000; *all = (size_t)1 << 30; return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    if (memory) memory((char *)(uintptr_t)to, bytes, 2);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}
int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void *stream) {
    (void)stream;
    memset((void *)(uintptr_t)at, value, bytes);
    if (memory) memory((char *)(uintptr_t)at, bytes, 2);
    return 0;
}
/* Pages that are pinned must be nobody else's. */
int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
    (void)flags;
    if ((uintptr_t)at % 4096 || bytes % 4096) {
        fprintf(stderr, "%zu bytes are pinned from the middle of a page on\n", bytes);
        abort();
    }
    if (wrong("tell", 0)) fprintf(stderr, "pinned\n");
    pinned++;
    return 0;
}
int cuMemHostUnregister(void *at) { (void)at; return pinned-- ? 0 : 713; }

int cuModuleLoadData(void **module, const void *image) {
    const char *path = getenv("FALSE_KERNELS");
    if (memcmp(image, "\177ELF", 4) != 0) return 200;
    kernels = 0;
    *module = (void *)1;
    if (wrong("load", 0)) return (int)wrong("load", 0);
    if (!path) return 0;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    emulate = library ? (emulate_t)(uintptr_t)dlsym(library, "sl_emulate") : NULL;
    memory = library ? (memory_t)(uintptr_t)dlsym(library, "sl_emulate_memory") : NULL;
    return emulate && memory ? 0 : 302;
}
/* At the end: nothing may be pinned any more. */
int cuModuleUnload(void *module) {
    (void)module;
    if (pinned) fprintf(stderr, "%zu pieces of memory are still pinned\n", pinned);
    return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
    static const char measures[] = "sl_profile_";
    const size_t n = sizeof measures - 1;
    (void)module;
    *function = (void *)(strncmp(name, measures, n) == 0 ? (intptr_t)atol(name + n) + 1 : ++kernels);
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) { (void)function; *value = attribute == 3 ? (int)wrong("local", 0) : 0; return 0; }
int cuFuncSetAttribute(void *function, int attribute, int value) { (void)function; return attribute == 8 && value > (48 << 10) && value <= (99 << 10) ? 0 : 1; }

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int threads, size_t shared) {
    *count = function && threads > 0 && shared <= (99 << 10) ? 2 : 0;
    return *count ? 0 : 1;
}

static int start(void *function, const unsigned *n, unsigned together, void **arguments) {
    char report[4096];
    if (wrong("idle", 0)) return 0;
    last_threads = n[1];
    if (!emulate) return wrong("finish", 0) ? 0 : FAILED;
    if (emulate((uint32_t)((intptr_t)function - 1), n[0], n[1], n[2], together, arguments[0], 1, report, sizeof report) == 0) return 0;
    fprintf(stderr, "%s\n", report);
    return FAILED;
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **arguments, void **extra) {
    return gy == 1 && gz == 1 && by == 1 && bz == 1 && stream && !extra ? start(function, (unsigned[]){gx, bx, shared}, 0, arguments) : 1;
}
int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                              void *stream, void **arguments) {
    return gy == 1 && gz == 1 && by == 1 && bz == 1 && stream ? start(function, (unsigned[]){gx, bx, shared}, 1, arguments) : 1;
}

int cuGetErrorString(int error, const char **text) { *text = error == 700 ? "an illegal memory access" : "something is wrong"; return 0; }
int cuGetErrorName(int error, const char **text) { static char name[32]; snprintf(name, sizeof name, "CUDA_ERROR_%d", error); *text = name; return 0; }
