"""The channel vocoder by SciPy: its own filter design, convolutions; the excitation sample by sample."""

import numpy
from scipy.signal import fftconvolve, firwin
from scipy.signal.windows import hamming

INPUT_TYPE = numpy.float32
BANDS, TAPS, FRAME, SMOOTH, WINDOW, SHORTEST, LONGEST = 16, 64, 80, 160, 160, 20, 147


def band_pass(band):
    edges = [200 + 225 * band, 200 + 225 * (band + 1)]
    return firwin(TAPS, edges, window="hamming", pass_zero=False, scale=False, fs=8000)


bank = numpy.array([band_pass(band) for band in range(BANDS)])
weight = (1 - numpy.cos(2 * numpy.pi * (numpy.arange(SMOOTH) + 0.5) / SMOOTH)) / SMOOTH


def frames(x, length, count):
    return numpy.lib.stride_tricks.sliding_window_view(x, length, axis=-1)[..., ::FRAME, :][..., :count, :]


def period(x):
    clip = 0.3 * abs(x).max()
    x = x - numpy.clip(x, -clip, clip)
    lags = numpy.array([x[:WINDOW] @ x[lag : lag + WINDOW] for lag in range(SHORTEST, LONGEST + 1)])
    best = int(lags.argmax())
    return SHORTEST + best if lags[best] > 0.3 * (x[:WINDOW] @ x[:WINDOW]) else 0


def excitation(periods):
    out, random, since = numpy.zeros(len(periods) * FRAME), 1, 0
    for t in range(len(out)):
        random = (random * 1664525 + 1013904223) % 2**32
        since += 1
        p = periods[t // FRAME]
        if p == 0:
            out[t] = ((random + 2**31) % 2**32 - 2**31) * 3**0.5 / 2**31
        elif since >= p:
            since, out[t] = 0, p**0.5
    return out


def run(samples):
    x = samples.astype(numpy.float64)
    count = (len(x) - WINDOW - LONGEST) // FRAME + 1
    loud = abs(fftconvolve(x[None], bank[:, ::-1], "valid", axes=1))
    envelopes = frames(loud, SMOOTH, count) @ weight
    source = excitation([period(f) for f in frames(x, WINDOW + LONGEST, count)[:-1]])
    between = numpy.arange(FRAME) / FRAME
    lines = envelopes[:, :-1, None] + between * numpy.diff(envelopes)[:, :, None]
    return fftconvolve(source * lines.reshape(BANDS, -1), bank[:, ::-1], "valid", axes=1).sum(0).astype(numpy.float32)
