/* Numbers in files, in binary and in text. */
#include "sl_file.h"

static int sl_number_bytes(int number) {
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

static double sl_number_get(const sl_file *f, const unsigned char *bytes, int real) {
    const double scale = real ? f->scale : 1.0;
    switch (f->format.number) {
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
    case SL_S16:
        return (int16_t)(bytes[0] | bytes[1] << 8) * scale;
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

/* To the nearest whole number, limited; a NaN is 0. */
static int32_t sl_whole(double value, double least, double most) {
    value = round(value);
    if (!(value > least)) {
        return value <= least ? (int32_t)least : 0;
    }
    return value < most ? (int32_t)value : (int32_t)most;
}

static void sl_number_put(sl_file *f, double value, int real) {
    unsigned char *to = f->bytes + f->held;
    const int bytes = sl_number_bytes(f->format.number);
    switch (f->format.number) {
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
        int32_t x = sl_whole(real ? value / f->scale : value, -top, top - 1.0);
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
    f->held += (size_t)bytes;
}

static size_t sl_scalar_bytes(uint32_t scalar) {
    return scalar <= SLUICE_BOOLEAN ? 1 : scalar == SLUICE_DOUBLE ? 8 : 4;
}

static double sl_scalar_get(uint32_t scalar, const char *bytes) {
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

static int sl_scalar_put(uint32_t scalar, double value, char *bytes) {
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
