"""Blocks of eight keys sorted by NumPy."""

import numpy

INPUT_TYPE = numpy.int32


def run(keys):
    return numpy.sort(keys.reshape(-1, 8), axis=1)
