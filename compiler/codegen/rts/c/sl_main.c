/* The main program of a stand-alone executable: options, files, exit codes.
 *
 * Ctrl-C ends the run with whole items: outputs are finished and get their names. A second one, or a run that does not heed the first in
 * time, ends the process at once and leaves no output. A closed pipe at an output ends the run without an error. */
#include "sl_file.h"

static volatile sig_atomic_t sl_interrupted; /* the signal that asked the run to end */
static volatile sig_atomic_t sl_running;
static sl_files sl_all_files;

#ifdef SL_KERNELS
/* Of the part of the program that nvcc compiles (rts/cuda/sl_cuda_host.h): the device with the program's kernels, or NULL, and why. */
const sluice_device *sl_cuda_open(char *why, uint64_t room);
void sl_cuda_close(void);

static int sl_on_cpu; /* it is not to be used */
#endif

static const sl_format sl_formats[] = {
    {"raw", SL_FORMAT_RAW, 0},         {"native", SL_FORMAT_RAW, 0},      {"f32", SL_FORMAT_NUMBERS, SL_F32},
    {"f64", SL_FORMAT_NUMBERS, SL_F64}, {"i16", SL_FORMAT_NUMBERS, SL_S16}, {"i32", SL_FORMAT_NUMBERS, SL_S32},
    {"u8", SL_FORMAT_NUMBERS, SL_U8},  {"c64", SL_FORMAT_NUMBERS, SL_F32}, {"rtl", SL_FORMAT_NUMBERS, SL_RTL},
    {"wav", SL_FORMAT_WAV, SL_S16},    {"wav24", SL_FORMAT_WAV, SL_S24},  {"wav32", SL_FORMAT_WAV, SL_S32},
    {"wavf", SL_FORMAT_WAV, SL_F32},   {"text", SL_FORMAT_TEXT, 0},       {"txt", SL_FORMAT_TEXT, 0},
    {"csv", SL_FORMAT_TEXT, 0},        {NULL, 0, 0},
};

/* Extensions of file names, and the formats they stand for. */
static const char *const sl_extensions[][2] = {
    {"wav", "wav"},  {"wave", "wav"}, {"f32", "f32"}, {"float", "f32"}, {"f64", "f64"},  {"double", "f64"}, {"i16", "i16"},
    {"s16", "i16"},  {"cs16", "i16"}, {"sc16", "i16"}, {"i32", "i32"},  {"s32", "i32"},  {"u8", "u8"},      {"c64", "c64"},
    {"cf32", "c64"}, {"fc32", "c64"}, {"cfile", "c64"}, {"iq", "rtl"},  {"cu8", "rtl"},  {"rtl", "rtl"},    {"txt", "text"},
    {"text", "text"}, {"csv", "text"}, {"dat", "text"}, {NULL, NULL},
};

static sl_format sl_format_named(const char *name) {
    int i = 0;
    while (sl_formats[i].name && strcmp(sl_formats[i].name, name) != 0) {
        i++;
    }
    return sl_formats[i];
}

/* The format that was asked for, or that of the name's extension, or text on a terminal, or raw. */
static sl_format sl_format_for(const char *asked, const char *path, int fd, const sluice_end *end) {
    if (asked) {
        return sl_format_named(asked);
    }
    if (end->scalar != SLUICE_MIXED) {
        const char *dot = strrchr(path, '.');
        if (strcmp(path, "-") == 0) {
            return sl_format_named(isatty(fd) ? "text" : "raw");
        }
        for (int i = 0; dot && !strchr(dot, '/') && sl_extensions[i][0]; i++) {
            if (strcasecmp(dot + 1, sl_extensions[i][0]) == 0) {
                return sl_format_named(sl_extensions[i][1]);
            }
        }
    }
    return sl_format_named("raw");
}

/* Seconds that a run has to end after it was asked to. */
#define SL_PATIENCE 2

