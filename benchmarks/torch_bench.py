#!/usr/bin/env python3
"""gpuopt beside PyTorch's own calls on the same tensors, in one process and in alternation: GPU time by events, L2
flushed by writes, medians. Writes torch_bench.csv to a folder.

Usage: torch_bench.py <libtorch_calls.so> [--out FOLDER] [--repetitions 31] [--quick]
Needs PyTorch with CUDA and a GPU; exits with 77 where one of them is missing.
SPDX-License-Identifier: MIT
"""

import argparse
import ctypes
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Callable

try:
    import torch
except ImportError:
    torch = None

MISSING = 77
WARM_UP = 2
COLUMNS = "case,type,n,bytes,candidate,mode,us,us_p10,us_p90,gbps,copy_share,ratio"


@dataclass(frozen=True)
class Case:
    """The same work by gpuopt and by a call of PyTorch's, into `out` and `expected`, which hold `before` when they are
    checked."""

    name: str
    type: str
    n: int
    bytes: int
    ours: Callable
    peer: str
    theirs: Callable
    out: object
    expected: object
    before: float = float("nan")
    tolerance: float = 1e-2


class Library:
    """Calls of torch_calls.cu with tensors, on the current stream."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))

    def call(self, name, *arguments):
        converted = [ctypes.c_void_p(it.data_ptr()) if hasattr(it, "data_ptr") else ctypes.c_size_t(it)
                     for it in arguments]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if getattr(self.library, name)(*converted, stream):
            sys.exit(f"torch_bench: {name} failed")


def sums(library, data):
    for n in (1 << 14, 1 << 20, 1 << 24, 1 << 28):
        x, out, expected = data[:n], torch.empty(1, device="cuda"), torch.empty(1, device="cuda")
        yield Case("sum", "float", n, 4 * n, lambda: library.call("sumAll", x, n, out), "torch.sum",
                   lambda: torch.sum(x, (0,), True, out=expected), out, expected)


def rows(library, data):
    for cols in (8, 64, 1024):
        x = data.view(-1, cols)
        count = x.shape[0]
        out, expected = torch.empty(count, device="cuda"), torch.empty(count, device="cuda")
        yield Case("rows", "float", cols, 4 * (data.numel() + count),
                   lambda: library.call("sumRows", x, count, cols, out), "torch.sum dim=1",
                   lambda: torch.sum(x, 1, out=expected), out, expected)


def transpositions(library, data):
    """A matrix, and images from NHWC to NCHW of floats and halves."""
    for kind, name, pixels, channels in (("transpose", "Floats", 16384, 16384), ("images", "Floats", 3136, 256),
                                         ("images", "Halves", 3136, 256)):
        dtype = torch.float32 if name == "Floats" else torch.float16
        batch = data.numel() // (pixels * channels)
        n = batch * pixels * channels
        x = data[:n].to(dtype).view(batch, pixels, channels)
        out, expected = (torch.empty(batch, channels, pixels, device="cuda", dtype=dtype) for _ in range(2))
        yield Case(kind, "float" if name == "Floats" else "half", n, 2 * n * x.element_size(),
                   lambda: library.call(f"transpose{name}", x, pixels, channels, batch, out), "torch.Tensor.copy_",
                   lambda: expected.copy_(x.transpose(1, 2)), out, expected)


def products(library, data):
    half = data.numel() // 2
    a, b, out, expected = data[:half], data[half:], torch.empty(half, device="cuda"), torch.empty(half, device="cuda")
    yield Case("multiply", "float", half, 12 * half, lambda: library.call("multiply", a, b, half, out), "torch.mul",
               lambda: torch.mul(a, b, out=expected), out, expected)


ADDED = 8  # rows that are added to each row


def additions(library, data):
    """Rows in random order added to rows, those of PyTorch by atomics. Sums of halves differ in their last bits."""
    for name, dtype, size, tolerance in (("Halves", torch.float16, 2, 0.1), ("Floats", torch.float32, 4, 1e-2)):
        for row_bytes in (256, 2048, 14336):
            cols = row_bytes // size
            rows = data.numel() // ADDED // cols
            n = rows * ADDED
            x = data[:n * cols].view(n, cols).to(dtype)
            where = (torch.arange(n, device="cuda") // ADDED)[torch.randperm(n, device="cuda")]
            out, expected = (torch.zeros(rows, cols, device="cuda", dtype=dtype) for _ in range(2))
            kind, moved = "half" if size == 2 else "float", (n + 2 * rows) * row_bytes + 8 * n
            theirs = lambda: expected.index_add_(0, where, x)
            yield Case("index_add", kind, row_bytes, moved,
                       lambda: library.call(f"addRows{name}", x, where, n, cols, rows, out), "torch.Tensor.index_add_",
                       theirs, out, expected, 0, tolerance)
            yield Case("index_add atomic", kind, row_bytes, moved,
                       lambda: library.call(f"addAtomically{name}", x, where, n, cols, rows, out),
                       "torch.Tensor.index_add_", theirs, out, expected, 0, tolerance)


def few_additions(library, data):
    """Few rows of 256 bytes, with the same bits each time and by atomics: eight to each row, many short lists of one,
    few long ones. `n` counts rows."""
    cols = 64
    eight, single, long = "index_add few", "index_add single", "index_add to few"
    for kind, n, times in ((eight, 256, ADDED), (eight, 4096, ADDED), (eight, 65536, ADDED), (single, 4096, 1),
                           (single, 65536, 1), (single, 1 << 20, 1), (long, 4096, 4096), (long, 65536, 4096)):
        rows, x = n // times, data[:n * cols].view(n, cols)
        where = torch.randperm(n, device="cuda") // times
        out, expected = (torch.zeros(rows, cols, device="cuda") for _ in range(2))
        moved, tolerance = (n + 2 * rows) * 256 + 8 * n, 1e-4 * (times // ADDED + 1)
        theirs = lambda: expected.index_add_(0, where, x)

        def deterministic():
            torch.use_deterministic_algorithms(True)
            theirs()
            torch.use_deterministic_algorithms(False)

        yield Case(kind, "float", n, moved, lambda: library.call("addRowsFloats", x, where, n, cols, rows, out),
                   "torch.Tensor.index_add_ deterministic", deterministic, out, expected, 0, tolerance)
        yield Case(kind + " atomic", "float", n, moved,
                   lambda: library.call("addAtomicallyFloats", x, where, n, cols, rows, out),
                   "torch.Tensor.index_add_", theirs, out, expected, 0, tolerance)


def moves(library, data):
    """Rows gathered and scattered in random order, many and few. `n` is the size of a row, or counts few rows."""
    many = [(size, data.numel() * 4 // size, size) for size in (64, 128, 200, 256, 512, 1024, 2048, 4096, 14336)]
    for number, n, row_bytes in many + [(n, n, 256) for n in (1024, 4096)]:
        cols = row_bytes // 4
        x, where = data[:n * cols].view(n, cols), torch.randperm(n, device="cuda")
        out, expected = (torch.empty(n, cols, device="cuda") for _ in range(2))
        moved, few = n * (2 * row_bytes + 8), " few" if number == n else ""
        yield Case("index_select" + few, "float", number, moved,
                   lambda: library.call("gatherRows", x, where, n, cols, out), "torch.index_select",
                   lambda: torch.index_select(x, 0, where, out=expected), out, expected)
        yield Case("index_copy" + few, "float", number, moved,
                   lambda: library.call("scatterRows", x, where, n, cols, out), "torch.Tensor.index_copy_",
                   lambda: expected.index_copy_(0, where, x), out, expected)


def combinations(library, data):
    """Weighted sums of eight rows, those of PyTorch by embedding_bag. `n` is the size of a row."""
    for row_bytes in (256, 2048, 14336):
        cols = row_bytes // 4
        rows = data.numel() // ADDED // cols
        n = rows * ADDED
        x, weights = data[:n * cols].view(n, cols), torch.rand(rows, ADDED, device="cuda")
        where = torch.randperm(n, device="cuda").view(rows, ADDED)
        out, expected = (torch.empty(rows, cols, device="cuda") for _ in range(2))

        def theirs():  # it has no `out`
            expected.set_(torch.nn.functional.embedding_bag(where, x, mode="sum", per_sample_weights=weights))

        yield Case("embedding_bag", "float", row_bytes, (n + rows) * row_bytes + 12 * n,
                   lambda: library.call("combineRows", x, where, weights, n, ADDED, cols, out),
                   "torch.nn.functional.embedding_bag", theirs, out, expected)


def scans(library, data):
    for rows, cols in ((data.numel() // 128, 128), (data.numel() // 4096, 4096), (8, 129280), (64, 129280)):
        x = data[:rows * cols].view(rows, cols)
        out, expected = torch.empty_like(x), torch.empty_like(x)
        yield Case("cumsum rows", "float", cols, 8 * x.numel(), lambda: library.call("scanRows", x, rows, cols, out),
                   "torch.cumsum dim=1", lambda: torch.cumsum(x, 1, out=expected), out, expected)
    for rows, cols in ((16384, 4096), (4096, 16384)):
        x = data[:rows * cols].view(rows, cols)
        out, expected = torch.empty_like(x), torch.empty_like(x)
        yield Case("cumsum columns", "float", cols, 8 * x.numel(),
                   lambda: library.call("scanColumns", x, rows, cols, out), "torch.cumsum dim=0",
                   lambda: torch.cumsum(x, 0, out=expected), out, expected)


def positions(library, data):
    """The position of each row's maximum, in a vocabulary of 129280: pairs of a value and an index from gpuopt."""
    cols = 129280
    for rows in (1, 8, 64):
        x = data[:rows * cols].view(rows, cols)
        pairs = torch.empty(rows, 2, device="cuda", dtype=torch.int64)
        expected = torch.empty(rows, device="cuda", dtype=torch.int64)
        yield Case("argmax", "float", rows, 4 * x.numel() + 16 * rows,
                   lambda: library.call("argMaxRows", x, rows, cols, pairs), "torch.argmax dim=1",
                   lambda: torch.argmax(x, 1, out=expected), pairs[:, 1], expected, -1, 0)


