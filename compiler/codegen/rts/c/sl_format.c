/* Numbers in files, in binary and in text. */
#include "sl_file.h"

/* What is done for many numbers at once, of one kind that is known: its loop is a vector's. */
#define SL_OF_MANY static inline __attribute__((always_inline))

SL_OF_MANY int sl_number_bytes(int number) {
    switch (number) {
    case SL_F64:
        return 8;
    case SL_F32:
    case SL_S32:
        return 4;
    case SL_S24:
        return 3;
    case SL_S16:
        return 2;
    default:
        return 1;
    }
}

SL_OF_MANY double sl_number_get(int number, double scale, const unsigned char *bytes, int real) {
    scale = real ? scale : 1.0;
    switch (number) {
    case SL_F32: {
        float x;
        memcpy(&x, bytes, 4);
        return (double)x;
    }
    case SL_F64: {
        double x;
        memcpy(&x, bytes, 8);
        return x;
    }
    case SL_S16: {
        int16_t x;
        memcpy(&x, bytes, 2);
        return x * scale;
    }
    case SL_S24:
        return ((int32_t)((uint32_t)bytes[0] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 24) >> 8) * scale;
    case SL_S32: {
        int32_t x;
        memcpy(&x, bytes, 4);
        return x * scale;
    }
    case SL_W8:
        return (bytes[0] - 128.0) * (real ? 1.0 / 128.0 : 1.0);
    case SL_RTL:
        return (bytes[0] - 127.5) / 127.5;
    default:
        return bytes[0];
    }
}

/* To the nearest whole number, halves away from zero, limited; a NaN is 0. What is cut off is exact. */
SL_OF_MANY int32_t sl_whole(double value, double least, double most) {
    value = value > least ? value : value <= least ? least : 0.0;
    value = value < most ? value : most;
    const int32_t cut = (int32_t)value;
    const double rest = value - cut;
    return cut + (rest >= 0.5) - (rest <= -0.5);
}

SL_OF_MANY void sl_number_put(int number, double scale, double value, int real, unsigned char *to) {
    const int bytes = sl_number_bytes(number);
    switch (number) {
    case SL_F32: {
        float x = (float)value;
        memcpy(to, &x, 4);
        break;
    }
    case SL_F64:
        memcpy(to, &value, 8);
        break;
    case SL_S16:
    case SL_S24:
    case SL_S32: {
        double top = (double)((uint32_t)1 << (bytes * 8 - 1));
        int32_t x = sl_whole(real ? value / scale : value, -top, top - 1.0);
        memcpy(to, &x, (size_t)bytes);
        break;
    }
    case SL_W8:
        *to = (unsigned char)sl_whole(value * (real ? 128.0 : 1.0) + 128.0, 0.0, 255.0);
        break;
    case SL_RTL:
        *to = (unsigned char)sl_whole(value * 127.5 + 127.5, 0.0, 255.0);
        break;
    default:
        *to = (unsigned char)sl_whole(value, 0.0, 255.0);
        break;
    }
}

static size_t sl_scalar_bytes(uint32_t scalar) {
    return scalar <= SLUICE_BOOLEAN ? 1 : scalar == SLUICE_DOUBLE ? 8 : 4;
}

SL_OF_MANY double sl_scalar_get(uint32_t scalar, const char *bytes) {
    if (scalar == SLUICE_INT) {
        int32_t x;
        memcpy(&x, bytes, 4);
        return x;
    }
    if (scalar == SLUICE_FLOAT) {
        float x;
        memcpy(&x, bytes, 4);
        return (double)x;
    }
    if (scalar == SLUICE_DOUBLE) {
        double x;
        memcpy(&x, bytes, 8);
        return x;
    }
    return *bytes != 0;
}

SL_OF_MANY int sl_scalar_put(uint32_t scalar, double value, char *bytes) {
    if (scalar == SLUICE_INT) {
        int32_t x = (int32_t)value;
        memcpy(bytes, &x, 4);
    } else if (scalar == SLUICE_FLOAT) {
        float x = (float)value;
        memcpy(bytes, &x, 4);
    } else if (scalar == SLUICE_DOUBLE) {
        memcpy(bytes, &value, 8);
    } else {
        if (scalar == SLUICE_BIT && value != 0.0 && value != 1.0) {
            return 0;
        }
        *bytes = value != 0.0;
    }
    return 1;
}