static void sl_on_signal(int number) {
    if (sl_interrupted) {
        for (uint32_t w = 0; w < sl_all_files.writers; w++) {
            if (sl_all_files.write[w].temporary) {
                unlink(sl_all_files.write[w].temporary);
            }
        }
        _exit(128 + (number == SIGALRM ? (int)sl_interrupted : number));
    }
    if (number != SIGALRM) {
        sl_interrupted = number;
        if (sl_running) {
            alarm(SL_PATIENCE);
        }
    }
}

static int sl_is_stdout(const sl_file *f) { return f->fd >= 0 && strcmp(f->name, "standard output") == 0; }

/* Prints and items that go to standard output keep their order. */
static int64_t sl_main_read(void *user, uint32_t reader, void *items, int64_t max, int32_t wait) {
    sl_files *files = user;
    if (wait) {
        int bad = sl_file_flush(files, &files->out);
        for (uint32_t w = 0; w < files->writers; w++) {
            if (!files->write[w].temporary) {
                bad |= sl_file_flush(files, &files->write[w]);
            }
        }
        if (bad) {
            return SLUICE_ERROR;
        }
    }
    return sl_file_read(files, &files->read[reader], items, max, wait);
}

static int32_t sl_main_write(void *user, uint32_t writer, const void *items, int64_t n) {
    sl_files *files = user;
    sl_file *f = &files->write[writer];
    if (files->out.held > 0 && sl_is_stdout(f) && sl_file_flush(files, &files->out) != 0) {
        return -1;
    }
    return sl_file_write(files, f, items, n);
}

static int32_t sl_main_print(void *user, const char *text, size_t length) {
    sl_files *files = user;
    for (uint32_t w = 0; w < files->writers; w++) {
        if (sl_is_stdout(&files->write[w]) && files->write[w].held > 0 && sl_file_flush(files, &files->write[w]) != 0) {
            return -1;
        }
    }
    if (sl_file_add(files, &files->out, text, length) != 0) {
        return -1;
    }
    return files->out.terminal && memchr(text, '\n', length) ? sl_file_flush(files, &files->out) : 0;
}

/* Also lets others see what has been held for a while. */
static int32_t sl_main_stop(void *user) {
    static int64_t shown;
    sl_files *files = user;
    int64_t now = sl_now();
    int broken = files->out.broken;
    if (now - shown >= 100) {
        shown = now;
        broken |= sl_file_flush(files, &files->out) != 0;
        for (uint32_t w = 0; w < files->writers; w++) {
            if (!files->write[w].temporary) {
                broken |= sl_file_flush(files, &files->write[w]) != 0;
            }
        }
    }
    for (uint32_t w = 0; w < files->writers; w++) {
        broken |= files->write[w].broken;
    }
    /* a fault of an input is told when what came before it has been used */
    return sl_interrupted || broken;
}

/* What the command line says. */
typedef struct sl_options {
    const char *input, *output, *input_format, *output_format;
    long long iterations, rate, channels;
} sl_options;

static void sl_help(const char *program) {
    const sluice_abi *abi = sl_the_program.abi;
    printf("%s: a stream program compiled by sluice\n\nusage: %s [options]\n", abi->name, program);
    if (abi->reader_count + abi->writer_count > 0) {
        fputs("\n", stdout);
    }
    for (uint32_t i = 0; i < abi->reader_count; i++) {
        printf("  takes items of type %s from %s\n", abi->readers[i].type, abi->readers[i].file ? abi->readers[i].file : "its input");
    }
    for (uint32_t i = 0; i < abi->writer_count; i++) {
        printf("  gives items of type %s to %s\n", abi->writers[i].type, abi->writers[i].file ? abi->writers[i].file : "its output");
    }
#ifdef SL_KERNELS
    fputs("\n  --cpu                    do not use the GPU (CUDA_VISIBLE_DEVICES says which one is used)\n", stdout);
#endif
    fputs("\n  --input FILE, -i FILE    read this file (-: standard input, the default)\n"
          "  --output FILE, -o FILE   write this file (-: standard output, the default); it appears when it is complete\n"
          "  --input-format FORMAT    raw, f32, f64, i16, i32, u8, c64, rtl, wav or text; otherwise by the file's extension\n"
          "  --output-format FORMAT   the same, and wav24, wav32, wavf\n"
          "  --rate N, --channels N   of a WAV output\n"
          "  --iterations N, -n N     stop after N steady states\n"
          "  --help, -h               this text\n\n"
          "exit codes: 0 well, 1 the program's fault, 2 the command line's, 3 the input's, 4 the compiler's\n",
          stdout);
}

