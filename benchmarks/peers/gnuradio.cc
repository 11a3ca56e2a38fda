/* The programs by GNU Radio's own blocks, in a flow graph that runs from NAME_new to NAME_free: a source that takes what NAME_run is given, and a sink that
 * writes where it wants the output. All its threads share the processor that NAME_new was called on. NAME: the program's name. All of them are here: most
 * of the time to compile one goes to GNU Radio's headers. */
#include <gnuradio/analog/quadrature_demod_cf.h>
#include <gnuradio/blocks/add_blk.h>
#include <gnuradio/fft/fft_v.h>
#include <gnuradio/filter/fir_filter_blk.h>
#include <gnuradio/filter/iir_filter_ffd.h>
#include <gnuradio/io_signature.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "peers.h"

namespace {

// What the caller, the source and the sink share.
struct Exchange {
    std::mutex lock;
    std::condition_variable more, all;
    const char *in = nullptr;
    char *out = nullptr;
    size_t waiting = 0, written = 0, wanted = 0, dropped = 0;
    bool over = false;
};

class Source : public gr::sync_block {
  public:
    Source(Exchange &x, size_t size) : gr::sync_block("memory", gr::io_signature::make(0, 0, 0), gr::io_signature::make(1, 1, size)), x(x), size(size) {}

    int work(int room, gr_vector_const_void_star &, gr_vector_void_star &to) override {
        std::unique_lock<std::mutex> held(x.lock);
        x.more.wait(held, [&] { return x.waiting > 0 || x.over; });
        if (x.over) return WORK_DONE;
        size_t n = std::min<size_t>(room, x.waiting);
        const char *from = x.in;
        memcpy(to[0], from, n * size);
        x.in += n * size;
        x.waiting -= n;
        x.all.notify_one();
        return static_cast<int>(n);
    }

  private:
    Exchange &x;
    size_t size;
};

class Sink : public gr::sync_block {
  public:
    Sink(Exchange &x, size_t size) : gr::sync_block("memory", gr::io_signature::make(1, 1, size), gr::io_signature::make(0, 0, 0)), x(x), size(size) {}

    int work(int count, gr_vector_const_void_star &from, gr_vector_void_star &) override {
        std::lock_guard<std::mutex> held(x.lock);
        size_t n = static_cast<size_t>(count), drop = std::min(n, x.dropped);
        x.dropped -= drop;
        memcpy(x.out, static_cast<const char *>(from[0]) + drop * size, (n - drop) * size);
        x.out += (n - drop) * size;
        x.written += n;
        if (x.written >= x.wanted) x.all.notify_one();
        return count;
    }

  private:
    Exchange &x;
    size_t size;
};

// How a program's output lies to its input.
struct Flow {
    size_t in, out;      // bytes of an item
    size_t block = 1;    // samples of an item
    size_t step = 1;     // items in for one out
    size_t silent = 0;   // zeroes that are put before the first sample
    size_t before = 0;   // first results, of windows that begin before the first sample
};

using Block = gr::basic_block_sptr;

struct of_fir {
    static constexpr Flow flow{.in = sizeof(float), .out = sizeof(float), .before = TAPS - 1};

    static void connect(gr::top_block &top, Block source, Block sink) {
        std::vector<float> h(TAPS);
        low_pass(h.data(), 8);
        auto filter = gr::filter::fir_filter_fff::make(1, h);
        top.connect(source, 0, filter, 0);
        top.connect(filter, 0, sink, 0);
    }
};

/* A result is of the window that ends with every fifth sample from the first on, the program's of the one that begins with it: zeroes before make them the same. */
struct of_resample {
    static constexpr size_t step = 5, silent = (step - (TAPS - 1) % step) % step;
    static constexpr Flow flow{
        .in = sizeof(gr_complex), .out = sizeof(gr_complex), .step = step, .silent = silent, .before = (TAPS - 1 + silent) / step};

    static void connect(gr::top_block &top, Block source, Block sink) {
        std::vector<float> h(TAPS);
        low_pass(h.data(), 10);
        auto filter = gr::filter::fir_filter_ccf::make(step, h);
        top.connect(source, 0, filter, 0);
        top.connect(filter, 0, sink, 0);
    }
};

/* A section of second order: these filters keep doubles. */
gr::filter::iir_filter_ffd::sptr section(const float *c) {
    return gr::filter::iir_filter_ffd::make({c[0], c[1], c[2]}, {1, c[3], c[4]}, false);
}

struct of_iir {
    static constexpr Flow flow{.in = sizeof(float), .out = sizeof(float)};

