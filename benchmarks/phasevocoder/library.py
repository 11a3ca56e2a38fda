"""The phase vocoder by SciPy: real transforms, in double precision."""

import numpy
from scipy.fft import irfft, rfft
from scipy.signal.windows import hann

INPUT_TYPE = numpy.float32
N, HOP, STRETCHED = 1024, 256, 320

window = hann(N, sym=False)
bins = numpy.arange(N // 2 + 1)


def run(samples):
    frames = numpy.lib.stride_tricks.sliding_window_view(samples, N)[::HOP] * window
    spectra = rfft(frames)
    phases = numpy.angle(spectra) / (2 * numpy.pi)
    more = numpy.diff(phases, axis=0, prepend=0) - bins * HOP / N
    more -= numpy.rint(more)
    steps = bins * STRETCHED / N + more * STRETCHED / HOP
    steps[0] = phases[0]
    made = numpy.cumsum(steps, axis=0)
    frames = irfft(abs(spectra) * numpy.exp(2j * numpy.pi * made)) * window / (0.375 * N / STRETCHED)
    out = numpy.zeros(len(frames) * STRETCHED + N)
    for i, frame in enumerate(frames):
        out[i * STRETCHED : i * STRETCHED + N] += frame
    return out[: len(frames) * STRETCHED].astype(numpy.float32)
