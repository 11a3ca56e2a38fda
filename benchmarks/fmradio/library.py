"""The receiver by SciPy: its own filter design, and convolutions."""

import numpy
from scipy.signal import firwin, oaconvolve, upfirdn

INPUT_TYPE = numpy.complex64
TAPS = 64

channel = firwin(TAPS, 10000, window="hamming", fs=240000).astype(numpy.float32)
edges = [firwin(TAPS, 300 * 2 ** (i / 2), window="hamming", fs=48000) for i in range(11)]
gains = [2 - 4 * ((i - 4.5) / 10) ** 2 for i in range(10)]


def run(samples):
    # each 5th sample from the first on that all taps take part in: two zeros in front make its number a multiple of 5
    padded = numpy.concatenate([numpy.zeros(2, samples.dtype), samples])
    station = upfirdn(channel, padded, down=5)[(TAPS + 1) // 5 :][: (len(samples) - TAPS) // 5 + 1]
    sound = numpy.angle(station[1:] * station[:-1].conj()) * (48000 / (2 * numpy.pi * 5000))
    bands = [gain * (high - low) for gain, low, high in zip(gains, edges, edges[1:])]
    return sum(oaconvolve(sound, band, "valid") for band in bands).astype(numpy.float32)
