"""The beamformer by SciPy: its own filter design, and convolutions."""

import numpy
from scipy.signal import firwin, oaconvolve, upfirdn
from scipy.signal.windows import hamming

INPUT_TYPE = numpy.complex64
ANTENNAS, BEAMS, TAPS, PULSE = 16, 8, 32, 32

low_pass = firwin(TAPS, 0.2, window="hamming", fs=1).astype(numpy.float32)
sines = (2 * numpy.arange(BEAMS) + 1 - BEAMS) / BEAMS
steering = hamming(ANTENNAS)[:, None] * numpy.exp(-1j * numpy.pi * numpy.outer(numpy.arange(ANTENNAS), sines))
times = numpy.arange(PULSE) - (PULSE - 1) / 2
pulse = numpy.exp(1j * numpy.pi * 0.8 * times**2 / PULSE)


def run(samples):
    channels = samples.reshape(-1, ANTENNAS)
    # every second sample from the first on that all taps take part in: one zero in front makes its number even
    padded = numpy.concatenate([numpy.zeros((1, ANTENNAS), samples.dtype), channels])
    reduced = upfirdn(low_pass, padded, down=2, axis=0)[TAPS // 2 :][: (len(channels) - TAPS) // 2 + 1]
    beams = reduced @ steering
    compressed = oaconvolve(beams, pulse[::-1, None].conj(), "valid", axes=0)
    return (abs(compressed) ** 2).astype(numpy.float32).ravel()
