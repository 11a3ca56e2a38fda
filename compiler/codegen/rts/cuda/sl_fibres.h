/* The emulator, part 2: fibres. A thread that comes to its end without waiting leaves its fibre to the next one, so that only threads that wait
 * need stacks and switches. Switches are a few instructions where the processor is known, else (or with SL_UCONTEXT) the C library's. */
#ifndef SL_FIBRES_H
#define SL_FIBRES_H

#include <sys/mman.h>
#include <unistd.h>

#include "sl_launch.h"

#if !defined(SL_UCONTEXT) && !((defined(__x86_64__) || defined(__aarch64__)) && (defined(__linux__) || defined(__APPLE__)))
#define SL_UCONTEXT
#endif
#ifdef SL_UCONTEXT
#include <ucontext.h>
#endif

/* Bytes of a stack; only what is used becomes memory. */
#ifndef SL_STACK
#define SL_STACK (256 * 1024)
#endif
#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

#ifndef SL_UCONTEXT
/* Saves what a function must keep on the stack and the stack in *from; goes on from `to`. */
extern "C" void sl_switch_stacks(void **from, void *to) __asm__("sl_switch_stacks");
#if defined(__x86_64__)
__asm__(".text\n"
        "sl_switch_stacks:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n");
#else
__asm__(".text\n.p2align 2\n"
        "sl_switch_stacks:\n"
        "  stp x19, x20, [sp, #-160]!\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  ldp x19, x20, [sp], #160\n"
        "  ret\n");
#endif
#endif

namespace sl_emulation {

/* Memory of zeros that costs what is touched of it; nothing if there is none. */
static void *map_lazily(uint64_t bytes)
{
    void *at = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : at;
}
static void unmap(void *at, uint64_t bytes)
{
    if (at) munmap(at, bytes ? bytes : 1);
}

struct fibre {
#ifdef SL_UCONTEXT
    ucontext_t context;
#else
    void *sp;
#endif
    char *stack;
    fibre *next_spare, *next;
};

/* So many fibres have a page below their stacks that must not be touched: each is one more mapping, and processes have 65,536. */
enum { GUARDED = 8192 };

static fibre home, *fibres, *spare, *running;
static uint32_t fibre_count;
static const char NO_STACK[] = "needs a stack, and there is no memory for it: too many threads wait at once";
/* What a fibre that was spare is to run. */
static thread *handed;

static void run_threads();

static void fibre_begins()
{
    run_threads();
    abort();
}

static void begin_anew(fibre *f)
{
#ifdef SL_UCONTEXT
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = SL_STACK;
    f->context.uc_link = nullptr;
    makecontext(&f->context, fibre_begins, 0);
#elif defined(__x86_64__)
    /* six registers, the address to return to, and the one that fibre_begins would return to */
    void **top = (void **)(f->stack + SL_STACK) - 8;
    memset(top, 0, 8 * sizeof *top);
    top[6] = (void *)fibre_begins;
    f->sp = top;
#else
    void **top = (void **)(f->stack + SL_STACK) - 20;
    memset(top, 0, 20 * sizeof *top);
    top[11] = (void *)fibre_begins;
    f->sp = top;
#endif
}

/* Nothing if there is no memory for its stack. */
static fibre *any_fibre()
{
    if (fibre *f = spare) {
        spare = f->next_spare;
        return f;
    }
    uint64_t guard = (uint64_t)sysconf(_SC_PAGESIZE);
    char *at = (char *)map_lazily(guard + SL_STACK);
    if (!at) return nullptr;
    fibre *f = (fibre *)enough(nullptr, sizeof *f);
    memset((void *)f, 0, sizeof *f);
    if (fibre_count++ < GUARDED) mprotect(at, guard, PROT_NONE);
    f->stack = at + guard;
    f->next = fibres;
    fibres = f;
    begin_anew(f);
    return f;
}

static void switch_to(fibre *to)
{
    fibre *from = running;
    running = to;
#ifdef SL_UCONTEXT
    swapcontext(&from->context, &to->context);
#else
    sl_switch_stacks(&from->sp, to->sp);
#endif
}

/* Takes one of the threads that can go on. */
static thread *pick()
{
    if (!now.ready_count) return nullptr;
    uint32_t k = now.ready_count == 1 ? 0 : roll(now.ready_count);
    thread *t = now.ready[k];
    now.ready[k] = now.ready[--now.ready_count];
    return t;
}

static void is_me(thread *t)
{
    me = t;
    sl_here.thread = t->index;
    sl_here.block = t->block->number;
    sl_here.shared = t->block->shared.at;
}

/* The thread that runs waits, until a barrier has made it ready and its turn has come. */
static void wait()
{
    thread *t = me;
    thread *next = pick();
    if (next != t) {
        t->fibre = running;
        if (!next) switch_to(&home);
        else if (next->fibre) switch_to(next->fibre);
        else {
            fibre *f = any_fibre();
            if (!f) fail(next, NO_STACK);
            handed = next;
            switch_to(f);
        }
        t->fibre = nullptr;
    }
    is_me(t);
}

static void thread_ends();

/* What a fibre does: runs threads that have not begun, one after another; makes way for one that waits. */
static void run_threads()
{
    thread *t = handed;
    for (;;) {
        is_me(t);
        sl_emulated.run(now.kernel, now.job);
        thread_ends();
        t = pick();
        if (t && !t->fibre) continue;
        running->next_spare = spare;
        spare = running;
        switch_to(t ? t->fibre : &home);
        t = handed;
    }
}

/* Runs all threads that are ready, and those that they make ready. */
static void run_ready()
{
    running = &home;
    handed = pick();
    fibre *f = any_fibre();
    if (f) switch_to(f);
    else report(handed, NO_STACK);
}

static void abandon()
{
    switch_to(&home);
    abort();
}

/* All fibres are spare again, whatever they were at. */
static void reset_fibres()
{
    spare = nullptr;
    for (fibre *f = fibres; f; f = f->next) {
        begin_anew(f);
        f->next_spare = spare;
        spare = f;
    }
}

}
#endif
