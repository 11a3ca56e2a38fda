#!/usr/bin/env python3
"""Computes the .expect files of the programs that are too long for the head, from models of the algorithms in Python and
numpy, never from our own output. The other .expect files follow by hand from docs/language.md.

Run it after adding a model: python3 tests/run/make_expected.py (needs numpy).
"""
import base64
import cmath
import datetime
import math
import os
import zlib
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PI = math.pi


def write(name, lines):
    with open(os.path.join(HERE, name + ".expect"), "w") as f:
        f.writelines(str(line) + "\n" for line in lines)


def i32(x):
    return (x + 2**31) % 2**32 - 2**31


def f(x):
    x = float(x)
    return "%f" % (x if abs(x) > 4e-7 else 0.0)


def row(xs, end=" "):
    return "".join(str(x) + end for x in xs)


# --- operators; every value worked out by the precedence table (shifts with *, one level for & | ^ below ==)
a, b, c, d, e, g6, g, h = range(1, 9)
write("op_precedence_at_run_time", [
    (g << b) + a,
    a + (b << c),
    (e | b) & a,
    (g6 ^ c) | d,
    (g6 & c) ^ e,
    a | int(b == b),
    c & int(d == d),
    (h >> a) * b,
    (h * b) >> c,
    (h // b) << a,
    ((g % d) << b) % c,
    a + b * c - (d // b) % c,
    "true",
    a - b - c,
    h // d // b,
    -a * b,
    "true",
    g6 if not d > c else e,
    ~a & h,
    -b >> a,
])
a, b = 0x0F0F, 0xFF
write("op_bitwise", [a & b, a | b, a ^ b, ~a, a & ~b, (a >> 4) & 15, 255, 10, 6 & int(3 == 2)])
x = 0.5
write("math_functions", [f(v) for v in [
    math.sin(x), math.cos(x), math.tan(x), math.asin(x), math.acos(x), math.atan(x), math.atan2(-1, x), math.sinh(x),
    math.cosh(x), math.tanh(x), math.asinh(x), math.acosh(1.5), math.atanh(x), math.exp(x), math.expm1(x), math.log(x),
    math.log10(x), math.sqrt(x), x**3.5, 1024, math.sqrt(2)]])
write("math_double_functions", [f(v) for v in [
    1000 * math.sin(x), 1000 * math.exp(x), 1000 * x**0.25, 1000 * math.atan2(x, 3), 3, 0.5, 0.5, 1000 * math.sqrt(x)]])
total = 0
for i in range(1, 4):
    j = i
    while True:
        total += (1, 10, 100)[j % 3]
        j += 2
        if not j < 8:
            break
write("stmt_collatz_like_nesting", [total])

# --- graphs
lanes = [[], [], []]
for k in range(0, 18, 6):
    lanes[0] += [k]
    lanes[1] += [k + 1, k + 2]
    lanes[2] += [k + 3, k + 4, k + 5]
write("graph_splitjoin_uneven_reorders", lanes[0][:3] + lanes[1][:6] + lanes[2][:9])
y, inner, late = [0, 0], 0, []
for n in range(6):
    inner += n - y[n]
    y.append(inner)
write("graph_feedback_nested", y[2:])

# --- applications
X = [(7 * k + 3) % 11 - 5 for k in range(200)]
t = np.arange(9) - 4
taps = np.sin(PI / 3 * t) / np.where(t == 0, 1, PI * t)
taps[4] = 1 / 3
write("app_fir", [f(np.dot(taps, X[k:k + 9])) for k in range(10)])
z = np.array([(3 * k) % 7 - 3 + 1j * ((5 * k + 1) % 4) for k in range(16)])
z = np.concatenate([np.fft.fft(z[:8]), np.fft.fft(z[8:])])
write("app_fft8", ["%s %s" % (f(v.real), f(v.imag)) for v in z])
write("app_dct8", [f(math.sqrt((1 if k == 0 else 2) / 8) * sum(X[8 * m + n] * math.cos((2 * n + 1) * k * PI / 16) for n in range(8)))
                   for m in range(2) for k in range(8)])
S = [(k * 7919 + 5) % 101 for k in range(100)]
write("app_bubble_sort", [v for m in range(3) for v in sorted(S[6 * m:6 * m + 6])])
write("app_bitonic_sort", [v for m in range(2) for v in sorted(S[16 * m:16 * m + 16])])
write("app_merge_sort", [v for m in range(2) for v in sorted(S[8 * m:8 * m + 8])])
write("app_radix_sort", sorted((k * 7919 + 5) % 256 for k in range(16)))
out = []
for m in range(2):
    v = np.arange(18) + 18 * m
    out += list((v[:6].reshape(2, 3) @ v[6:].reshape(3, 4)).ravel())
write("app_matrix_multiply", out)
v = np.arange(32) / 2
write("app_matrix_blocks", [f(x) for x in (v[:16].reshape(4, 4) @ v[16:].reshape(4, 4)).ravel()])

table = [15, 6, 19, 20, 28, 11, 27, 16, 0, 14, 22, 25, 4, 17, 30, 9]
word = "{:032b}".format(0x12345678)
bits = "".join(word[k] for k in table) + "".join(str(int(word[k]) ^ int(word[31 - k])) for k in range(16))
write("app_bit_permutation", [i32(int(bits, 2))])


def feistel(left, right, keys):
    for key in keys:
        left, right = right, left ^ (((right * 0x9E37 + key) ^ (right >> 3)) & 0xFFFF)
    return right, left


keys = [k * 0x1234 + 77 for k in range(8)]
out = []
for k in range(0, 6, 2):
    enc = feistel(k, k + 1, keys)
    assert feistel(*enc, keys[::-1]) == (k, k + 1)
    out.append("%d %d %d %d" % (*enc, k, k + 1))
write("app_feistel", out)

K = [0x01234567, 0x89ABCDEF, 0xFEDCBA98, 0x76543210]
out, M = [], 2**32
for k in range(0, 4, 2):
    v0, v1, s = k, k + 1, 0
    for _ in range(32):
        s = (s + 0x9E3779B9) % M
        v0 = (v0 + ((((v1 << 4) + K[0]) ^ (v1 + s) ^ ((v1 >> 5) + K[1])) % M)) % M
        v1 = (v1 + ((((v0 << 4) + K[2]) ^ (v0 + s) ^ ((v0 >> 5) + K[3])) % M)) % M
    out += [i32(v0), i32(v1)]
write("app_tea", out)
text = b"123456789"
write("app_crc32", [i32(zlib.crc32(s)) for s in (text, text, bytes(v + 1 for v in text))])
out = []
for k in range(4):
    x = crc = k * 37 & 255
    for _ in range(8):
        crc = (crc << 1) ^ 0x107 if crc & 0x80 else crc << 1
    out.append(((x << 8) | crc) & 255)
write("app_crc8_bits", out)
out, s = [], 1
for _ in range(20):
    out.append(s & 1)
    s = (s >> 1) ^ (0xB8 if s & 1 else 0)
write("app_lfsr", out)
s = [1, 0, 0, 0, 0]
for k in range(31):
    s.append(s[k] ^ s[k + 2])
write("app_lfsr_feedback", s[5:])
out, s = [], [0] * 7
for k in range(16):
    x = int(k % 3 == 0)
    y = x ^ s[3] ^ s[6]
    s = [y] + s[:6]
    out.append("%d %d" % (y, x))
write("app_scrambler", out)
out = []
for m in range(2):
    counts = [0] * 5
    for k in range(20 * m, 20 * m + 20):
        counts[k * k % 17 * 5 // 17] += 1
    out += ["#" * n + " %d" % n for n in counts]
write("app_histogram", out)
v = [abs((1 + 0.5 * math.sin(0.03125 * k)) * math.cos(1.5 * k)) for k in range(96)]
write("app_am_radio", [f(max(v[16 * m:16 * m + 16])) for m in range(6)])
write("app_fm_round_trip", [f((k * 3 % 8 - 4) * 0.25) for k in range(1, 9)])
out = []
for m in range(2):
    block = [k // 3 % 2 + k // 7 % 2 for k in range(10 * m, 10 * m + 10)]
    runs = []
    for x in block:
        if runs and runs[-1][1] == x:
            runs[-1][0] += 1
        else:
            runs.append([1, x])
    runs += [[0, 0]] * (10 - len(runs))
    out.append(" ".join(str(x) for x in sum(runs, []) + block + block))
write("app_run_length", out)
out, p, q = [], 0, 0
for k in range(12):
    x = k * k // 2 % 2
    out.append("%d%d" % (x ^ p ^ q, x ^ q))
    p, q = x, p
write("app_convolutional_code", out)
v = [str(k * k // 3 % 2) for k in range(32)]
write("app_viterbi", ["".join(v[:16])] * 2 + ["".join(v[16:])] * 2)
cells = {(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)}
out = []
for _ in range(3):
    near = lambda r, c: sum(((r + i) % 6, (c + j) % 6) in cells for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    cells = {(r, c) for r in range(6) for c in range(6) if near(r, c) == 3 or near(r, c) == 2 and (r, c) in cells}
    out += ["".join("#" if (r, c) in cells else "." for c in range(6)) for r in range(6)] + [""]
write("app_game_of_life", out)
out = []
for y in range(9):
    line = ""
    for x in range(24):
        c, z, n = complex(-2 + x * 0.125, -1 + y * 0.25), 0, 0
        re, im = np.float32(0), np.float32(0)
        cr, ci = np.float32(c.real), np.float32(c.imag)
        while n < 30 and re * re + im * im <= 4:
            re, im, n = re * re - im * im + cr, re * im + im * re + ci, n + 1
        line += "#" if n >= 30 else "+" if n > 6 else "." if n > 3 else " "
    out.append(line + "|")
write("app_mandelbrot", out)
angles = [12868, 7596, 4014, 2037, 1023, 512, 256, 128, 64, 32, 16, 8, 4, 2]
out = []
for k in range(5):
    z, x, y = (k - 2) * 6000, 9949, 0
    for i, turn in enumerate(angles):
        s = 1 if z >= 0 else -1
        x, y, z = x - s * (y >> i), y + s * (x >> i), z - s * turn
    assert abs(x - 16384 * math.cos((k - 2) * 6000 / 16384)) < 20
    out.append("%d %d" % (x, y))
write("app_cordic", out)
v = [math.sin(2 * PI * 0.125 * k) + 0.5 * math.sin(2 * PI * 0.25 * k) for k in range(64)]
write("app_goertzel", [f(abs(sum(x * cmath.exp(-2j * PI * i / 16 * k) for k, x in enumerate(v))) ** 2 / (64 * 64 / 4)) for i in range(1, 5)])
barker = [1, 1, 1, -1, -1, 1, -1]
v = [(barker[k - 6] if 0 <= k - 6 < 7 else 0) * 10 + k * 7 % 5 - 2 for k in range(40)]
corr = [sum(barker[i] * v[k + i] for i in range(7)) for k in range(20)]
write("app_matched_filter", ["found at %d" % k for k, x in enumerate(corr) if x > 50] + ["best %d" % max(corr)])
wave = lambda which, k: math.sin(0.3 * (k - 2 * which)) + 0.1 * which
out = []
for m in range(2):
    for lag in range(4):
        beam = [sum(wave(i, k + i * lag) for i in range(4)) / 4 for k in range(21 * m, 21 * m + 21)]
        out.append(f(sum(x * x for x in beam) / 21))
write("app_beamformer", out)
out = []
for m in range(2):
    out += [f(x) for x in np.fft.ifft(np.abs(np.fft.fft(X[8 * m:8 * m + 8]))).real]
write("app_vocoder", out)
out, CODE = [], ["0", "10", "110", "111"]
for m in range(2):
    v = [k * k % 7 % 4 for k in range(8 * m, 8 * m + 8)]
    out.append(row([int("".join(CODE[s] for s in v).ljust(24, "0"), 2)] + v))
write("app_huffman", out)
seed, inside = 1, 0


def rand():
    global seed
    seed = i32(seed * 1103515245 + 12345)
    return seed >> 16 & 0x7FFF


for _ in range(1000):
    x, y = rand() - 16384, rand() - 16384
    inside += x * x + y * y < 16384 * 16384
write("app_monte_carlo", [inside, seed])
key, plain = [ord(x) - 65 for x in "SLUICE"], [ord(x) for x in "FLOW"] * 3
out = []
for k, x in enumerate(plain):
    out += [(x - 65 + key[k % 6]) % 26 + 65, x]
write("app_vigenere", [row(out[8 * m:8 * m + 8]) for m in range(3)])
v = base64.b64encode(bytes(k * 83 % 256 for k in range(12)))
write("app_base64", [" ".join(str(x) for x in v[4 * m:4 * m + 4]) for m in range(4)])
write("app_gray_code", ["%d %d" % (k ^ (k >> 1), k) for k in range(10)])
v = [k * 37 % 23 for k in range(12)]
write("app_median_filter", [sorted(v[k:k + 5])[2] for k in range(8)])
p = np.array([[9 if x > y else x * y % 3 for x in range(7)] for y in range(6)])
q = np.zeros_like(p)
gx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
for y in range(1, 5):
    for x in range(1, 6):
        w = p[y - 1:y + 2, x - 1:x + 2]
        q[y, x] = abs((gx * w).sum()) + abs((gx.T * w).sum())
write("app_sobel", [row(r) for r in q])
out, at, step, last, dat, dstep, dlast = [], 0, 1, 0, 0, 1, 0
for k in range(20):
    x = k * 12 if k < 10 else (20 - k) * 12
    bit = int(x > at)
    step = min(step * 2, 64) if bit == last else max(step // 2, 1)
    at += step if bit else -step
    last = bit
    out.append(at)
write("app_adaptive_delta", out)
x1 = x2 = y1 = y2 = 0
out = []
for k in range(8):
    y = 0.25 + 0.5 * x1 + 0.25 * x2 + 0.5 * y1 - 0.3 * y2
    x1, x2, y1, y2 = 1, x1, y, y1
    out.append(f(y))
write("app_biquad", out)
H = np.array([[1]])
for _ in range(3):
    H = np.block([[H, H], [H, -H]])
v = [k * k % 10 for k in range(16)]
write("app_walsh_hadamard", [row(H @ v[8 * m:8 * m + 8]) for m in range(2)])
v, out = [False] * 15, []
v[7] = True
for _ in range(6):
    w = [False] + v + [False]
    v = [w[i - 1] != (w[i] or w[i + 1]) for i in range(1, 16)]
    out.append("".join("#" if x else "." for x in v))
write("app_rule_30", out)
out = []
for k in range(2):
    s = bytes(c ^ k for c in b"hello world")
    fnv, djb = 0x811C9DC5, 5381
    for c in s:
        fnv = (fnv ^ c) * 16777619 % 2**32
        djb = djb * 33 + c
    out += [i32(zlib.adler32(s)), i32(fnv), i32(djb)]
write("app_checksums", out)
v = [k % 4 * 3 - 4 for k in range(40)]
write("app_autocorrelation", [row(sum(v[8 * m + i] * v[8 * m + i + k] for i in range(8)) for k in range(6)) for m in range(2)])
v = [k * 5 % 13 - 6.5 for k in range(40)]
write("app_zero_crossings", [sum((v[k] < 0) != (v[k + 1] < 0) for k in range(10 * m, 10 * m + 10)) for m in range(3)])
x = y = z = 1.0
out = []
for _ in range(5):
    for _ in range(10):
        x, y, z = x + 0.005 * 10 * (y - x), y + 0.005 * (x * (28 - z) - y), z + 0.005 * (x * y - z * 8 / 3)
    out.append("%s %s %s" % (f(x), f(y), f(z)))
write("app_lorenz", out)
maze = ["001000", "101010", "000010", "011110", "000010"]
dist, todo = {(0, 0): 0}, [(0, 0)]
for r, c in todo:
    for q in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
        if 0 <= q[0] < 5 and 0 <= q[1] < 6 and maze[q[0]][q[1]] == "0" and q not in dist:
            dist[q] = dist[r, c] + 1
            todo.append(q)
write("app_maze_search", [dist[4, 5], dist[4, 3], len(todo)])
start = datetime.date(2000, 3, 1)
out = []
for k in range(6):
    day = start + datetime.timedelta(days=k * 3000 + 59)
    out.append("%d-%d-%d" % (day.year, day.month, day.day))
write("app_calendar", out)
write("app_fixed_point", [max(-32768, min(32767, ((k * 9000 - 12000) * -21845 + 16384) >> 15)) for k in range(4)])
level = lost = 0
out = []
for k in range(8):
    level += 5 if k % 3 == 0 else 1
    if level > 5:
        lost, level = lost + level - 5, 5
    sent = min(level, 2)
    level -= sent
    out.append("%d %d" % (sent, lost))
write("app_leaky_bucket", out)
v = [k * 7 % 10 for k in range(20)]
held, out = sorted(v[:4]), []
for k in range(8):
    held = sorted(held + [v[4 + k]])
    out.append(held.pop(0))
write("app_priority_queue", out)

# --- the rest
v = list(range(147))


def rate(v, pop, push):
    return [sum(v[k:k + pop]) + i for k in range(0, len(v), pop) for i in range(push)]


v = rate(rate(rate(rate(v, 1, 2), 3, 2), 7, 8), 7, 5)
assert len(v) == 160
write("misc_cd_to_dat", [sum(v[k:k + 40]) for k in range(0, 160, 40)])
# rounds of three items: the first two go to Tree(0) (its two branches in turn), the third to depth 1's own filter
write("misc_splitjoin_tree_of_widths", [0, 100, 201])
single = np.float32
x, out = single(1), []
for k in range(12):
    out.append("%f" % x)
    x = x / single(10) * single(1 if k % 2 == 0 else -1)
x = single(1)
for k in range(12):
    out.append("%f" % x)
    x = x * single(-30)
write("misc_many_prints_of_floats", out)
n, m, out = 0, 100, []
for _ in range(12):  # 4 firings of A and 3 of B make 6 lines
    out.append("%d %d %d" % (n, n + 1, m))
    n, m = n + 2, m + 1
write("misc_source_rates_unequal", out)
x, out = single(0), []
for k in range(3):
    x += single(0.1)
    out.append("%f" % ((x - single(0.1) * single(k + 1)) * single(1e9)))
write("misc_float_loop_accumulates", out)

missing = [n for n in sorted(os.listdir(HERE)) if n.endswith(".str") and not os.path.exists(os.path.join(HERE, n[:-4] + ".expect"))]
assert not missing, missing
