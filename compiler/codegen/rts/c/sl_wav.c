/* WAV files: the header in both directions. */
#include "sl_file.h"

static uint32_t sl_le(const unsigned char *b, int n) {
    uint32_t x = 0;
    for (int i = n; i-- > 0;) {
        x = x << 8 | b[i];
    }
    return x;
}

/* The next `n` bytes (at most 64) of the file are in the buffer. */
static int sl_wav_need(sl_files *files, sl_file *f, size_t n) {
    while (f->held - f->at < n) {
        int more = sl_file_more(files, f, 1);
        if (more == -2) {
            return -1;
        }
        if (more < 1) {
            return sl_fault(files, SL_EXIT_INPUT, "%s is not a WAV file that can be read: it ends in its header", f->name);
        }
    }
    return 0;
}

static int sl_wav_read_header(sl_files *files, sl_file *f) {
    int seen = 0;
    if (sl_wav_need(files, f, 12) != 0) {
        return -1;
    }
    if (memcmp(f->bytes + f->at, "RIFF", 4) != 0 || memcmp(f->bytes + f->at + 8, "WAVE", 4) != 0) {
        return sl_fault(files, SL_EXIT_INPUT, "%s is not a WAV file that can be read: no RIFF header", f->name);
    }
    f->at += 12;
    for (;;) {
        if (sl_wav_need(files, f, 8) != 0) {
            return -1;
        }
        const unsigned char *chunk = f->bytes + f->at;
        uint64_t size = sl_le(chunk + 4, 4);
        int is_format = memcmp(chunk, "fmt ", 4) == 0, is_data = memcmp(chunk, "data", 4) == 0;
        f->at += 8;
        if (is_data) {
            if (!seen) {
                return sl_fault(files, SL_EXIT_INPUT, "%s is not a WAV file that can be read: no format", f->name);
            }
            /* a stream that was written without going back to its header says 0 or all ones */
            int open = (size == 0 && !f->regular) || size >= 0xffffff00u;
            f->left = open ? UINT64_MAX : size;
            return 0;
        }
        if (is_format) {
            size_t take = size < 40 ? (size_t)size : 40;
            if (take < 16) {
                return sl_fault(files, SL_EXIT_INPUT, "%s is not a WAV file that can be read: its format is too short", f->name);
            }
            if (sl_wav_need(files, f, take) != 0) {
                return -1;
            }
            const unsigned char *b = f->bytes + f->at;
            uint32_t tag = sl_le(b, 2), block = sl_le(b + 12, 2), bits = sl_le(b + 14, 2);
            if (tag == 0xfffe && take >= 26) {
                tag = sl_le(b + 24, 2);
            }
            f->channels = sl_le(b + 2, 2);
            f->rate = sl_le(b + 4, 4);
            uint32_t width = f->channels ? block / f->channels : 0;
            static const int numbers[] = {SL_W8, SL_W8, SL_S16, SL_S24, SL_S32};
            if (tag == 3 && width == 4) {
                f->format.number = SL_F32;
            } else if (tag == 3 && width == 8) {
                f->format.number = SL_F64;
            } else if (tag == 1 && width >= 1 && width <= 4 && (bits == 8 * width || (bits == 24 && width == 4))) {
                f->format.number = numbers[width];
                f->scale = ldexp(1.0, 1 - (int)bits);
            } else if (f->channels == 0) {
                return sl_fault(files, SL_EXIT_INPUT, "%s is not a WAV file that can be read: it has no channels", f->name);
            } else if (tag != 1 && tag != 3) {
                return sl_fault(files, SL_EXIT_INPUT, "%s: WAV samples of format %u are not supported (1: integers, 3: floats)", f->name, tag);
            } else {
                return sl_fault(files, SL_EXIT_INPUT, "%s: WAV samples of %u bits in %u bytes are not supported (integers of 8, 16, 24 and 32 bits, floats of 32 and 64)",
                                f->name, bits, width);
            }
            seen = 1;
        }
        /* chunks have even lengths */
        for (uint64_t skip = size + size % 2; skip > 0;) {
            if (sl_wav_need(files, f, 1) != 0) {
                return -1;
            }
            size_t some = f->held - f->at;
            some = some < skip ? some : (size_t)skip;
            f->at += some;
            skip -= some;
        }
    }
}

