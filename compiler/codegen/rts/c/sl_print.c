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

SL_ENGINE void sl_print_int(sl_ctx *ctx, int32_t value) {
    char text[16];
    int n = snprintf(text, sizeof text, "%ld", (long)value);
    sl_print_text(ctx, text, n > 0 ? (size_t)n : 0);
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