    static void connect(gr::top_block &top, Block source, Block sink) {
        Block last = source;
        for (int k = 0; k < 4; k++) {
            float c[5];
            butterworth(c, k);
            auto next = section(c);
            top.connect(last, 0, next, 0);
            last = next;
        }
        top.connect(last, 0, sink, 0);
    }
};

struct of_bank {
    static constexpr Flow flow{.in = sizeof(float), .out = sizeof(float)};

    static void connect(gr::top_block &top, Block source, Block sink) {
        auto sum = gr::blocks::add_ff::make(1);
        for (int k = 0; k < 8; k++) {
            float c[5];
            resonance(c, k);
            auto first = section(c), second = section(c);
            top.connect(source, 0, first, 0);
            top.connect(first, 0, second, 0);
            top.connect(second, 0, sum, k);
        }
        top.connect(sum, 0, sink, 0);
    }
};

struct of_fm {
    static constexpr Flow flow{.in = sizeof(gr_complex), .out = sizeof(float), .before = 1};

    static void connect(gr::top_block &top, Block source, Block sink) {
        auto angle = gr::analog::quadrature_demod_cf::make(2);
        top.connect(source, 0, angle, 0);
        top.connect(angle, 0, sink, 0);
    }
};

template <int points> struct of_transform {
    static constexpr Flow flow{.in = points * sizeof(gr_complex), .out = points * sizeof(gr_complex), .block = points};

    static void connect(gr::top_block &top, Block source, Block sink) {
        auto transform = gr::fft::fft_v<gr_complex, true>::make(points, {}, false, 1);
        top.connect(source, 0, transform, 0);
        top.connect(transform, 0, sink, 0);
    }
};

template <typename Made> struct Program {
    Exchange exchange;
    gr::top_block_sptr top = gr::make_top_block("peer");
    size_t taken = 0; // items of the source

    Program() {
        auto source = gnuradio::make_block_sptr<Source>(exchange, Made::flow.in);
        auto sink = gnuradio::make_block_sptr<Sink>(exchange, Made::flow.out);
        Made::connect(*top, source, sink);
        exchange.dropped = Made::flow.before;
        // threads stay where the one that starts them is
        cpu_set_t before, here;
        pthread_getaffinity_np(pthread_self(), sizeof before, &before);
        CPU_ZERO(&here);
        CPU_SET(sched_getcpu(), &here);
        pthread_setaffinity_np(pthread_self(), sizeof here, &here);
        top->start();
        pthread_setaffinity_np(pthread_self(), sizeof before, &before);
        static char silence[Made::flow.silent * Made::flow.in + 1];
        give(silence, Made::flow.silent, silence);
    }

    ~Program() {
        {
            std::lock_guard<std::mutex> held(exchange.lock);
            exchange.over = true;
        }
        exchange.more.notify_one();
        top->stop();
        top->wait();
    }

    // Gives the number of items that came out, of all that can come of what went in.
    size_t give(const void *in, size_t count, void *out) {
        std::unique_lock<std::mutex> held(exchange.lock);
        exchange.in = static_cast<const char *>(in);
        exchange.out = static_cast<char *>(out);
        exchange.waiting = count;
        taken += count;
        exchange.wanted = taken / Made::flow.step;
        exchange.more.notify_one();
        exchange.all.wait(held, [&] { return exchange.waiting == 0 && exchange.written >= exchange.wanted; });
        return static_cast<size_t>(exchange.out - static_cast<char *>(out)) / Made::flow.out;
    }
};

} // namespace

#define PROGRAM(name, ...)                                                                                                                               \
    extern "C" void *name##_new(void) {                                                                                                                  \
        try {                                                                                                                                            \
            return new Program<__VA_ARGS__>;                                                                                                             \
        } catch (const std::exception &) {                                                                                                               \
            return nullptr;                                                                                                                              \
        }                                                                                                                                                \
    }                                                                                                                                                    \
    extern "C" void name##_free(void *program) { delete static_cast<Program<__VA_ARGS__> *>(program); }                                                  \
    extern "C" size_t name##_run(void *program, const float *in, size_t n, float *out) {                                                                 \
        constexpr size_t block = __VA_ARGS__::flow.block;                                                                                                \
        return static_cast<Program<__VA_ARGS__> *>(program)->give(in, n / block, out) * block;                                                           \
    }

PROGRAM(fir, of_fir)
PROGRAM(resample, of_resample)
PROGRAM(iir, of_iir)
PROGRAM(bank, of_bank)
PROGRAM(fm, of_fm)
PROGRAM(fft64, of_transform<64>)
PROGRAM(fft1024, of_transform<1024>)
