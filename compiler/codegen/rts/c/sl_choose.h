/* Choices that are no jumps: `sl_choose_V_Cop(x, y, a, b)` is a where x op y, else b. V says what a and b are, C what x and y are: i, f or d, an int, a float, a double. Ints are
 * compared by all six operations, floats by > and >=. Of a choice a C compiler often makes a jump, above all where several depend on one condition, or where a jump follows that depends
 * on the value; a processor that guesses wrong loses some twenty cycles. gcc cannot be told to do without: here are the instructions themselves. Only in programs that have some.
 *
 * And bounds: `sl_choose_least_f(a, b)` is a < b ? a : b, `sl_choose_greatest_f(a, b)` a > b ? a : b, `sl_choose_min_f` and `sl_choose_max_f` are min and max, with d those of doubles. Of the first two, gcc
 * takes the bits to an int's register where an operand is a constant, and chooses there. */
#ifndef SL_CHOOSE_H
#define SL_CHOOSE_H

#define SL_CHOOSE_FN static inline __attribute__((always_inline, unused))

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)

/* A mask's sign says which. */
#if defined(__AVX__)
#define SL_CHOOSE_BY(s, type) \
    SL_CHOOSE_FN type sl_choose_by_##s(type mask, type a, type b) { \
        __asm__("vblendvp" #s " %1, %2, %3, %0" : "=x"(mask) : "x"(mask), "x"(a), "x"(b)); \
        return mask; \
    } \
    SL_CHOOSE_FN type sl_choose_mask_##s(int64_t bits) { \
        type mask; \
        __asm__("vmovq %1, %0" : "=x"(mask) : "r"(bits)); \
        return mask; \
    } \
    SL_CHOOSE_FN type sl_choose_less_##s(type y, type x, int equal) { \
        if (equal) \
            __asm__("vcmples" #s " %1, %2, %0" : "=x"(y) : "x"(x), "x"(y)); \
        else \
            __asm__("vcmplts" #s " %1, %2, %0" : "=x"(y) : "x"(x), "x"(y)); \
        return y; \
    }
#else
#define SL_CHOOSE_BY(s, type) \
    SL_CHOOSE_FN type sl_choose_by_##s(type mask, type a, type b) { \
        type other = mask; \
        __asm__("andps %1, %0" : "+x"(mask) : "x"(a)); \
        __asm__("andnps %1, %0" : "+x"(other) : "x"(b)); \
        __asm__("orps %1, %0" : "+x"(mask) : "x"(other)); \
        return mask; \
    } \
    SL_CHOOSE_FN type sl_choose_mask_##s(int64_t bits) { \
        type mask; \
        __asm__("movq %1, %0" : "=x"(mask) : "r"(bits)); \
        return mask; \
    } \
    SL_CHOOSE_FN type sl_choose_less_##s(type y, type x, int equal) { \
        if (equal) \
            __asm__("cmples" #s " %1, %0" : "+x"(y) : "x"(x)); \
        else \
            __asm__("cmplts" #s " %1, %0" : "+x"(y) : "x"(x)); \
        return y; \
    }
#endif
SL_CHOOSE_BY(s, float)
SL_CHOOSE_BY(d, double)

#if defined(__AVX__)
#define SL_CHOOSE_BOUND_BY(name, s, type, which) \
    SL_CHOOSE_FN type sl_choose_##name(type a, type b) { \
        type r; \
        __asm__("v" #which "s" #s " %2, %1, %0" : "=x"(r) : "x"(a), "xm"(b)); \
        return r; \
    }
#else
#define SL_CHOOSE_BOUND_BY(name, s, type, which) \
    SL_CHOOSE_FN type sl_choose_##name(type a, type b) { \
        __asm__(#which "s" #s " %1, %0" : "+x"(a) : "xm"(b)); \
        return a; \
    }
#endif
#define SL_CHOOSE_BOUND(name, s, type, which, op) SL_CHOOSE_BOUND_BY(name, s, type, which)
/* what nearly never is so is a jump, and stays one */
#define SL_CHOOSE_JUMP(m) __asm__("" : "+x"(m))

/* The comparison and the move upon it stay together. */
#define SL_CHOOSE_I(op, symbol, move) \
    SL_CHOOSE_FN int32_t sl_choose_i_i##op(int32_t x, int32_t y, int32_t a, int32_t b) { \
        __asm__("cmpl %2, %1\n\tcmov" move " %3, %0" : "+r"(b) : "r"(x), "g"(y), "rm"(a) : "cc"); \
        return b; \
    } \
    SL_CHOOSE_FN float sl_choose_f_i##op(int32_t x, int32_t y, float a, float b) { \
        return sl_choose_by_s(sl_choose_mask_s(-(int64_t)(x symbol y)), a, b); \
    } \
    SL_CHOOSE_FN double sl_choose_d_i##op(int32_t x, int32_t y, double a, double b) { \
        return sl_choose_by_d(sl_choose_mask_d(-(int64_t)(x symbol y)), a, b); \
    }