GROUPS = (sums, rows, transpositions, products, additions, few_additions, moves, combinations, scans,
          positions)


def is_right(case):
    """Whether both results are alike, up to the rounding of sums."""
    case.out.fill_(case.before)
    case.expected.fill_(case.before)
    case.ours()
    case.theirs()
    return torch.allclose(case.out.double(), case.expected.double(), rtol=1e-4 if case.tolerance else 0,
                          atol=case.tolerance)


class Timer:
    def __init__(self, repetitions):
        properties = torch.cuda.get_device_properties(0)
        self.flush = torch.empty(getattr(properties, "L2_cache_size", 64 << 20), dtype=torch.float32, device="cuda")
        self.repetitions = repetitions
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def sample(self, call, number):
        """Microseconds of GPU time. The GPU is busy while the call is queued."""
        self.flush.fill_(number)
        torch.cuda._sleep(200000)
        self.events[0].record()
        call()
        self.events[1].record()
        self.events[1].synchronize()
        return 1e3 * self.events[0].elapsed_time(self.events[1])

    def measure(self, calls):
        """The samples of each call, each after one of the others; the first rounds are not kept."""
        samples = [[self.sample(call, round_) for call in calls] for round_ in range(self.repetitions + WARM_UP)]
        return [list(column) for column in zip(*samples[WARM_UP:])]


