/* Printing: values as text, gathered until the text is handed to the host. */
#include "sl_engine.h"

static void sl_hand_over(sl_ctx *ctx, int32_t end);

/* Before a print or a write: what another end still holds goes out first where the order can be seen. */
static void sl_turn(sl_ctx *ctx, int32_t end) {
    if (ctx->last_end != end) {
        if (ctx->ordered && ctx->last_end != -2) {
            sl_hand_over(ctx, ctx->last_end);
        }
        ctx->last_end = end;
    }
}

/* Hands gathered text to the host. */
static void sl_flush_print(sl_ctx *ctx) {
    size_t length = ctx->print_length;
    ctx->print_length = 0;
    if (length > 0 && ctx->host.print(ctx->host.user, ctx->print, length) != 0) {
        sl_stop_run(ctx, SLUICE_HOST, "the text that the program printed could not be written");
    }
}

SL_ENGINE void sl_print_text(sl_ctx *ctx, const char *text, size_t length) {
    if (ctx->attempting) {
        sl_hold_text(ctx, text, length);
        return;
    }
    const size_t out = (size_t)sl_already_out(ctx, ctx->program->abi->writer_count, (int64_t)length);
    text += out;
    length -= out;
    sl_turn(ctx, -1);
    while (length > 0) {
        size_t room = SL_PRINT_BYTES - ctx->print_length;
        size_t n = length < room ? length : room;
        memcpy(ctx->print + ctx->print_length, text, n);
        ctx->print_length += n;
        text += n;
        length -= n;
        if (ctx->print_length == SL_PRINT_BYTES) {
            sl_flush_print(ctx);
        }
    }
}

/* The digits of a number from its end backwards. Gives where they begin. */
static char *sl_digits(char *end, uint64_t value) {
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

SL_ENGINE void sl_print_int(sl_ctx *ctx, int32_t value) {
    char text[16], *end = text + sizeof text;
    char *at = sl_digits(end, value < 0 ? (uint64_t)-(int64_t)value : (uint64_t)value);
    if (value < 0) {
        *--at = '-';
    }
    sl_print_text(ctx, at, (size_t)(end - at));
}

/* What `%f` makes of most values, a seventh of the time that the C library takes: the product with a million is exact in 128 bits, and so is what is rounded off, to the nearest, halves to even ones. Of
 * values of 2^43 and more it would be too large. Gives where the text begins, which ends at `end`; NULL for those. */
static char *sl_six_places(char *end, uint64_t bits) {
#ifdef __SIZEOF_INT128__
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t digits = (bits & 0xfffffffffffffu) | (uint64_t)(exponent > 0) << 52;
    const int shift = 1075 - (exponent > 0 ? exponent : 1);
    if (shift < 10) {
        return NULL;
    }
    uint64_t millionths = 0;
    if (shift < 128) {
        __extension__ typedef unsigned __int128 wide;
        const wide product = (wide)digits * 1000000, one = 1;
        const wide rest = product & ((one << shift) - 1), half = one << (shift - 1);
        millionths = (uint64_t)(product >> shift);
        millionths += rest > half || (rest == half && (millionths & 1));
    }
    uint32_t part = (uint32_t)(millionths % 1000000);
    for (int i = 0; i < 6; i++) {
        *--end = (char)('0' + part % 10);
        part /= 10;
    }
    *--end = '.';
    end = sl_digits(end, millionths / 1000000);
    if (bits >> 63) {
        *--end = '-';
    }
    return end;
#else
    (void)end, (void)bits;
    return NULL;
#endif
}

SL_ENGINE void sl_print_double(sl_ctx *ctx, double value) {
    char text[400];
    uint64_t bits;
    memcpy(&bits, &value, 8);
    uint64_t size = bits & 0x7fffffffffffffffu;
    if (size > 0x7ff0000000000000u) {
        sl_print_text(ctx, "nan", 3);
        return;
    }
    if (size == 0x7ff0000000000000u) {
        sl_print_text(ctx, bits >> 63 ? "-inf" : "inf", bits >> 63 ? 4 : 3);
        return;
    }
    char *end = text + 40;
    char *at = sl_six_places(end, bits);
    if (at) {
        sl_print_text(ctx, at, (size_t)(end - at));
        return;
    }
    int n = snprintf(text, sizeof text, "%f", value);
    /* whatever the locale has between the digits is a point here */
    int i = text[0] == '-';
    while (i < n && text[i] >= '0' && text[i] <= '9') {
        i++;
    }
    if (i < n) {
        text[i] = '.';
        int j = i + 1;
        while (j < n && (text[j] < '0' || text[j] > '9')) {
            j++;
        }
        memmove(text + i + 1, text + j, (size_t)(n - j));
        n -= j - (i + 1);
    }
    sl_print_text(ctx, text, n > 0 ? (size_t)n : 0);
}

SL_ENGINE void sl_print_float(sl_ctx *ctx, float value) { sl_print_double(ctx, (double)value); }

SL_ENGINE void sl_print_boolean(sl_ctx *ctx, uint8_t value) { sl_print_text(ctx, value ? "true" : "false", value ? 4 : 5); }

SL_ENGINE void sl_print_bit(sl_ctx *ctx, uint8_t value) { sl_print_text(ctx, value ? "1" : "0", 1); }

SL_ENGINE void sl_print_complex(sl_ctx *ctx, sl_complex value) {
    float parts[2];
    memcpy(parts, &value, sizeof parts);
    uint32_t bits;
    memcpy(&bits, &parts[1], 4);
    sl_print_float(ctx, parts[0]);
    if (bits >> 31 == 0 || (bits & 0x7fffffffu) > 0x7f800000u) {
        sl_print_text(ctx, "+", 1);
    }
    sl_print_float(ctx, parts[1]);
    sl_print_text(ctx, "i", 1);
}

static void sl_print_floats(sl_ctx *ctx, const float *parts, int n) {
    for (int i = 0; i < n; i++) {
        sl_print_text(ctx, i == 0 ? "(" : ", ", i == 0 ? 1 : 2);
        sl_print_float(ctx, parts[i]);
    }
    sl_print_text(ctx, ")", 1);
}

SL_ENGINE void sl_print_float2(sl_ctx *ctx, sl_float2 value) {
    float parts[2];
    memcpy(parts, &value, sizeof parts);
    sl_print_floats(ctx, parts, 2);
}

SL_ENGINE void sl_print_float3(sl_ctx *ctx, sl_float3 value) {
    float parts[3];
    memcpy(parts, &value, sizeof parts);
    sl_print_floats(ctx, parts, 3);
}

SL_ENGINE void sl_print_float4(sl_ctx *ctx, sl_float4 value) {
    float parts[4];
    memcpy(parts, &value, sizeof parts);
    sl_print_floats(ctx, parts, 4);
}
