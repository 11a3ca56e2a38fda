"""Runs the file library.py of a benchmark: `beside.py LIBRARY INPUT OUTPUT`.

The input is read once. Each line on standard input asks for the work to be done: its output is written, and the seconds that the work
alone took are answered. LIBRARY has INPUT_TYPE (of NumPy) and run(array) -> array.
"""

import importlib.util
import sys
import time

import numpy

library, source, target = sys.argv[1:]
spec = importlib.util.spec_from_file_location("library", library)
module = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(module)
items = numpy.fromfile(source, module.INPUT_TYPE)
for _ in sys.stdin:
    start = time.perf_counter()
    result = module.run(items)
    seconds = time.perf_counter() - start
    result.tofile(target)
    print(seconds, flush=True)