def spread(samples):
    """Median, 10th and 90th percentile, as the other benchmarks have them."""
    ordered = sorted(samples)
    return [ordered[int(share * (len(ordered) - 1) + 0.5)] for share in (0.5, 0.1, 0.9)]


def lines(case, measured, copy_gbps):
    """The rows of a case in the file; `measured` are the samples of gpuopt and of the peer."""
    first = spread(measured[0])[0]
    for candidate, samples in zip(("gpuopt", case.peer), measured):
        us = spread(samples)
        gbps = case.bytes / us[0] / 1e3
        yield ",".join([case.name, case.type, str(case.n), str(case.bytes), candidate, "cold-write",
                        *(f"{value:.3f}" for value in us), f"{gbps:.1f}", f"{gbps / copy_gbps:.4f}",
                        f"{us[0] / first:.4f}"])


def header(copy_gbps):
    driver = next((word for word in Path("/proc/driver/nvidia/version").read_text().split()
                   if word.replace(".", "").isdigit() and "." in word), "unknown")
    return {"program": "torch_bench", "gpu": torch.cuda.get_device_name(), "driver": driver, "cuda": torch.version.cuda,
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "command": " ".join(sys.argv),
            "torch": torch.__version__, "copy_gbps": f"{copy_gbps:.0f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--out", type=Path, default=Path("."))
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if torch is None or not torch.cuda.is_available():
        print("torch_bench: PyTorch with CUDA and a GPU is needed: skipped")
        return MISSING

    library = Library(Path(options.library).resolve())
    timer = Timer(options.repetitions or (11 if options.quick else 31))
    data = torch.rand((1 << 26) if options.quick else (1 << 28), device="cuda") * 2 - 0.75
    target = torch.empty_like(data)
    copy_gbps = 8 * data.numel() / spread(timer.measure([lambda: target.copy_(data)])[0])[0] / 1e3
    del target
    wrong = 0
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "torch_bench.csv", "w") as file:
        file.writelines(f"# {name}: {value}\n" for name, value in header(copy_gbps).items())
        file.write(COLUMNS + "\n")
        for case in (case for group in GROUPS for case in group(library, data) if case.n <= data.numel()):
            if not is_right(case):
                print(f"WRONG RESULT: {case.name} {case.type}, n = {case.n}")
                wrong += 1
                continue
            for line in lines(case, timer.measure([case.ours, case.theirs]), copy_gbps):
                file.write(line + "\n")
                print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
