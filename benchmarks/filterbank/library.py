"""The extended lapped transform and its inverse, by SciPy's polyphase resampler."""

import numpy
from scipy.signal import upfirdn

INPUT_TYPE = numpy.float32
M = 8
TAPS = 4 * M

n = numpy.arange(TAPS)
prototype = (numpy.cos((n + 0.5) * numpy.pi / (2 * M)) - numpy.sqrt(0.5)) / (2 * numpy.sqrt(M))
tones = numpy.sqrt(2) * numpy.cos((n + (M + 1) / 2) * (numpy.arange(M)[:, None] + 0.5) * numpy.pi / M)
basis = (prototype * tones).astype(numpy.float32)


def run(samples):
    total = numpy.zeros(len(samples), numpy.float32)
    for h in basis:
        band = upfirdn(h[::-1], samples, down=M)[: len(samples) // M]
        total += upfirdn(h, band, up=M)[: len(samples)]
    return total
