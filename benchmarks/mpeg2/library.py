"""The chain in NumPy, with SciPy's transform in double precision."""

import numpy
from scipy.fft import idctn

INPUT_TYPE = numpy.int32

# diagonals one after another, every other one upwards
scan = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
matrix = numpy.array([
    [8, 16, 19, 22, 26, 27, 29, 34],
    [16, 16, 22, 24, 27, 29, 34, 37],
    [19, 22, 26, 27, 29, 34, 34, 38],
    [22, 22, 26, 27, 29, 34, 37, 40],
    [22, 26, 27, 29, 32, 35, 40, 48],
    [26, 27, 29, 32, 35, 40, 48, 58],
    [26, 27, 29, 34, 38, 46, 56, 69],
    [27, 29, 35, 38, 46, 56, 69, 83],
]).ravel()


def run(ints):
    blocks = ints.reshape(-1, 66).astype(numpy.int64)
    intra, scale = blocks[:, :1] == 1, 2 * blocks[:, 1:2]
    levels = numpy.zeros((len(blocks), 64), numpy.int64)
    levels[:, scan] = blocks[:, 2:]
    product = numpy.where(intra, 2 * levels * matrix, (2 * levels + numpy.sign(levels)) * 16) * scale
    coefficients = numpy.sign(product) * (abs(product) // 32)
    coefficients[:, 0] = numpy.where(intra[:, 0], 8 * levels[:, 0], coefficients[:, 0])
    coefficients = coefficients.clip(-2048, 2047)
    coefficients[:, 63] ^= 1 - coefficients.sum(axis=1) % 2
    samples = idctn(coefficients.reshape(-1, 8, 8).astype(float), axes=(1, 2), norm="ortho")
    return numpy.rint(samples).clip(-256, 255).astype(numpy.int32).ravel()
