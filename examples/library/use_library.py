"""Uses a stream program as a library, through ctypes:

    sluice build --lib smooth.str -o libsmooth.so
    python3 use_library.py ./libsmooth.so
"""

import ctypes
import sys

lib = ctypes.CDLL(sys.argv[1])
lib.smooth_create.restype = ctypes.c_void_p
lib.smooth_push_input.restype = ctypes.c_int64
lib.smooth_push_input.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t]
lib.smooth_pull_output.restype = ctypes.c_int64
lib.smooth_pull_output.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32), ctypes.c_size_t]
lib.smooth_end_input.argtypes = [ctypes.c_void_p]
lib.smooth_error_message.restype = ctypes.c_char_p
lib.smooth_error_message.argtypes = [ctypes.c_void_p]
lib.smooth_destroy.argtypes = [ctypes.c_void_p]
SMOOTH_DONE = -1


def smooth(values):
    """All the outputs for these inputs."""
    program = lib.smooth_create()
    if not program:
        raise MemoryError
    try:
        out, given, space = [], 0, (ctypes.c_int32 * 64)()
        items = (ctypes.c_int32 * len(values))(*values)
        while True:
            if given < len(values):
                rest = ctypes.cast(ctypes.byref(items, 4 * given), ctypes.POINTER(ctypes.c_int32))
                given += max(0, lib.smooth_push_input(program, rest, len(values) - given))
            else:
                lib.smooth_end_input(program)
            n = lib.smooth_pull_output(program, space, len(space))
            if n == SMOOTH_DONE:
                return out
            if n < 0:
                raise RuntimeError(lib.smooth_error_message(program).decode())
            out.extend(space[:n])
    finally:
        lib.smooth_destroy(program)


for value in smooth(range(100)):
    print(value)
