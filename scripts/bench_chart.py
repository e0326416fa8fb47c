"""What README's chart shows: gpuopt and its best peer as shares of the speed of a plain copy, from the results.

SPDX-License-Identifier: MIT
"""

from dataclasses import dataclass
from pathlib import Path

from bench_results import Results, Run
from bench_tables_histogram import CUB as HISTOGRAM
from bench_tables_memory import PERMUTE, THRUST, TRANSFORM
from bench_tables_reduce import CUB, GIB, SEGMENT_SIZE, SEGMENTS
from bench_tables_transfer import ASYNC, MEMCPY


@dataclass(frozen=True)
class Bar:
    """Work, the program that measured it, the peers that can do it, and which case it is."""

    what: str
    library: str
    program: str
    peers: tuple
    wanted: dict


BARS = (
    Bar("sum of 4 GiB of floats", "CUB", "reduce_bench", (CUB,),
        {"case": "sum", "type": "float", "bytes": 4 * GIB, "mode": "cold-write"}),
    Bar("sums of rows of 64 floats", "CUB", "reduce_matrix_bench", (SEGMENTS, SEGMENT_SIZE),
        {"case": "rows", "n": 64, "mode": "cold-write"}),
    Bar("histogram of 4096 bins", "CUB", "histogram_bench", (HISTOGRAM,),
        {"element": "float", "bins": 4096, "distribution": "uniform", "mode": "cold-read"}),
    Bar("sums by 1024 keys", "Thrust", "reduce_by_bench", ("Thrust",),
        {"case": "pairs", "element": "float", "bins": 1024, "distribution": "uniform", "mode": "cold-read"}),
    Bar("transposition, 16384 x 16384", "cuBLAS", "transpose_bench", ("cublasSgeam",),
        {"case": "aligned", "element": 4, "rows": 16384, "cols": 16384}),
    Bar("images, NHWC to NCHW", "cuTENSOR", "transpose_bench", (PERMUTE,),
        {"case": "images", "element": 4, "rows": 3136, "cols": 256}),
    Bar("structures of 64 bytes", "CUB", "struct_bench", (TRANSFORM, THRUST),
        {"case": "words", "element": 64, "align": 4}),
    Bar("16 MiB of ordinary memory\nto the device", "the runtime", "transfer_bench", (MEMCPY, ASYNC),
        {"case": "up", "element": "16 MiB"}),
)


def copy_speed(results, program):
    """GB/s of the best copy on the device; of transfers, of a large pinned copy through the link."""
    ofDevice = [run for name, run in results.runs.items() if name != "transfer_bench"]
    runs = [results.runs[program]] if program == "transfer_bench" else ofDevice
    return max(float(run.header["copy_gbps"]) for run in runs if "copy_gbps" in run.header)


def shares(results, bar):
    """gpuopt's share of the copy, and that of its fastest peer."""
    candidates = results.candidates(bar.program, **bar.wanted)
    copy = copy_speed(results, bar.program)
    return (float(candidates["gpuopt"]["gbps"]) / copy,
            max(float(candidates[peer]["gbps"]) for peer in bar.peers) / copy)


def label(share, name):
    return f"{share:.2f}  {name}"


def load(folder):
    """The results of one GPU, of the benchmarks' own builds."""
    return Results(folder.name, {file.stem: Run(file.read_text()) for file in sorted(Path(folder).glob("*_bench.csv"))})