SL_OF_MANY void sl_numbers_get_of(int number, double scale, uint32_t scalar, const unsigned char *restrict from, char *restrict to, uint64_t n) {
    const size_t wide = (size_t)sl_number_bytes(number);
    for (uint64_t i = 0; i < n; i++) {
        (void)sl_scalar_put(scalar, sl_number_get(number, scale, from + i * wide, scalar == SLUICE_FLOAT), to + i * 4);
    }
}

SL_OF_MANY void sl_numbers_put_of(int number, double scale, uint32_t scalar, const char *restrict from, unsigned char *restrict to, uint64_t n) {
    const size_t wide = (size_t)sl_number_bytes(number);
    for (uint64_t i = 0; i < n; i++) {
        sl_number_put(number, scale, sl_scalar_get(scalar, from + i * 4), scalar == SLUICE_FLOAT, to + i * wide);
    }
}

/* The kinds of numbers, one by one. */
#define SL_EACH_NUMBER(which, of) \
    switch (which) { \
    case SL_F32: of(SL_F32); break; \
    case SL_F64: of(SL_F64); break; \
    case SL_S16: of(SL_S16); break; \
    case SL_S24: of(SL_S24); break; \
    case SL_S32: of(SL_S32); break; \
    case SL_W8: of(SL_W8); break; \
    case SL_RTL: of(SL_RTL); break; \
    default: of(SL_U8); break; \
    }

/* Numbers of a file as floats or ints, and such as numbers. */
static void sl_numbers_get(const sl_file *f, uint32_t scalar, const unsigned char *from, char *to, uint64_t n) {
#define SL_FLOATS(number) sl_numbers_get_of(number, f->scale, SLUICE_FLOAT, from, to, n)
#define SL_INTS(number) sl_numbers_get_of(number, f->scale, SLUICE_INT, from, to, n)
    if (scalar == SLUICE_FLOAT) {
        SL_EACH_NUMBER(f->format.number, SL_FLOATS)
    } else {
        SL_EACH_NUMBER(f->format.number, SL_INTS)
    }
#undef SL_FLOATS
#undef SL_INTS
}

static void sl_numbers_put(const sl_file *f, uint32_t scalar, const char *from, unsigned char *to, uint64_t n) {
#define SL_FLOATS(number) sl_numbers_put_of(number, f->scale, SLUICE_FLOAT, from, to, n)
#define SL_INTS(number) sl_numbers_put_of(number, f->scale, SLUICE_INT, from, to, n)
    if (scalar == SLUICE_FLOAT) {
        SL_EACH_NUMBER(f->format.number, SL_FLOATS)
    } else {
        SL_EACH_NUMBER(f->format.number, SL_INTS)
    }
#undef SL_FLOATS
#undef SL_INTS
}

/* Eight bits of a byte as bytes, the highest first: each byte of the word keeps its own, and what is not 0 becomes 1. */
static inline void sl_bits_get(unsigned char byte, char *to) {
    const uint64_t lowest = 0x0101010101010101;
    uint64_t own = byte * lowest & 0x0102040810204080;
    own = (own + 0x7F * lowest) >> 7 & lowest;
    memcpy(to, &own, 8);
}

/* And back: the product's highest byte is the sum of all bits, each moved to its place. */
static inline unsigned char sl_bits_put(const char *from) {
    uint64_t word;
    memcpy(&word, from, 8);
    return (unsigned char)((word & 0x0101010101010101) * 0x8040201008040201 >> 56);
}