/* A number of an option, or -1. */
static long long sl_option_number(const char *text, long long least, long long most) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    return *text == 0 || *end != 0 || errno != 0 || n < least || n > most ? -1 : n;
}

/* 0, or -1 with a fault noted, or 1 where only help was wanted. */
static int sl_parse_options(sl_files *files, int argc, char **argv, sl_options *o) {
    static const char *const names[][2] = {{"--input", "-i"},          {"--output", "-o"},   {"--input-format", ""}, {"--output-format", ""},
                                           {"--iterations", "-n"},     {"--rate", ""},       {"--channels", ""}};
    *o = (sl_options){.iterations = -1};
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        size_t length = value && argv[i][1] == '-' ? (size_t)(value - argv[i]) : strlen(argv[i]);
        value = length < strlen(argv[i]) ? argv[i] + length + 1 : NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return 1;
        }
#ifdef SL_KERNELS
        if (strcmp(argv[i], "--cpu") == 0) {
            sl_on_cpu = 1;
            continue;
        }
#endif
        int which = 0;
        while (which < 7 && (strlen(names[which][0]) != length || strncmp(names[which][0], argv[i], length) != 0) &&
               (names[which][1][0] == 0 || strcmp(names[which][1], argv[i]) != 0)) {
            which++;
        }
        if (which == 7) {
            return sl_fault(files, SL_EXIT_USAGE, "unknown option %s; --help lists the options", argv[i]);
        }
        if (!value) {
            value = i + 1 < argc ? argv[++i] : NULL;
        }
        if (!value) {
            return sl_fault(files, SL_EXIT_USAGE, "%s needs a value", names[which][0]);
        }
        const char *range = NULL; /* where the value is none of it */
        switch (which) {
        case 0:
            o->input = value;
            break;
        case 1:
            o->output = value;
            break;
        case 2:
            o->input_format = value;
            break;
        case 3:
            o->output_format = value;
            break;
        case 4:
            o->iterations = sl_option_number(value, 0, INT64_MAX);
            range = o->iterations < 0 ? "0 to 9223372036854775807" : NULL;
            break;
        case 5:
            o->rate = sl_option_number(value, 1, UINT32_MAX);
            range = o->rate < 0 ? "1 to 4294967295" : NULL;
            break;
        default:
            o->channels = sl_option_number(value, 1, 64);
            range = o->channels < 0 ? "1 to 64" : NULL;
            break;
        }
        if (range) {
            return sl_fault(files, SL_EXIT_USAGE, "%s: `%s` is not a whole number from %s", names[which][0], value, range);
        }
        if ((which == 2 || which == 3) && !sl_format_named(value).name) {
            return sl_fault(files, SL_EXIT_USAGE, "unknown format %s; formats are raw f32 f64 i16 i32 u8 c64 rtl wav wav24 wav32 wavf text", value);
        }
    }
    return 0;
}

