"""The reverberation by SciPy: transfer functions of long denominators, double precision."""

import numpy
from scipy.signal import lfilter

INPUT_TYPE = numpy.float32
DAMPING = 0.2


def comb(delay, gain):
    """x / (1 - d z^-delay), where the damping is d = gain (1 - DAMPING) / (1 - DAMPING z^-1)."""
    a = numpy.zeros(delay + 1)
    a[0], a[1], a[delay] = 1, -DAMPING, -gain * (1 - DAMPING)
    return [1, -DAMPING], a


def all_pass(delay, gain):
    b, a = numpy.zeros(delay + 1), numpy.zeros(delay + 1)
    b[0], b[delay], a[0], a[delay] = -gain, 1, 1, -gain
    return b, a


def run(samples):
    combs = [comb(1426, 0.82), comb(1781, 0.79), comb(1973, 0.77), comb(2099, 0.75)]
    room = sum(lfilter(b, a, samples.astype(numpy.float64)) for b, a in combs)
    for delay in (241, 83):
        room = lfilter(*all_pass(delay, 0.7), room)
    return (samples + 0.1 * room).astype(numpy.float32)
