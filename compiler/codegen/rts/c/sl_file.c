/* Opening, reading, writing and finishing files. */
#include "sl_file.h"

static int sl_fault(sl_files *files, int exit, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(files->message, sizeof files->message, format, list);
    va_end(list);
    files->exit = exit;
    return -1;
}

static int sl_files_create(sl_files *files) {
    const sluice_abi *abi = sl_the_program.abi;
    memset(files, 0, sizeof *files);
    files->readers = abi->reader_count;
    files->writers = abi->writer_count;
    files->read = calloc(files->readers + 1, sizeof(sl_file));
    files->write = calloc(files->writers + 1, sizeof(sl_file));
    files->out.bytes = malloc(SL_FILE_BYTES);
    files->out.size = SL_FILE_BYTES;
    files->out.fd = 1;
    files->out.name = "standard output";
    if (!files->read || !files->write || !files->out.bytes) {
        return sl_fault(files, SL_EXIT_INPUT, "not enough memory");
    }
    files->out.terminal = isatty(1);
    for (uint32_t i = 0; i < files->readers; i++) {
        files->read[i].fd = -1;
    }
    for (uint32_t i = 0; i < files->writers; i++) {
        files->write[i].fd = -1;
    }
    return 0;
}

/* Room for bytes and one item. */
static int sl_file_begin(sl_files *files, sl_file *f, const sluice_end *end) {
    f->end = end;
    f->size = SL_FILE_BYTES + 8 * (size_t)end->bytes;
    f->bytes = malloc(f->size + 1);
    f->part = malloc((size_t)end->bytes + 1);
    f->left = UINT64_MAX;
    f->line = 1;
    if (f->scale == 0.0) {
        f->scale = 1.0;
    }
    return f->bytes && f->part ? 0 : sl_fault(files, SL_EXIT_INPUT, "not enough memory");
}

/* Can the items go through the format? A format that holds the items' own bytes becomes raw. */
static int sl_file_check(sl_files *files, sl_file *f, int reading) {
    const uint32_t scalar = f->end->scalar;
    const int n = f->format.number, wav = f->format.kind == SL_FORMAT_WAV;
    if (f->format.kind == SL_FORMAT_RAW) {
        return 0;
    }
    if (scalar == SLUICE_MIXED) {
        return sl_fault(files, SL_EXIT_USAGE, "%s: items of type %s mix kinds of numbers, which the format %s cannot hold; use raw", f->name,
                        f->end->type, f->format.name);
    }
    if (f->format.kind == SL_FORMAT_TEXT) {
        return 0;
    }
    if (reading && (n == SL_F32 || n == SL_F64 || n == SL_RTL) && scalar < SLUICE_FLOAT) {
        return sl_fault(files, SL_EXIT_USAGE, "%s: the format %s holds fractions, which items of type %s cannot keep", f->name, f->format.name,
                        f->end->type);
    }
    if (reading && wav && f->end->complex && f->channels != 2) {
        return sl_fault(files, SL_EXIT_INPUT, "%s has %u channels; complex items need two, real and imaginary part", f->name, f->channels);
    }
    if (!wav && ((n == SL_F32 && scalar == SLUICE_FLOAT) || (n == SL_F64 && scalar == SLUICE_DOUBLE) || (n == SL_S32 && scalar == SLUICE_INT))) {
        f->format.kind = SL_FORMAT_RAW;
    }
    return 0;
}

static int sl_file_open_read(sl_files *files, sl_file *f, const sluice_end *end, const char *path, sl_format format) {
    struct stat about;
    int standard = strcmp(path, "-") == 0;
    f->name = standard ? "standard input" : path;
    f->format = format;
    f->fd = standard ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0 || fstat(f->fd, &about) != 0) {
        return sl_fault(files, SL_EXIT_INPUT, "cannot read %s: %s", f->name, strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return sl_fault(files, SL_EXIT_INPUT, "cannot read %s: it is a folder", f->name);
    }
    f->regular = S_ISREG(about.st_mode);
    if (sl_file_begin(files, f, end) != 0) {
        return -1;
    }
    if (format.kind == SL_FORMAT_WAV && sl_wav_read_header(files, f) != 0) {
        return -1;
    }
    return sl_file_check(files, f, 1);
}