/* Does a stream of so many bytes, whose header does not say how many are samples, end with the byte that makes them an even number? */
static int sl_wav_ends_in_pad(const sl_file *f, uint64_t bytes) {
    return f->format.kind == SL_FORMAT_WAV && f->left == UINT64_MAX && sl_number_bytes(f->format.number) == 3 && bytes % 3 == 1 && bytes % 2 == 0;
}

/* Notes what a header promised that did not come, and a last frame that not all channels have; `held`: bytes after the last whole item. */
static void sl_wav_ended(sl_file *f, uint64_t held) {
    if (f->format.kind != SL_FORMAT_WAV) {
        return;
    }
    if (f->ended && f->left != UINT64_MAX && f->left > held) {
        f->missing = f->left - held;
        f->leftover = 0;
    } else if (held == 0) {
        f->torn = (uint32_t)(f->items * f->end->scalars % f->channels);
    }
}

static void sl_wav_put(sl_file *f, uint32_t value, int bytes) {
    memcpy(f->bytes + f->held, &value, (size_t)bytes);
    f->held += (size_t)bytes;
}

static void sl_wav_write_header(sl_file *f) {
    const uint32_t width = (uint32_t)sl_number_bytes(f->format.number), tag = f->format.number == SL_F32 ? 3 : 1;
    /* more than 16 bits or two channels are told in the long form, as `sluice run` has it: which channel is which loudspeaker's, and the kind of numbers as a GUID */
    const int wide = width > 2 || f->channels > 2;
    const uint32_t loudspeakers = f->channels < 18 ? (1u << f->channels) - 1 : 0x3ffff;
    sl_wav_put(f, 0x46464952, 4); /* RIFF */
    sl_wav_put(f, 0xffffffff, 4);
    sl_wav_put(f, 0x45564157, 4); /* WAVE */
    sl_wav_put(f, 0x20746d66, 4); /* fmt */
    sl_wav_put(f, wide ? 40 : 16, 4);
    sl_wav_put(f, wide ? 0xfffe : tag, 2);
    sl_wav_put(f, f->channels, 2);
    sl_wav_put(f, f->rate, 4);
    sl_wav_put(f, f->rate * f->channels * width, 4);
    sl_wav_put(f, f->channels * width, 2);
    sl_wav_put(f, 8 * width, 2);
    if (wide) {
        sl_wav_put(f, 22, 2);
        sl_wav_put(f, 8 * width, 2);
        sl_wav_put(f, loudspeakers, 4);
        sl_wav_put(f, tag, 4);
        sl_wav_put(f, 0x00100000, 4);
        sl_wav_put(f, 0xaa000080, 4);
        sl_wav_put(f, 0x719b3800, 4);
    }
    sl_wav_put(f, 0x61746164, 4); /* data */
    sl_wav_put(f, 0xffffffff, 4);
    f->header = f->held;
}

static int sl_wav_finish(sl_files *files, sl_file *f) {
    uint64_t frame = (uint64_t)sl_number_bytes(f->format.number) * f->channels;
    uint64_t fill = (frame - f->data % frame) % frame;
    uint64_t padded = f->data + fill + (f->data + fill) % 2;
    for (uint64_t i = f->data; i < padded; i++) {
        if (sl_file_room(files, f, 1) != 0) {
            return -1;
        }
        f->bytes[f->held++] = 0;
    }
    f->filled = fill / (uint64_t)sl_number_bytes(f->format.number);
    f->data += fill;
    if (sl_file_flush(files, f) != 0) {
        return -1;
    }
    uint64_t whole = padded + f->header - 8;
    f->too_long = whole > UINT32_MAX;
    if (f->temporary && !f->too_long) {
        uint32_t sizes[2] = {(uint32_t)whole, (uint32_t)f->data};
        if (pwrite(f->fd, &sizes[0], 4, 4) != 4 || pwrite(f->fd, &sizes[1], 4, (off_t)f->header - 4) != 4) {
            return sl_fault(files, SL_EXIT_INPUT, "cannot write %s: %s", f->name, strerror(errno));
        }
    }
    return 0;
}
