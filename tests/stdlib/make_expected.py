#!/usr/bin/env python3
"""Computes the .expect files of this folder from textbook definitions with numpy and scipy, never from our own output.

Run it after adding a program: python3 tests/stdlib/make_expected.py (needs numpy and scipy).
"""
import os
import numpy as np
from scipy import fft as sfft, signal

HERE = os.path.dirname(os.path.abspath(__file__))
K = np.arange(4000)
X = ((7 * K + 3) % 11 - 5).astype(float)
Z = X + 1j * ((5 * K + 1) % 7 - 3)
I = (7919 * K + 13) % 1000 - 300
H = np.array([0.5, -1.25, 2, 0.125, -0.5, 1])
H2 = np.array([1, 2, 3, -3, -2, -1.0])
PI = np.pi


def write(name, lines):
    with open(os.path.join(HERE, name + ".expect"), "w") as f:
        f.writelines(line + "\n" for line in lines)


def f(x):
    return "%f" % (x + 0.0 if abs(x) > 4e-7 else 0.0)


def floats(name, xs):
    write(name, [f(x) for x in xs])


def cplx(name, zs):
    write(name, ["(%s, %s)" % (f(z.real), f(z.imag)) for z in zs])


def ints(name, xs):
    write(name, [str(int(x)) for x in xs])


def fir(x, h):
    """Outputs that need no items from before the start."""
    return np.convolve(x, h)[len(h) - 1:len(x)]


def sinc_band(low, high, n):
    t = np.arange(n) - (n - 1) / 2
    h = 2 * high * np.sinc(2 * high * t) - 2 * low * np.sinc(2 * low * t)
    h = h * np.hamming(n)
    return h / h.sum() if low == 0 else h


floats("fir", fir(X, H)[:8])
floats("fir_decimate", fir(X, H)[::3][:8])
floats("fir_decimate_more_than_taps", fir(X, H)[::8][:4])
stuffed = np.zeros(3 * len(X))
stuffed[::3] = X
floats("fir_interpolate", np.convolve(stuffed, H)[3:][:15])
cplx("complex_fir", fir(Z, H)[::2][:5])
floats("low_pass_fir", fir(X, sinc_band(0, 1 / 8, 21))[::2][:8])
floats("high_pass_fir", fir(X, sinc_band(1 / 8, 0.5, 21))[:8])
floats("band_pass_fir", fir(X, sinc_band(1 / 16, 3 / 16, 24))[:8])
cplx("complex_low_pass_fir", fir(Z, sinc_band(0, 4 / 25, 15))[::5][:6])

floats("one_pole", signal.lfilter([0.25], [1, -0.75], X)[:8])
a = 1 - np.exp(-1 / 4)
floats("one_pole_low_pass", signal.lfilter([a], [1, a - 1], X)[:8])
b, a = signal.bilinear([1], [50e-6, 1], 48000)
floats("de_emphasis", signal.lfilter(b, a, X)[:8])
floats("pre_emphasis", signal.lfilter([1 + 2.4, -2.4], [1], X)[:8])
floats("dc_blocker", signal.lfilter([1, -1], [1, -0.95], X)[:8])
s1 = ([0.2, 0.3, -0.1], [1, -0.9, 0.4])
floats("biquad", signal.lfilter(*s1, X)[:10])
floats("biquad_chain", signal.lfilter([1, 0.5, 0.25], [1, 0.1, 0.2], signal.lfilter(*s1, X))[:10])


def digital(name, num, den):
    """An analogue prototype (in s, cutoff 1 rad/s) through the pre-warped bilinear transform at 5 kHz of 48 kHz."""
    warp = np.tan(PI * 5000 / 48000)
    b, a = signal.bilinear(num, den, 1 / (2 * warp))
    floats(name, signal.lfilter(b, a, X)[:10])


q = 0.7071
digital("biquad_low_pass", [1], [1, 1 / q, 1])
digital("biquad_high_pass", [1, 0, 0], [1, 1 / q, 1])
digital("biquad_band_pass", [1 / 2, 0], [1, 1 / 2, 1])
digital("biquad_notch", [1, 0, 1], [1, 1 / 2, 1])
A = 10 ** (6 / 40)
digital("biquad_peak", [1, A / 1.5, 1], [1, 1 / (A * 1.5), 1])
A = 10 ** (-9 / 40)
digital("biquad_low_shelf", [A, A * np.sqrt(A) / q, A * A], [A, np.sqrt(A) / q, 1])
A = 10 ** (4 / 40)
digital("biquad_high_shelf", [A * A, A * np.sqrt(A) / q, A], [1, np.sqrt(A) / q, A])