/* Opens all ends. */
static int sl_open_ends(sl_files *files, const sl_options *o, uint32_t *stdout_writers) {
    const sluice_abi *abi = sl_the_program.abi;
    int open_in = 0, open_out = 0;
    uint32_t rate = 48000, channels = 0;
    for (uint32_t i = 0; i < files->readers; i++) {
        const sluice_end *end = &abi->readers[i];
        const char *path = end->file ? end->file : o->input ? o->input : "-";
        sl_format format = end->file ? sl_format_named("raw") : sl_format_for(o->input_format, path, 0, end);
        open_in |= !end->file;
        if (sl_file_open_read(files, &files->read[i], end, path, format) != 0) {
            return -1;
        }
        if (files->read[i].rate > 0) {
            rate = files->read[i].rate;
            channels = files->read[i].channels;
        }
    }
    for (uint32_t i = 0; i < files->writers; i++) {
        const sluice_end *end = &abi->writers[i];
        const char *path = end->file ? end->file : o->output ? o->output : "-";
        sl_format format = end->file ? sl_format_named("raw") : sl_format_for(o->output_format, path, 1, end);
        sl_file *f = &files->write[i];
        open_out |= !end->file;
        f->rate = o->rate > 0 ? (uint32_t)o->rate : rate;
        f->channels = o->channels > 0 ? (uint32_t)o->channels : end->complex ? 2 : channels > 0 ? channels : 1;
        path = strcmp(path, "/dev/stdout") == 0 ? "-" : path;
        for (uint32_t w = 0; w < i; w++) {
            if (strcmp(files->write[w].name, path) == 0) {
                return sl_fault(files, SL_EXIT_PROGRAM, "two ends of the program would write %s", path);
            }
        }
        if (sl_file_open_write(files, f, end, path, format) != 0) {
            return -1;
        }
        for (uint32_t w = 0; w < i; w++) {
            if (f->target && files->write[w].target && strcmp(f->target, files->write[w].target) == 0) {
                return sl_fault(files, SL_EXIT_PROGRAM, "two ends of the program would write %s, which is %s", path, files->write[w].name);
            }
        }
        if (!end->file && f->format.kind != SL_FORMAT_WAV && (o->rate > 0 || o->channels > 0)) {
            return sl_fault(files, SL_EXIT_USAGE, "%s has a meaning only for a WAV output", o->rate > 0 ? "--rate" : "--channels");
        }
        *stdout_writers += (uint32_t)sl_is_stdout(f);
    }
    if (!open_in && (o->input || o->input_format)) {
        return sl_fault(files, SL_EXIT_USAGE, "--input or --input-format was given, but the program has no open input");
    }
    if (!open_out && (o->output || o->output_format || o->rate > 0 || o->channels > 0)) {
        return sl_fault(files, SL_EXIT_USAGE, "an option about the output was given, but the program has no open output");
    }
    return 0;
}

/* Says what is odd about the ends of the files, in the words of `sluice run`. */
static void sl_remarks(const char *program, const sl_files *files) {
    for (uint32_t i = 0; i < files->readers; i++) {
        const sl_file *f = &files->read[i];
        if (f->missing > 0) {
            fprintf(stderr, "%s: warning: %s ends %llu byte%s before its header says\n", program, f->name, (unsigned long long)f->missing,
                    f->missing == 1 ? "" : "s");
        }
        if (f->torn > 0) {
            fprintf(stderr, "%s: warning: %s ends within a frame: %u of its %u channels ha%s a last sample\n", program, f->name, f->torn, f->channels,
                    f->torn == 1 ? "s" : "ve");
        }
        if (f->leftover > 0) {
            fprintf(stderr, "%s: warning: %s does not hold a whole number of %s items: %llu %s%s left over after %llu items\n", program, f->name,
                    f->end->type, (unsigned long long)f->leftover, f->format.kind == SL_FORMAT_TEXT ? "number" : "byte",
                    f->leftover == 1 ? "" : "s", (unsigned long long)f->items);
        }
    }
    for (uint32_t i = 0; i < files->writers; i++) {
        const sl_file *f = &files->write[i];
        if (f->too_long) {
            fprintf(stderr, "%s: warning: %s: too long for a WAV header; players that trust the header may stop early\n", program, f->name);
        } else if (f->filled > 0) {
            fprintf(stderr, "%s: warning: %s: the last frame was filled up with %llu zero sample%s\n", program, f->name,
                    (unsigned long long)f->filled, f->filled == 1 ? "" : "s");
        }
    }
}

