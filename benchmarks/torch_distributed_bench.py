#!/usr/bin/env python3
"""What users of PyTorch write on several GPUs, a process each: sums by torch.sum and all_reduce, transpositions of
matrices in slabs of rows by all_to_all_single. The slowest rank's time, by events, of one call of several in a row, or,
for sums, in a CUDA graph. Writes torch_distributed_bench.csv to a folder.

Usage: torch_distributed_bench.py [--out FOLDER] [--repetitions 11] [--quick]
Needs PyTorch with NCCL and two GPUs or more; exits with 77 where they are missing.
SPDX-License-Identifier: MIT
"""

import argparse
import os
import socket
import statistics
import sys
from datetime import datetime, timezone
from pathlib import Path

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as processes
except ImportError:
    torch = None

MISSING = 77
COLUMNS = "case,type,rows,cols,bytes,candidate,mode,us,us_p10,us_p90"


class Spread:
    """Median and percentiles of the slowest rank's times."""

    def __init__(self, times):
        slowest = torch.tensor(times, dtype=torch.float64, device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        ordered = sorted(slowest.tolist())
        self.median = statistics.median(ordered)
        self.low, self.high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]


def microseconds(work, calls, samples):
    """Of one call of several in a row, on each rank."""
    times = []
    for sample in range(-2, samples):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        dist.barrier()
        work()  # the ranks begin alike
        begin.record()
        for _ in range(calls):
            work()
        end.record()
        torch.cuda.synchronize()
        if sample >= 0:
            times.append(1e3 * begin.elapsed_time(end) / calls)
    return Spread(times)


def captured(work, calls):
    """A graph of so many calls."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
        for _ in range(calls):
            work()
    return graph


class Bench:
    """One rank. Rank 0 writes the rows."""

    def __init__(self, rank, ranks, options):
        self.rank, self.ranks, self.options = rank, ranks, options
        self.rows = []
        self.wrong = 0

    def record(self, case, kind, rows, cols, size, candidate, mode, spread):
        row = f'{case},{kind},{rows},{cols},{size},"{candidate}",{mode},' \
              f"{spread.median:.3f},{spread.low:.3f},{spread.high:.3f}"
        self.rows.append(row)
        if self.rank == 0:
            print(row, flush=True)

    def require(self, right, what):
        everywhere = torch.tensor(int(right), device="cuda")
        dist.all_reduce(everywhere, op=dist.ReduceOp.MIN)
        if not everywhere.item():
            self.wrong += 1
            if self.rank == 0:
                print(f"WRONG RESULT: {what}", flush=True)

    def sum(self, n):
        x = torch.rand(n, device="cuda")
        total = torch.empty(1, device="cuda")

        def work():
            torch.sum(x, (0,), True, out=total)
            dist.all_reduce(total)

        work()
        everything = x.double().sum()
        dist.all_reduce(everything)
        self.require(abs(total.item() / everything.item() - 1) < 1e-5, f"sum of {n} floats")
        calls = 4 if n > 1 << 24 else 100
        graph = captured(work, calls)
        spread = microseconds(graph.replay, 1, self.options.repetitions)
        for name in ("median", "low", "high"):
            setattr(spread, name, getattr(spread, name) / calls)
        self.record("sum", "float", n, 1, 4 * n, "torch.sum and all_reduce", "graph", spread)

    def transposition(self, kind, dtype, rows, cols):
        """rows x cols elements of all ranks, both multiples of the number of ranks."""
        own_rows, own_cols, ranks = rows // self.ranks, cols // self.ranks, self.ranks
        modulus = 251 if kind == "byte" else 2039

        def values(r, c):
            return ((r * 7919 + c * 104729) % modulus).to(dtype)

        first_row, first_col = self.rank * own_rows, self.rank * own_cols
        x = values(torch.arange(first_row, first_row + own_rows, device="cuda").view(-1, 1),
                   torch.arange(cols, device="cuda").view(1, -1))
        expected = values(torch.arange(rows, device="cuda").view(1, -1),
                          torch.arange(first_col, first_col + own_cols, device="cuda").view(-1, 1))
        received = torch.empty(ranks, own_rows, own_cols, dtype=dtype, device="cuda")

        def pack_first():
            sent = x.view(own_rows, ranks, own_cols).transpose(0, 1).contiguous()
            dist.all_to_all_single(received, sent)
            return received.view(rows, own_cols).t().contiguous()

        def transpose_first():
            sent = x.t().contiguous()
            dist.all_to_all_single(received, sent)
            return received.view(ranks, own_cols, own_rows).transpose(0, 1).reshape(own_cols, rows)

        size = own_rows * cols * x.element_size()
        for name, work in (("pack, all_to_all_single, transpose", pack_first),
                           ("transpose, all_to_all_single, unpack", transpose_first)):
            self.require(torch.equal(work(), expected), f"{rows} x {cols} of type {kind}: {name}")
            spread = microseconds(work, 20 if size <= 1 << 26 else 4, self.options.repetitions)
            self.record("transpose", kind, rows, cols, size, name, "stream", spread)

    def run(self):
        most = 1 << (26 if self.options.quick else 30)
        for size in (1 << 10, 1 << 20, most):
            self.sum(size // 4)
        for size in (1 << 24, most):
            side = 1  # in bytes, as distributed_transpose_bench has it
            while 2 * side * side <= size:
                side *= 2
            ranks = self.ranks
            self.transposition("float", torch.float32, ranks * side // 2, size // 2 // side)
            self.transposition("double", torch.float64, ranks * side // 4, size // 2 // side)
            self.transposition("half", torch.float16, ranks * side, size // 2 // side)
            self.transposition("byte", torch.uint8, ranks * side, size // side)

    def write(self):
        out = Path(self.options.out)
        out.mkdir(parents=True, exist_ok=True)
        version = ".".join(str(part) for part in torch.cuda.nccl.version())
        header = {"program": "torch_distributed_bench", "gpu": torch.cuda.get_device_name(),
                  "cuda": torch.version.cuda, "torch": torch.__version__, "nccl": version,
                  "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "command": " ".join(sys.argv),
                  "gpus": str(self.ranks)}
        lines = [f"# {name}: {value}" for name, value in header.items()]
        (out / "torch_distributed_bench.csv").write_text("\n".join([*lines, COLUMNS, *self.rows]) + "\n")


def work(rank, ranks, port, options):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    bench = Bench(rank, ranks, options)
    bench.run()
    if rank == 0:
        bench.write()
    dist.destroy_process_group()
    if bench.wrong:
        sys.exit(1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--repetitions", type=int, default=11)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    if torch is None or torch.cuda.device_count() < 2:
        print("torch_distributed_bench: needs PyTorch and two GPUs")
        return MISSING
    ranks = torch.cuda.device_count()
    processes.spawn(work, args=(ranks, free_port(), options), nprocs=ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