r = np.arange(1, 6)
floats("windows", r * signal.windows.hann(5) * signal.windows.hamming(5) * signal.windows.blackman(5))
w = [np.ones(8), signal.windows.hann(8), signal.windows.hamming(8), signal.windows.blackman(8)]
write("window_helpers", [" ".join(f(v[i]) for v in w) for i in range(8)])
floats("apply_window", X[:8] * np.tile([1, 0.5, -0.25, 2], 2))

floats("upsample", stuffed[:12])
floats("hold_average", np.repeat(X, 3).reshape(-1, 2).mean(axis=1)[:12])
floats("downsample", X[::3][:5])
floats("linear_interpolate", np.interp(np.arange(16) / 4, K, X))


def resample(name, l, m, taps, n):
    h = sinc_band(0, 0.5 / max(l, m), l * taps) * l
    up = np.zeros(l * len(X))
    up[::l] = X
    floats(name, np.convolve(up, h)[l * taps - 1:][::m][:n])


resample("resample_3_2", 3, 2, 8, 18)
resample("resample_2_5", 2, 5, 12, 12)
resample("resample_1_1", 1, 1, 5, 6)

for n in (1, 2, 16, 64):
    cplx("fft_%d" % n, np.concatenate([np.fft.fft(Z[:n]), np.fft.fft(Z[n:2 * n])]))
cplx("ifft_8", np.concatenate([np.fft.ifft(Z[:8]), np.fft.ifft(Z[8:16])]))
cplx("fft_round_trip", Z[:32])
P = X[0::2] + 1j * X[1::2]


def pairs(name, zs):
    write(name, ["%s %s" % (f(z.real), f(z.imag)) for z in zs])


pairs("fft_pairs", np.concatenate([np.fft.fft(P[:8]), np.fft.fft(P[8:16])]))
pairs("ifft_pairs", np.concatenate([np.fft.ifft(P[:8]), np.fft.ifft(P[8:16])]))
floats("real_fft", np.abs(np.concatenate([np.fft.fft(X[:8]), np.fft.fft(X[8:16])])))

floats("dct_8", sfft.dct(X[:24].reshape(3, 8), norm="ortho").ravel())
floats("dct_7", sfft.dct(X[:21].reshape(3, 7), norm="ortho").ravel())
floats("idct_8", sfft.idct(X[:24].reshape(3, 8), norm="ortho").ravel())
floats("dct_round_trip", X[:36])
floats("dct_8x8", np.concatenate([sfft.dctn(X[64 * i:64 * i + 64].reshape(8, 8), norm="ortho").ravel() for i in (0, 1)]))
floats("idct_8x8", np.concatenate([sfft.idctn(X[64 * i:64 * i + 64].reshape(8, 8), norm="ortho").ravel() for i in (0, 1)]))

pair = X[:8].reshape(4, 2)
floats("haar", (np.stack([pair[:, 0] + pair[:, 1], pair[:, 0] - pair[:, 1]], 1) / np.sqrt(2)).ravel())
floats("analysis_bank", np.stack([fir(X, H)[::2][:5], fir(X, H2)[::2][:5]], 1).ravel())
up = np.zeros((2, 40))
up[:, ::2] = X[:40].reshape(20, 2).T
floats("synthesis_bank", (np.convolve(up[0], H) + np.convolve(up[1], H2))[:10])
floats("haar_bank_perfect", X[:12])

floats("delay_float", np.concatenate([np.zeros(3), X])[:8])
cplx("delay_complex", np.concatenate([np.zeros(2), Z])[:4])
ints("delay_int", np.concatenate([[0, 0], I])[:6])
echo = np.concatenate([np.zeros(3), X])
floats("single_echo", (X[:8] + 0.5 * echo[:8]))
floats("repeat_echo", signal.lfilter([1], [1, 0, 0, -0.5], X)[:12])


def bits(x, n):
    return [(int(x) >> i) & 1 for i in range(n - 1, -1, -1)]


def all_bits(n, count):
    return [v for x in I[:count] for v in bits(x, n)]