/* What came before a fault comes out, but for files, which stay as they were. */
static void sl_come_out(sl_files *files) {
    const int code = files->exit;
    (void)sl_file_flush(files, &files->out);
    for (uint32_t w = 0; files->write && w < files->writers; w++) {
        if (files->write[w].fd >= 0 && !files->write[w].temporary) {
            (void)sl_file_flush(files, &files->write[w]);
        }
    }
    files->exit = code;
}

int main(int argc, char **argv) {
    const sluice_abi *abi = sluice_abi_v1();
    const char *program = argc > 0 ? argv[0] : abi->name;
    sl_files *files = &sl_all_files;
    sl_options options = {0};
    sl_ctx *ctx = NULL;
    uint32_t stdout_writers = 0;
    /* a file that is opened is none of the three standard ones, even where somebody has closed those: they stay such that nothing can be read or written */
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) {
            return SL_EXIT_INPUT;
        }
    }
    int failed = sl_files_create(files);
    files->interrupted = &sl_interrupted;
    int wanted = failed ? -1 : sl_parse_options(files, argc, argv, &options);
    if (wanted == 1) {
        sl_help(program);
        const int bad = fflush(stdout) != 0 && errno != EPIPE;
        if (bad) {
            fprintf(stderr, "%s: error: cannot write standard output: %s\n", program, strerror(errno));
        }
        sl_files_destroy(files);
        return bad ? SL_EXIT_INPUT : SL_EXIT_OK;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    /* a file that may not grow any more: writing fails */
    sigaction(SIGXFSZ, &action, NULL);
    action.sa_handler = sl_on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    failed = wanted != 0 ? -1 : sl_open_ends(files, &options, &stdout_writers);
    if (!failed) {
        sluice_host host = {sizeof host,   stdout_writers, files,        sl_main_read, sl_main_write,
                            sl_main_print, NULL,           sl_main_stop, NULL, NULL,         NULL};
#ifdef SL_KERNELS
        char why[512];
        host.device = sl_on_cpu ? NULL : sl_cuda_open(why, sizeof why);
        if (!host.device && !sl_on_cpu) {
            failed = sl_fault(files, SL_EXIT_INPUT, "%s; --cpu runs the program without a GPU", why);
        }
#endif
        if (!failed && abi->create(&host, &ctx) != SLUICE_DONE) {
            failed = sl_fault(files, SL_EXIT_INPUT, "not enough memory for buffers of %llu bytes", (unsigned long long)abi->bytes);
        }
    }
    if (!failed) {
        sl_running = 1;
        if (sl_interrupted) {
            alarm(SL_PATIENCE);
        }
        int32_t result = abi->run(ctx, options.iterations);
        sl_running = 0;
        alarm(0);
        if (result == SLUICE_HOST) {
            failed = -1;
#ifdef SL_KERNELS
            if (files->exit == SL_EXIT_OK) {
                failed = sl_fault(files, SL_EXIT_INPUT, "%s", abi->error(ctx)->message);
            }
#endif
        } else if (result < 0) {
            const int code = result == SLUICE_INTERNAL ? SL_EXIT_INTERNAL : result == SLUICE_MEMORY ? SL_EXIT_INPUT : SL_EXIT_PROGRAM;
            failed = sl_fault(files, code, "%s", abi->error(ctx)->message);
        } else {
            failed = files->exit != 0 ? -1 : sl_files_finish(files);
            sl_remarks(program, files);
        }
    }
    if (failed) {
        fprintf(stderr, "%s: error: %s\n", program, files->message);
        sl_come_out(files);
    }
    abi->destroy(ctx);
#ifdef SL_KERNELS
    sl_cuda_close();
#endif
    int code = failed ? files->exit : SL_EXIT_OK;
    sl_files_destroy(files);
    return code;
}