/* The text of a folder and of a name in it; NULL where there is no folder. */
static char *sl_file_in(const char *folder, const char *name) {
    size_t length = folder ? strlen(folder) + strlen(name) + 2 : 0;
    char *path = folder ? malloc(length) : NULL;
    if (path) {
        snprintf(path, length, "%s/%s", folder, name);
    }
    return path;
}

/* Where a path leads, through links, also to a file that is not there yet; NULL where it leads nowhere. */
static char *sl_file_target(const char *path) {
    char *at = strdup(path);
    for (int links = 0; at && links < 40; links++) {
        char to[4096], *real = realpath(at, NULL);
        if (real) {
            free(at);
            return real;
        }
        const ssize_t length = readlink(at, to, sizeof to - 1);
        char *slash = strrchr(at, '/');
        char *name = slash ? slash + 1 : at;
        char *next;
        if (length < 0) {
            char *folder = realpath(slash == at ? "/" : slash ? (*slash = 0, at) : ".", NULL);
            next = sl_file_in(folder, name);
            free(folder);
            free(at);
            return next;
        }
        to[length] = 0;
        if (to[0] == '/' || !slash) {
            next = strdup(to);
        } else {
            *slash = 0;
            next = sl_file_in(at, to);
        }
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

/* A new file beside the one that it will replace. */
static int sl_file_beside(sl_file *f, const char *path) {
    f->target = sl_file_target(path);
    if (!f->target) {
        return -1;
    }
    size_t length = strlen(f->target) + 64;
    f->temporary = malloc(length);
    if (!f->temporary) {
        return -1;
    }
    const char *slash = strrchr(f->target, '/');
    int folder = slash ? (int)(slash + 1 - f->target) : 0;
    for (int attempt = 0; attempt < 1000; attempt++) {
        snprintf(f->temporary, length, "%.*s.%s.%ld-%d.partial", folder, f->target, f->target + folder, (long)getpid(), attempt);
        f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd >= 0 || errno != EEXIST) {
            break;
        }
    }
    if (f->fd < 0) {
        free(f->temporary);
        f->temporary = NULL;
        return -1;
    }
    struct stat there;
    if (stat(f->target, &there) == 0) {
        (void)fchmod(f->fd, there.st_mode & 0777);
    }
    return 0;
}

static int sl_file_open_write(sl_files *files, sl_file *f, const sluice_end *end, const char *path, sl_format format) {
    struct stat about;
    int standard = strcmp(path, "-") == 0;
    f->name = standard ? "standard output" : path;
    f->format = format;
    if (sl_file_begin(files, f, end) != 0) {
        return -1;
    }
    if (standard) {
        f->fd = dup(1);
    } else if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        if (S_ISDIR(about.st_mode)) {
            return sl_fault(files, SL_EXIT_INPUT, "cannot write %s: it is a folder", path);
        }
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else if (sl_file_beside(f, path) != 0) {
        f->fd = -1;
    }
    if (f->fd < 0) {
        return sl_fault(files, SL_EXIT_INPUT, "cannot write %s: %s", f->name, strerror(errno));
    }
    if (sl_file_check(files, f, 0) != 0) {
        return -1;
    }
    if (f->format.kind == SL_FORMAT_WAV) {
        int bytes = sl_number_bytes(f->format.number);
        f->scale = f->format.number == SL_F32 ? 1.0 : ldexp(1.0, 1 - 8 * bytes);
        sl_wav_write_header(f);
    }
    f->terminal = standard && isatty(1);
    return 0;
}

/* ---- reading ---- */

static int sl_file_more(sl_files *files, sl_file *f, int wait) {
    while (!f->ended && !f->regular) {
        struct pollfd one = {f->fd, POLLIN, 0};
        int ready = poll(&one, 1, wait ? 100 : 0);
        if (ready > 0) {
            break;
        }
        if (ready < 0 && errno != EINTR) {
            sl_fault(files, SL_EXIT_INPUT, "cannot read %s: %s", f->name, strerror(errno));
            return -2;
        }
        if (!wait || (files->interrupted && *files->interrupted)) {
            return 0;
        }
    }
    if (f->ended) {
        return -1;
    }
    memmove(f->bytes, f->bytes + f->at, f->held - f->at);
    f->held -= f->at;
    f->at = 0;
    ssize_t got;
    do {
        got = read(f->fd, f->bytes + f->held, f->size - f->held);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        sl_fault(files, SL_EXIT_INPUT, "cannot read %s: %s", f->name, strerror(errno));
        return -2;
    }
    f->held += (size_t)got;
    f->ended = got == 0;
    return got > 0 ? 1 : -1;
}

/* The most bytes of a number in text, as in `sluice run`: what is longer is none, however it arrives. */
#define SL_WORD 65536

static int sl_separates(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == ',' || c == ';'; }

/* Notes that a word is no number: its first 40 characters, those that a terminal would not show as numbers. */
static void sl_file_bad_word(sl_files *files, const sl_file *f, const unsigned char *word, size_t length) {
    char shown[168];
    size_t at = 0, n = 0;
    for (int characters = 0; at < length; at++) {
        characters += (word[at] & 0xc0) != 0x80;
        if (characters > 40 || n > sizeof shown - 8) {
            break;
        }
        if (word[at] < ' ' || word[at] == 0x7f) {
            n += (size_t)sprintf(shown + n, "\\x%02x", word[at]);
        } else {
            shown[n++] = (char)word[at];
        }
    }
    shown[n] = 0;
    if (length > SL_WORD) {
        sl_fault(files, SL_EXIT_INPUT, "%s, line %llu: `%s...` has more than %d bytes, too many for a number", f->name, (unsigned long long)f->line, shown, SL_WORD);
    } else {
        sl_fault(files, SL_EXIT_INPUT, "%s, line %llu: `%s%s` is not %s", f->name, (unsigned long long)f->line, shown, at < length ? "..." : "",
                 sl_scalar_expected(f->end->scalar));
    }
}

/* Numbers in text, separated by white space, commas or semicolons; `#` starts a remark. */
static int64_t sl_file_decode_text(sl_files *files, sl_file *f, char *items, int64_t max) {
    const size_t wide = sl_scalar_bytes(f->end->scalar);
    int64_t n = 0;
    while (n < max) {
        int remark = f->bits != 0;
        size_t at = f->at;
        while (at < f->held && (remark || sl_separates(f->bytes[at]) || f->bytes[at] == '#')) {
            remark = f->bytes[at] == '\n' ? 0 : remark || f->bytes[at] == '#';
            f->line += f->bytes[at] == '\n';
            at++;
        }
        f->at = at;
        f->bits = (uint32_t)remark;
        size_t end = at;
        while (end < f->held && !sl_separates(f->bytes[end]) && f->bytes[end] != '#') {
            end++;
        }
        const size_t length = end - at;
        if (at == f->held || (end == f->held && !f->ended && length <= SL_WORD)) {
            return n;
        }
        /* the word ends where C's functions look for its end; there is room for that behind the last byte, too */
        unsigned char *word = f->bytes + at, behind = word[length];
        word[length] = 0;
        const int bad = length > SL_WORD || memchr(word, 0, length) || !sl_scalar_parse(f->end->scalar, (const char *)word, f->part + f->parts * wide);
        word[length] = behind;
        if (bad && n > 0) {
            return n; /* those before it come first */
        }
        if (bad) {
            sl_file_bad_word(files, f, word, length);
            return -1;
        }
        f->at = end;
        if (++f->parts == f->end->scalars) {
            memcpy(items + (uint64_t)n * f->end->bytes, f->part, f->end->bytes);
            f->parts = 0;
            n++;
        }
    }
    return n;
}

/* Items from the bytes that are buffered; -1 for a fault. */
static int64_t sl_file_decode(sl_files *files, sl_file *f, char *items, int64_t max) {
    const uint64_t bytes = f->end->bytes;
    const uint32_t scalar = f->end->scalar;
    uint64_t held = f->held - f->at, n, used;
    held = held < f->left ? held : f->left;
    if (f->format.kind == SL_FORMAT_TEXT) {
        return sl_file_decode_text(files, f, items, max);
    }
    if (f->format.kind == SL_FORMAT_RAW && scalar == SLUICE_BIT) {
        n = (held * 8 - f->bits * (held > 0)) / bytes;
        n = n < (uint64_t)max ? n : (uint64_t)max;
        for (uint64_t i = 0; i < n * bytes; i++) {
            for (; f->bits == 0 && n * bytes - i >= 8; i += 8) {
                sl_bits_get(f->bytes[f->at++], items + i);
            }
            if (i == n * bytes) {
                break;
            }
            items[i] = (char)(f->bytes[f->at] >> (7 - f->bits) & 1);
            f->bits = (f->bits + 1) % 8;
            f->at += f->bits == 0;
        }
        return (int64_t)n;
    }
    if (f->format.kind == SL_FORMAT_RAW) {
        n = held / bytes < (uint64_t)max ? held / bytes : (uint64_t)max;
        used = n * bytes;
        memcpy(items, f->bytes + f->at, used);
    } else {
        const uint64_t wide = (uint64_t)sl_number_bytes(f->format.number), narrow = sl_scalar_bytes(scalar);
        const int real = scalar >= SLUICE_FLOAT;
        n = held / (wide * f->end->scalars);
        n = n < (uint64_t)max ? n : (uint64_t)max;
        used = n * wide * f->end->scalars;
        const int many = scalar == SLUICE_FLOAT || scalar == SLUICE_INT;
        if (many) {
            sl_numbers_get(f, scalar, f->bytes + f->at, items, n * f->end->scalars);
        }
        for (uint64_t i = 0; !many && i < n * f->end->scalars; i++) {
            double value = sl_number_get(f->format.number, f->scale, f->bytes + f->at + i * wide, real);
            if (!sl_scalar_put(scalar, value, items + i * narrow)) {
                if (i >= f->end->scalars) {
                    n = i / f->end->scalars; /* those before it come first */
                    used = n * wide * f->end->scalars;
                    break;
                }
                return sl_fault(files, SL_EXIT_INPUT, "%s: %g is not a bit; a bit is 0 or 1", f->name, value);
            }
        }
    }
    f->at += used;
    f->left -= f->left == UINT64_MAX ? 0 : used;
    return (int64_t)n;
}

static int64_t sl_file_read(sl_files *files, sl_file *f, char *items, int64_t max, int wait) {
    for (;;) {
        int64_t n = sl_file_decode(files, f, items, max);
        if (n != 0) {
            f->items += n > 0 ? (uint64_t)n : 0;
            return n > 0 ? n : SLUICE_ERROR;
        }
        uint64_t held = f->held - f->at;
        if (f->ended || f->left < f->end->bytes) {
            if (f->left != UINT64_MAX && f->left < f->end->bytes) {
                held = held < f->left ? held : f->left;
            }
            if (f->ended && held > 0 && sl_wav_ends_in_pad(f, f->items * f->end->scalars * 3 + held)) {
                held--;
            }
            f->leftover = f->format.kind == SL_FORMAT_TEXT ? f->parts : f->end->scalar == SLUICE_BIT && f->format.kind == SL_FORMAT_RAW ? 0 : held;
            if (f->ended || f->format.kind != SL_FORMAT_WAV || f->left == 0 || held >= f->left) {
                sl_wav_ended(f, held);
                return SLUICE_END;
            }
        }
        int more = sl_file_more(files, f, wait);
        if (more == 0 || more == -2) {
            return more == 0 ? SLUICE_NONE_YET : SLUICE_ERROR;
        }
    }
}

/* ---- writing ---- */

static int sl_file_flush(sl_files *files, sl_file *f) {
    size_t at = 0;
    while (at < f->held && !f->broken) {
        ssize_t n = write(f->fd, f->bytes + at, f->held - at);
        if (n >= 0) {
            at += (size_t)n;
        } else if (errno == EPIPE) {
            f->broken = 1;
        } else if (errno == EAGAIN) {
            struct pollfd one = {f->fd, POLLOUT, 0};
            (void)poll(&one, 1, 100);
        } else if (errno != EINTR) {
            return sl_fault(files, SL_EXIT_INPUT, "cannot write %s: %s", f->name, strerror(errno));
        }
    }
    f->held = 0;
    return 0;
}

static int sl_file_room(sl_files *files, sl_file *f, size_t room) {
    return f->size - f->held < room ? sl_file_flush(files, f) : 0;
}

/* Adds bytes as they are. */
static int sl_file_add(sl_files *files, sl_file *f, const char *bytes, uint64_t n) {
    while (n > 0) {
        if (sl_file_room(files, f, 1) != 0) {
            return -1;
        }
        uint64_t some = f->size - f->held;
        some = some < n ? some : n;
        memcpy(f->bytes + f->held, bytes, some);
        f->held += some;
        bytes += some;
        n -= some;
    }
    return 0;
}

static int sl_file_write(sl_files *files, sl_file *f, const char *items, int64_t n) {
    const uint32_t scalar = f->end->scalar;
    const uint64_t scalars = (uint64_t)n * f->end->scalars, wide = sl_scalar_bytes(scalar);
    f->items += (uint64_t)n;
    if (f->format.kind == SL_FORMAT_RAW && scalar != SLUICE_BIT) {
        return sl_file_add(files, f, items, (uint64_t)n * f->end->bytes);
    }
    const int numbers = f->format.kind != SL_FORMAT_RAW && f->format.kind != SL_FORMAT_TEXT;
    for (uint64_t i = 0; i < scalars; i++) {
        if (sl_file_room(files, f, 64) != 0) {
            return -1;
        }
        /* many at once, as far as there is room */
        if (numbers && (scalar == SLUICE_FLOAT || scalar == SLUICE_INT)) {
            const uint64_t size = (uint64_t)sl_number_bytes(f->format.number), room = (f->size - f->held) / size;
            const uint64_t some = scalars - i < room ? scalars - i : room;
            sl_numbers_put(f, scalar, items + i * wide, f->bytes + f->held, some);
            f->held += some * size;
            f->data += some * size;
            i += some - 1;
            continue;
        }
        if (f->format.kind == SL_FORMAT_RAW && f->bits == 0 && scalars - i >= 8) {
            uint64_t some = f->size - f->held;
            some = some < (scalars - i) / 8 ? some : (scalars - i) / 8;
            for (uint64_t k = 0; k < some; k++) {
                f->bytes[f->held++] = sl_bits_put(items + i + k * 8);
            }
            i += some * 8 - 1;
            continue;
        }
        if (f->format.kind == SL_FORMAT_RAW) {
            f->held_bits = f->held_bits << 1 | (items[i] != 0);
            if (++f->bits == 8) {
                f->bytes[f->held++] = (unsigned char)f->held_bits;
                f->bits = 0;
            }
        } else if (f->format.kind == SL_FORMAT_TEXT) {
            char text[40];
            int length = sl_scalar_text(scalar, items + i * wide, text);
            memcpy(f->bytes + f->held, text, (size_t)length);
            f->held += (size_t)length;
            f->bytes[f->held++] = (i + 1) % f->end->scalars == 0 ? '\n' : ' ';
        } else {
            const size_t size = (size_t)sl_number_bytes(f->format.number);
            sl_number_put(f->format.number, f->scale, sl_scalar_get(scalar, items + i * wide), scalar >= SLUICE_FLOAT, f->bytes + f->held);
            f->held += size;
            f->data += size;
        }
    }
    return f->terminal ? sl_file_flush(files, f) : 0;
}

static int sl_files_finish(sl_files *files) {
    if (sl_file_flush(files, &files->out) != 0) {
        return -1;
    }
    for (uint32_t w = 0; w < files->writers; w++) {
        sl_file *f = &files->write[w];
        if (f->fd < 0) {
            continue;
        }
        if (f->format.kind == SL_FORMAT_RAW && f->end->scalar == SLUICE_BIT && f->bits > 0) {
            if (sl_file_room(files, f, 1) != 0) {
                return -1;
            }
            f->bytes[f->held++] = (unsigned char)(f->held_bits << (8 - f->bits));
        }
        if (f->format.kind == SL_FORMAT_WAV && sl_wav_finish(files, f) != 0) {
            return -1;
        }
        int bad = sl_file_flush(files, f);
        if (bad == 0 && close(f->fd) != 0 && errno != EINTR) {
            bad = sl_fault(files, SL_EXIT_INPUT, "cannot write %s: %s", f->name, strerror(errno));
        }
        f->fd = bad == 0 ? -1 : f->fd;
        if (bad == 0 && f->temporary) {
            if (rename(f->temporary, f->target) != 0) {
                return sl_fault(files, SL_EXIT_INPUT, "cannot write %s: %s", f->name, strerror(errno));
            }
            free(f->temporary);
            f->temporary = NULL;
        }
        if (bad != 0) {
            return -1;
        }
    }
    return 0;
}

static void sl_file_close(sl_file *f) {
    if (f->fd >= 0) {
        close(f->fd);
    }
    if (f->temporary) {
        unlink(f->temporary);
    }
    free(f->temporary);
    free(f->target);
    free(f->part);
    free(f->bytes);
}

static void sl_files_destroy(sl_files *files) {
    for (uint32_t i = 0; files->read && i < files->readers; i++) {
        sl_file_close(&files->read[i]);
    }
    for (uint32_t i = 0; files->write && i < files->writers; i++) {
        sl_file_close(&files->write[i]);
    }
    free(files->read);
    free(files->write);
    free(files->out.bytes);
}