floats("tone", 0.5 * np.sin(2 * PI * K[:12] / 48 + 0.25))
cplx("complex_tone", 2 * np.exp(-2j * PI * K[:12] / 8))
floats("ramp", 1.5 - 0.25 * K[:5])
ints("counter", K[:7] % 3)
ints("counter_all", K[:4])
floats("impulses", (K[:7] % 3 == 0) * 1.0)
floats("impulse_once", (K[:5] == 0) * 1.0)
floats("constants", [2.5] * 2)
ints("constant_int", [-7] * 2)


def xorshift(seed):
    x = (seed or 1) & 0xFFFFFFFF
    while True:
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
        yield x


def first(seed, n):
    g = xorshift(seed)
    return [next(g) for _ in range(n)]


floats("noise", [(x >> 8) / 2 ** 23 - 1 for x in first(1, 20)])
floats("noise_seed_0", [(x >> 8) / 2 ** 23 - 1 for x in first(0, 3)])
states = first(42, 12)
out = []
for u, v in zip(states[::2], states[1::2]):
    radius = 2 * np.sqrt(-2 * np.log(((u >> 8) + 1) / 2 ** 24))
    angle = 2 * PI * (v >> 8) / 2 ** 24
    out += [radius * np.cos(angle), radius * np.sin(angle)]
floats("gaussian_noise", out)
ints("random_ints", [(x >> 1) % 6 for x in first(2024, 20)])
ints("random_bits", [x >> 31 for x in first(7, 32)])
floats("random_helper", [(x >> 8) / 2 ** 24 for x in first(99, 6)])

floats("add_floats", X[:12].reshape(4, 3).sum(axis=1))
floats("multiply_floats", X[:12].reshape(4, 3).prod(axis=1))
floats("subtract_floats", X[0:8:2] - X[1:8:2])
floats("weighted_sum", X[:12].reshape(4, 3) @ np.array([0.5, -2, 4]))
floats("gain_limit", np.clip(X[:8] / 2, -1, 1.75))
ints("add_ints", I[:16].reshape(4, 4).sum(axis=1))
s = (Z[0:20:2] + Z[1:20:2]) * (1 + 2j)
cplx("complex_arithmetic", np.conj(s[0::2] * s[1::2]))
write("complex_parts", ["%s %s %s" % (f(z.real), f(z.imag), f(abs(z))) for z in Z[:4]])
cplx("frequency_shift", Z[:10] * np.exp(2j * PI * K[:10] * 5 / 48))

floats("am_modulator", (1 + 0.5 * 0.2 * X[:8]) * np.cos(2 * PI * K[:8] * 7 / 48))
a = 1 - np.exp(-1 / 4.8)
floats("am_demodulator", signal.lfilter([a], [1, a - 1], np.abs(X))[:8])
cplx("fm_modulator", np.exp(1j * np.cumsum(0.2 * X[:8]) * 2 * PI * 5 / 48))
floats("fm_round_trip", 0.2 * X[1:9])
cplx("pm_modulator", np.exp(0.3j * X[:8]))

ints("delay_bit", ([0, 0, 0] + all_bits(4, 10))[:32])
ints("int_to_bits", all_bits(10, 2))
ints("int_to_bits_low", [v for x in I[:2] for v in bits(x, 10)[::-1]])
ints("bits_round_trip", I[:5])
ints("bits_low_round_trip", I[:5] & 4095)
ints("bytes", [(int(x) >> (8 * i)) & 255 for x in I[:3] for i in range(4)])
ints("bytes_round_trip", I[:5])
ints("xor_bits", [sum(bits(x, 10)) % 2 for x in I[:6]])

ints("compare_exchange", [v for i in range(0, 8, 2) for v in sorted(I[i:i + 2], reverse=True)])
for n in (1, 2, 8, 32):
    ints("bitonic_sort_%d" % n, list(sorted(I[:n])) + list(sorted(I[n:2 * n])))
floats("bitonic_sort_float", list(sorted(X[:16])) + list(sorted(X[16:32])))
for n in (1, 5, 8):
    ints("odd_even_sort_%d" % n, list(sorted(I[:n])) + list(sorted(I[n:2 * n])))
write("print_ints", [" ".join(str(v) for v in I[4 * i:4 * i + 4]) for i in range(3)])
write("print_types", ["true", "false"])
floats("print_double", [0, 0.25, 0.5])

missing = [n for n in os.listdir(HERE) if n.endswith(".str") and not os.path.exists(os.path.join(HERE, n[:-4] + ".expect"))]
assert not missing, missing
