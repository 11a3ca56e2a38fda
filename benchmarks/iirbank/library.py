"""The bank by SciPy: its own design of the sections, double precision."""

import numpy
from scipy.signal import butter, sosfilt

INPUT_TYPE = numpy.float32


def sections(octave):
    low, high = 70 * 2**octave, 70 * 2 ** (octave + 1)
    high_pass = butter(2, low, "highpass", fs=48000, output="sos")
    low_pass = butter(2, high, "lowpass", fs=48000, output="sos")
    return numpy.concatenate([high_pass, high_pass, low_pass, low_pass])


bank = [(0.5 + 0.125 * octave, sections(octave)) for octave in range(8)]


def run(samples):
    return sum(gain * sosfilt(sos, samples) for gain, sos in bank).astype(numpy.float32)
