/* Files and streams as a host for compiled programs: in libraries (for files that the program names) and in stand-alone programs. */
#ifndef SL_FILE_H
#define SL_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sl_engine.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files hold little-endian numbers");

/* Exit codes of a stand-alone program, and what a fault of files is classed as. */
enum { SL_EXIT_OK = 0, SL_EXIT_PROGRAM = 1, SL_EXIT_USAGE = 2, SL_EXIT_INPUT = 3, SL_EXIT_INTERNAL = 4 };

/* How one number stands in a file. */
enum { SL_F32, SL_F64, SL_S16, SL_S24, SL_S32, SL_U8, SL_W8, SL_RTL };

/* How a file holds items: their own bytes (bits packed), numbers in binary, a WAV file, numbers in text. */
enum { SL_FORMAT_RAW, SL_FORMAT_NUMBERS, SL_FORMAT_WAV, SL_FORMAT_TEXT };

typedef struct sl_format {
    const char *name; /* on the command line; NULL: not known yet */
    int kind;
    int number;
} sl_format;

/* Bytes gathered between a file and its items. */
#define SL_FILE_BYTES (1 << 17)

/* A file that is read or written. */
typedef struct sl_file {
    const sluice_end *end;
    const char *name; /* for messages */
    int fd;
    int regular;      /* a read of it never waits */
    int terminal;
    int ended;
    int broken;       /* nobody reads what is written */
    sl_format format;
    double scale;     /* of integers for real items */
    uint32_t held_bits, bits; /* of a byte that is being taken apart or put together */
    uint64_t items;   /* so far */
    uint64_t left;    /* bytes of samples to come, UINT64_MAX without a limit */
    uint64_t data;    /* bytes of samples written */
    uint64_t line;    /* of text, from 1 */
    uint64_t leftover; /* bytes or numbers after the last whole item */
    uint64_t missing;  /* bytes that a WAV header promised */
    uint32_t torn;     /* channels that have a sample in a WAV's last frame, where others have none */
    uint64_t filled;   /* samples that make the last frame of a WAV output whole */
    int too_long;      /* a WAV output, for its header */
    size_t header;    /* bytes of a WAV header */
    uint32_t rate, channels; /* of WAV */
    char *target, *temporary; /* the file to replace, and the one that will */
    char *part;       /* an item that is put together, in host form */
    uint32_t parts;   /* its scalars so far */
    unsigned char *bytes;
    size_t at, held, size;
} sl_file;

/* All files of a run. */
typedef struct sl_files {
    uint32_t readers, writers;
    sl_file *read, *write;
    sl_file out; /* text that the program prints */
    int exit;    /* class of the fault in `message` */
    char message[512];
    volatile sig_atomic_t *interrupted;
} sl_files;

/* Notes a fault; gives -1. */
__attribute__((format(printf, 3, 4))) static int sl_fault(sl_files *files, int exit, const char *format, ...) SL_COLD;
/* Makes room for the ends of a program; none is open yet. 0, or -1. */
static int sl_files_create(sl_files *files) SL_UNUSED;
/* Opens a file to read, `-` for standard input. 0, or -1 with a fault noted. */
static int sl_file_open_read(sl_files *files, sl_file *f, const sluice_end *end, const char *path, sl_format format) SL_UNUSED;
/* Opens a file to write, `-` for standard output; it appears under its name when it is complete. */
static int sl_file_open_write(sl_files *files, sl_file *f, const sluice_end *end, const char *path, sl_format format) SL_UNUSED;
/* As `sluice_host.read`. */
static int64_t sl_file_read(sl_files *files, sl_file *f, char *items, int64_t max, int wait) SL_UNUSED;
/* Takes items. 0, or -1. */
static int sl_file_write(sl_files *files, sl_file *f, const char *items, int64_t n) SL_UNUSED;
/* Writes what is gathered. */
static int sl_file_flush(sl_files *files, sl_file *f) SL_UNUSED;
/* Ends all outputs: they become complete. 0, or -1. */
static int sl_files_finish(sl_files *files) SL_UNUSED;
/* Frees everything; outputs that are not finished disappear. */
static void sl_files_destroy(sl_files *files) SL_UNUSED;

/* One number of a file, for a real item or an integer one. */
static double sl_number_get(int number, double scale, const unsigned char *bytes, int real) SL_UNUSED;
static int sl_number_bytes(int number) SL_UNUSED;
/* A number of a real item or an integer one to its place. */
static void sl_number_put(int number, double scale, double value, int real, unsigned char *to) SL_UNUSED;
/* Numbers of a file as floats or ints, and back. */
static void sl_numbers_get(const sl_file *f, uint32_t scalar, const unsigned char *from, char *to, uint64_t n) SL_UNUSED;
static void sl_numbers_put(const sl_file *f, uint32_t scalar, const char *from, unsigned char *to, uint64_t n) SL_UNUSED;
/* A byte's bits as items, the highest first, and back. */
static void sl_bits_get(unsigned char byte, char *to) SL_UNUSED;
static unsigned char sl_bits_put(const char *from) SL_UNUSED;
/* One scalar of an item. */
static size_t sl_scalar_bytes(uint32_t scalar) SL_UNUSED;
static double sl_scalar_get(uint32_t scalar, const char *bytes) SL_UNUSED;
static int sl_scalar_put(uint32_t scalar, double value, char *bytes) SL_UNUSED;
/* Text of a scalar, the shortest that reads back as the same; gives its length (less than 40). */
static int sl_scalar_text(uint32_t scalar, const char *bytes, char *text) SL_UNUSED;
/* A scalar from a word; 0 where it is none. */
static int sl_scalar_parse(uint32_t scalar, const char *word, char *bytes) SL_UNUSED;
/* What a word should have been. */
static const char *sl_scalar_expected(uint32_t scalar) SL_UNUSED;
/* Reads a WAV header. 0, or -1. */
static int sl_wav_read_header(sl_files *files, sl_file *f) SL_UNUSED;
/* Gathers a WAV header for an unknown length; after the samples, fills up the last frame and mends the lengths. */
static void sl_wav_write_header(sl_file *f) SL_UNUSED;
static int sl_wav_finish(sl_files *files, sl_file *f) SL_UNUSED;
static int sl_wav_ends_in_pad(const sl_file *f, uint64_t bytes) SL_UNUSED;
static void sl_wav_ended(sl_file *f, uint64_t held) SL_UNUSED;
/* At least one byte more in the buffer: 1; nothing yet: 0; the end: -1; a fault: -2. */
static int sl_file_more(sl_files *files, sl_file *f, int wait) SL_UNUSED;
/* Writes what is gathered where less than `room` is left. */
static int sl_file_room(sl_files *files, sl_file *f, size_t room) SL_UNUSED;

#endif
