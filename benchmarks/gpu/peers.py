"""What one would call instead of FFT, MatrixMult and Filterbank on a GPU: cuFFT, cuBLAS and cuDNN, through torch.

    peers.py WORK      a folder with NAME.in.raw and NAME.out.raw, input and output of the programs

Each line that it prints is a JSON object: the program, the library, nanoseconds of a steady state (data in the GPU's memory, CUDA events), and the greatest
difference from the program's output; or what is missing. `sluice-benchmarks gpu` calls it.
"""

import json
import sys
from pathlib import Path

REPETITIONS = 15
# Milliseconds of a repetition that has several runs, and about of all of them.
LEAST = 5.0
MOST = 3000.0
# The input has so many batches.
BATCHES = 3


def say(**what):
    print(json.dumps(what), flush=True)


def measure(torch, work, steady_states):
    """Nanoseconds of a steady state, by repetition."""

    def elapsed(runs):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(runs):
            work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / runs

    work()
    one = min(elapsed(1), elapsed(1))
    runs = max(1, min(100, round(LEAST / one)))
    repetitions = max(3, min(REPETITIONS, int(MOST / (one * runs))))
    return [elapsed(runs) * 1e6 / steady_states for _ in range(repetitions)]


def differ(torch, ours, theirs):
    count = min(len(ours), len(theirs))
    ours, theirs = ours[:count].double(), theirs[:count].double()
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(1e-30))


def fft(torch, data):
    points = torch.view_as_complex(data.view(-1, 64, 2))
    return lambda: torch.fft.fft(points), lambda y: torch.view_as_real(y).reshape(-1)


def matrixmult(torch, data):
    rounds = data.view(-1, 252)
    a, b = rounds[:, :144].reshape(-1, 12, 12).contiguous(), rounds[:, 144:].reshape(-1, 12, 9).contiguous()
    return lambda: torch.bmm(a, b), lambda y: y.reshape(-1)


def filterbank(torch, data):
    bands, taps = 8, 32
    n = torch.arange(taps, dtype=torch.float64)
    prototype = (torch.cos((n + 0.5) * torch.pi / (2 * bands)) - 0.5**0.5) / (2 * bands**0.5)
    k = torch.arange(bands, dtype=torch.float64)[:, None]
    basis = 2**0.5 * torch.cos((n + (bands + 1) / 2) * (k + 0.5) * torch.pi / bands) * prototype
    kernel = basis.float().cuda().view(bands, 1, taps)
    # what came before the first sample was silence
    samples = torch.nn.functional.pad(data.view(1, 1, -1), (taps - 1, 0))
    convolve = torch.nn.functional

    def work():
        low = convolve.conv1d(samples, kernel, stride=bands)
        return convolve.conv_transpose1d(low, kernel, stride=bands)

    return work, lambda y: y.reshape(-1)


# program, what does the same, words of a steady state's input, library
ALL = [
    ("fft", fft, 256, "cuFFT (torch.fft.fft)"),
    ("matrixmult", matrixmult, 252, "cuBLAS (torch.bmm)"),
    ("filterbank", filterbank, 8, "torch.conv1d and conv_transpose1d"),
]


def main():
    work = Path(sys.argv[1])
    try:
        import numpy
        import torch
    except ImportError as e:
        say(missing=f"{e.name} is not installed: cuFFT, cuBLAS and torch's convolution")
        return
    if not torch.cuda.is_available():
        say(missing="torch finds no GPU")
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    for name, make, each, library in ALL:
        files = [work / f"{name}.{end}.raw" for end in ("in", "out")]
        if not all(f.exists() for f in files):
            continue
        try:
            words = numpy.fromfile(files[0], numpy.float32)
            # as much as a batch of the program has
            steady_states = max(len(words) // BATCHES // each, 1)
            run, flat = make(torch, torch.from_numpy(words[: steady_states * each]).cuda())
            result = flat(run())
            theirs = torch.from_numpy(numpy.fromfile(files[1], numpy.float32)[: len(result)]).cuda()
            worst = differ(torch, result, theirs)
            say(
                program=name,
                called=f"{library}, torch {torch.__version__}",
                ns=measure(torch, run, steady_states),
                difference=worst,
            )
            del result, theirs, run
            torch.cuda.empty_cache()
        except Exception as e:  # one that fails must not cost the others
            say(missing=f"{library}: {type(e).__name__}: {e}")


main()