static int sl_scalar_text(uint32_t scalar, const char *bytes, char *text) {
    double value = sl_scalar_get(scalar, bytes);
    if (scalar == SLUICE_INT || scalar == SLUICE_BIT) {
        return sprintf(text, "%ld", (long)value);
    }
    if (scalar == SLUICE_BOOLEAN) {
        return sprintf(text, value != 0.0 ? "true" : "false");
    }
    if (isnan(value)) {
        return sprintf(text, "NaN");
    }
    if (isinf(value)) {
        return sprintf(text, value < 0 ? "-inf" : "inf");
    }
    char digits[40];
    int least = 0, most = scalar == SLUICE_FLOAT ? 8 : 16;
    /* The fewest digits that come back as the value. With one more the text is no farther from the value, and comes back, too, where the values on both sides are equally far: so half of what is left is
     * tried. Of powers of two the one below is nearer: there all are tried from the fewest on. */
    int whole = 0;
    const int power = value != 0.0 && frexp(fabs(value), &whole) == 0.5;
    while (least < most) {
        const int p = power ? least : (least + most) / 2;
        sprintf(digits, "%.*e", p, fabs(value));
        const int back = scalar == SLUICE_FLOAT ? strtof(digits, NULL) == (float)fabs(value) : strtod(digits, NULL) == fabs(value);
        if (!back) {
            least = p + 1;
        } else {
            most = p;
        }
    }
    sprintf(digits, "%.*e", least, fabs(value));
    char *e = strchr(digits, 'e');
    int exponent = e ? atoi(e + 1) : 0, n = 0;
    for (char *c = digits; c < e; c++) {
        if (*c != '.') {
            digits[n++] = *c;
        }
    }
    char *to = text;
    if (signbit(value)) {
        *to++ = '-';
    }
    if (value != 0.0 && (exponent < -4 || exponent >= 16)) {
        to += sprintf(to, "%c%s%.*se%d", digits[0], n > 1 ? "." : "", n - 1, digits + 1, exponent);
    } else if (exponent < 0) {
        to += sprintf(to, "0.%.*s%.*s", -exponent - 1, "0000", n, digits);
    } else {
        for (int i = 0; i <= exponent; i++) {
            *to++ = i < n ? digits[i] : '0';
        }
        *to++ = '.';
        to += n > exponent + 1 ? sprintf(to, "%.*s", n - exponent - 1, digits + exponent + 1) : sprintf(to, "0");
    }
    return (int)(to - text);
}

static int sl_scalar_parse(uint32_t scalar, const char *word, char *bytes) {
    if (scalar <= SLUICE_BOOLEAN) {
        int yes = strcmp(word, "1") == 0 || (scalar == SLUICE_BOOLEAN && strcmp(word, "true") == 0);
        int no = strcmp(word, "0") == 0 || (scalar == SLUICE_BOOLEAN && strcmp(word, "false") == 0);
        *bytes = (char)yes;
        return yes || no;
    }
    const char *digits = word + (*word == '-' || *word == '+');
    char *end;
    errno = 0;
    if (scalar == SLUICE_INT) {
        long long value;
        if (digits[0] == '0' && (digits[1] | 32) == 'x') {
            if (strspn(digits + 2, "0123456789abcdefABCDEF") == 0) {
                return 0;
            }
            unsigned long long wide = strtoull(digits + 2, &end, 16);
            value = wide <= 0xffffffffu ? (int32_t)(uint32_t)wide : INT64_MAX / 2;
        } else {
            if (*digits < '0' || *digits > '9') {
                return 0;
            }
            value = strtoll(digits, &end, 10);
        }
        value = *word == '-' ? -value : value;
        int32_t x = (int32_t)value;
        memcpy(bytes, &x, 4);
        return *end == 0 && errno == 0 && value >= INT32_MIN && value <= INT32_MAX;
    }
    /* C also takes hexadecimal and `nan(...)`; the language's formats do not */
    if (strpbrk(word, "xXpP(") || *digits == 0 || *digits == '-' || *digits == '+') {
        return 0;
    }
    if (scalar == SLUICE_FLOAT) {
        float x = strtof(word, &end);
        memcpy(bytes, &x, 4);
    } else {
        double x = strtod(word, &end);
        memcpy(bytes, &x, 8);
    }
    return *end == 0;
}

static const char *sl_scalar_expected(uint32_t scalar) {
    switch (scalar) {
    case SLUICE_BIT:
        return "0 or 1";
    case SLUICE_BOOLEAN:
        return "true or false, 1 or 0";
    case SLUICE_INT:
        return "a whole number from -2147483648 to 2147483647";
    default:
        return "a number";
    }
}