/* Where one is no number, neither the move nor the mask says yes. */
#define SL_CHOOSE_F(op, symbol, move, equal, c, type, s, o, other, os) \
    SL_CHOOSE_FN int32_t sl_choose_i_##c##op(type x, type y, int32_t a, int32_t b) { \
        __asm__("%vucomis" #s " %2, %1\n\tcmov" move " %3, %0" : "+r"(b) : "x"(x), "xm"(y), "rm"(a) : "cc"); \
        return b; \
    } \
    SL_CHOOSE_FN type sl_choose_##c##_##c##op(type x, type y, type a, type b) { \
        return sl_choose_by_##s(sl_choose_less_##s(y, x, equal), a, b); \
    } \
    SL_CHOOSE_FN other sl_choose_##o##_##c##op(type x, type y, other a, other b) { \
        return sl_choose_by_##os(sl_choose_mask_##os(-(int64_t)(x symbol y)), a, b); \
    }

#else

#if defined(__clang__)
#define SL_CHOOSE_OF(c) __builtin_unpredictable(c)
#else
#define SL_CHOOSE_OF(c) (c)
#endif
#define SL_CHOOSE_ONE(v, value, c, type, op, symbol) \
    SL_CHOOSE_FN value sl_choose_##v##_##c##op(type x, type y, value a, value b) { return SL_CHOOSE_OF(x symbol y) ? a : b; }
#define SL_CHOOSE_ALL(c, type, op, symbol) \
    SL_CHOOSE_ONE(i, int32_t, c, type, op, symbol) \
    SL_CHOOSE_ONE(f, float, c, type, op, symbol) \
    SL_CHOOSE_ONE(d, double, c, type, op, symbol)
#define SL_CHOOSE_I(op, symbol, move) SL_CHOOSE_ALL(i, int32_t, op, symbol)
#define SL_CHOOSE_F(op, symbol, move, equal, c, type, s, o, other, os) SL_CHOOSE_ALL(c, type, op, symbol)
#define SL_CHOOSE_BOUND(name, s, type, which, op) SL_CHOOSE_FN type sl_choose_##name(type a, type b) { return a op b ? a : b; }
#define SL_CHOOSE_JUMP(m)

#endif

SL_CHOOSE_I(lt, <, "l")
SL_CHOOSE_I(le, <=, "le")
SL_CHOOSE_I(gt, >, "g")
SL_CHOOSE_I(ge, >=, "ge")
SL_CHOOSE_I(eq, ==, "e")
SL_CHOOSE_I(ne, !=, "ne")
SL_CHOOSE_F(gt, >, "a", 0, f, float, s, d, double, d)
SL_CHOOSE_F(ge, >=, "ae", 1, f, float, s, d, double, d)
SL_CHOOSE_F(gt, >, "a", 0, d, double, d, f, float, s)
SL_CHOOSE_F(ge, >=, "ae", 1, d, double, d, f, float, s)
SL_CHOOSE_BOUND(least_f, s, float, min, <)
SL_CHOOSE_BOUND(least_d, d, double, min, <)
SL_CHOOSE_BOUND(greatest_f, s, float, max, >)
SL_CHOOSE_BOUND(greatest_d, d, double, max, >)

/* The second operand is given of two zeros, or beside what is no number: so they change places, and b is given where a is no number. */
#define SL_CHOOSE_WITH_NANS(name, type, by) \
    SL_CHOOSE_FN type sl_choose_##name(type a, type b) { \
        type m = sl_choose_##by(b, a); \
        if (SL_UNLIKELY(a != a)) { \
            m = b; \
            SL_CHOOSE_JUMP(m); \
        } \
        return m; \
    }
SL_CHOOSE_WITH_NANS(min_f, float, least_f)
SL_CHOOSE_WITH_NANS(min_d, double, least_d)
SL_CHOOSE_WITH_NANS(max_f, float, greatest_f)
SL_CHOOSE_WITH_NANS(max_d, double, greatest_d)

#endif
