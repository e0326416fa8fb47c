"""Every table that scripts/bench_pages.py writes: its page, what it stands on, and what is said above it.

SPDX-License-Identifier: MIT
"""

from dataclasses import dataclass
from typing import Callable

import bench_tables_distributed as distributed
import bench_tables_histogram as histogram
import bench_tables_memory as memory
import bench_tables_pipelines as pipelines
import bench_tables_reduce as reduce
import bench_tables_transfer as transfer
from bench_grid import Grid
from bench_results import number, over, power

PERFORMANCE = "docs/performance.md"
DISTRIBUTED = "docs/distributed.md"
FOUR = "gpus4/"  # before the name of a program that ran on four GPUs
BY_TORCH = "a process for each GPU, by `torch_distributed_bench.py`"


@dataclass(frozen=True)
class Table:
    """`says` stands above the table, with a heading where the table appears on the page with its first results."""

    page: str
    programs: tuple
    grid: Callable
    says: str = ""
    names_versions: bool = False


def machines(results):
    headers = [run.header for run in results.runs.values() if "gpu" in run.header]

    def distinct(name):
        return ", ".join(sorted({header[name] for header in headers if name in header}))

    copies = [float(header["copy_gbps"]) for header in headers if "copy_gbps" in header]
    empty = results.candidates("reduce_bench", case="empty", mode="wall").get("launch")
    read = reduce.best_read(results)
    grid = Grid([""], [""])
    for name, value in {"GPU": distinct("gpu"), "driver": distinct("driver"), "CUDA": distinct("cuda"),
                        "CCCL (CUB and Thrust)": distinct("cccl"), "dates": distinct("date"),
                        "best copy, bytes read and written": f"{max(copies):.0f} GB/s" if copies else "",
                        "best read, float sum of 4 GiB": f"{read:.0f} GB/s" if read else "",
                        "empty kernel: launch and synchronisation, wall time":
                            f"{float(empty['us']):.1f} us" if empty else ""}.items():
        grid.add([name], [value])
    return grid


def overview(results):
    """The first table of the page. The rows are those that have results."""
    grid = Grid(["", "peer", "program"], ["gpuopt", "peer's time over gpuopt's"])

    def add(what, peer, program, ours, ratio):
        grid.add([what, f"`{peer}`", f"`{program}`"], [ours, number(ratio)] if ratio is not None else [])

    def add_share(what, peer, program, **wanted):
        candidates = results.candidates(program, **wanted)
        ours = number(memory.ratio(candidates["gpuopt"])) if "gpuopt" in candidates else ""
        add(what, peer, program, f"{ours} of the best copy's GB/s", over(candidates, peer))

    sums = results.candidates("reduce_bench", case="sum", type="float", bytes=4 * reduce.GIB, mode="cold-write")
    add("sum of 4 GiB of floats", reduce.CUB, "reduce_bench",
        f"{float(sums['gpuopt']['gbps']):.0f} GB/s" if sums else "", over(sums, reduce.CUB))
    add("sums of seven types, 2^14 to 2^24 elements, cold cache: on average", reduce.CUB, "reduce_bench", "ratios alone",
        reduce.middle_mean(results, "reduce_bench", "cold-write", reduce.CUB))
    grid.add(["sums of floats with the same bits on every GPU: all lengths", f"`{reduce.GPU_TO_GPU}`",
              "`reduce_bench`"], ["ratios alone", reduce.deterministic_range(results)])
    value = results.candidates("reduce_forms_bench", case="value", n=1 << 14, mode="wall")
    copy = f"{reduce.CUB} + cudaMemcpyAsync"
    add("sum of 2^14 floats, from the call to the value on the host", copy, "reduce_forms_bench",
        f"{float(value['gpuopt']['us']):.1f} us; an empty launch, synchronised: {float(value['empty launch']['us']):.1f} us"
        if value else "", over(value, copy))
    rows = results.candidates("reduce_matrix_bench", case="rows", n=64, mode="cold-write")
    add("sums of rows of 64 floats, 1 GiB", reduce.SEGMENT_SIZE, "reduce_matrix_bench",
        f"{number(reduce.share(rows))} of a plain sum's GB/s", over(rows, reduce.SEGMENT_SIZE))
    counts = results.candidates("histogram_bench", element="float", bins=4096, distribution="uniform", mode="cold-read")
    add("histogram of 1 GiB of floats, 4096 bins", histogram.CUB_CALL, "histogram_bench",
        f"{number(memory.ratio(counts['gpuopt']))} of the best read's GB/s" if counts else "",
        over(counts, histogram.CUB))
    add_share("transposition of 16384 x 16384 floats", "cublasSgeam", "transpose_bench", case="aligned", element=4,
              rows=16384, cols=16384)
    add_share("images of 56 x 56 pixels, 256 floats each, NHWC to NCHW", memory.PERMUTE, "transpose_bench",
              case="images", element=4, rows=3136, cols=256)
    add_share("structures of 64 bytes, read, changed and written", memory.TRANSFORM, "struct_bench", case="words",
              element=64, align=4)
    add_share(f"inverses of {power(1 << 20)} matrices of 4 x 4 floats", memory.INVERSE, "struct_inverse_bench",
              n=1 << 20)

    def add_transfer(what, peer, **wanted):
        candidates = results.candidates(transfer.PROGRAM, **wanted)
        add(what, peer, transfer.PROGRAM, f"{transfer.share(candidates)} of a large pinned copy's GB/s",
            over(candidates, peer))

    add_transfer("16 MiB of ordinary memory to the device", transfer.MEMCPY, case="up", element="16 MiB")
    add_transfer("65536 scattered blocks of 4 KiB, pinned, to the device", transfer.BATCH, case="gather", element=4096,
                 n=65536)
    return grid


RATIO = "peer's time over gpuopt's"
TABLES = {
    "overview": Table(PERFORMANCE, ("reduce_bench", "reduce_forms_bench", "reduce_matrix_bench", "transpose_bench",
                                    "struct_bench", "transfer_bench"), overview, names_versions=True),
    "machines": Table(PERFORMANCE, ("reduce_bench", "transpose_bench", "struct_bench"), machines),
    "sums_modes": Table(PERFORMANCE, ("reduce_bench",), reduce.sums_modes),
    "sums_floats": Table(PERFORMANCE, ("reduce_bench",), reduce.sums_floats),
    "sums_large": Table(PERFORMANCE, ("reduce_bench",), reduce.sums_large),
    "sums_deterministic": Table(
        PERFORMANCE, ("reduce_bench",), reduce.sums_deterministic,
        f"Sums of floats in an order that the length alone decides, so that every run and every GPU gives the same "
        f"bits: {RATIO}. gpuopt's plain sum, beside CUB's sum with an environment that requires it."),
    "forms": Table(PERFORMANCE, ("reduce_forms_bench",), reduce.forms),
    "misaligned": Table(PERFORMANCE, ("reduce_forms_bench",), reduce.misaligned),
    "matrices": Table(PERFORMANCE, ("reduce_matrix_bench",), reduce.matrices),
    "statistics": Table(
        PERFORMANCE, ("reduce_statistics_bench",), reduce.statistics,
        "Extremes, positions and moments of rows and columns: share of a plain sum's GB/s."),
    "wall": Table(PERFORMANCE, ("reduce_forms_bench",), reduce.wall),
    "block": Table(PERFORMANCE, ("block_reduce_bench",), reduce.block),
    "transpositions": Table(PERFORMANCE, ("transpose_bench",), memory.transpositions),
    "cublas": Table(PERFORMANCE, ("transpose_bench",), memory.cublas),
    "images": Table(
        PERFORMANCE, ("transpose_bench",), memory.images,
        f"Images from NHWC to NCHW, by pixels x channels, and back: share of the best copy, and {RATIO}."),
    "small": Table(PERFORMANCE, ("transpose_bench",), memory.small),
    "functions": Table(PERFORMANCE, ("transpose_bench",), memory.functions),
    "in_place": Table(PERFORMANCE, ("transpose_bench",), memory.in_place),
    "permutations": Table(
        PERFORMANCE, ("permute_bench",), memory.permutations,
        "## Permutations\n\nThe cases of `benchmarks/permute_cases.txt`, which names the source of each set; L2 flushed by "
        "writes, below 1 MiB in a graph. Share of the best copy of as many bytes, and in how many cases cuTENSOR is "
        "faster."),
    "structs": Table(PERFORMANCE, ("struct_bench",), memory.structs),
    "struct_groups": Table(PERFORMANCE, ("struct_bench",), memory.struct_groups),
    "gathers": Table(PERFORMANCE, ("struct_bench",), memory.gathers),
    "inverses": Table(
        PERFORMANCE, ("struct_inverse_bench",), memory.inverses,
        f"Inverses of 4 x 4 matrices of floats, each a structure of `transform`: {RATIO}."),
    "soa": Table(PERFORMANCE, ("soa_bench",), memory.soa),
    "histograms": Table(
        PERFORMANCE, ("histogram_bench",), histogram.histograms,
        f"## Histograms\n\n1 GiB of samples, L2 flushed by reads: share of the best read of as many bytes by the "
        f"distribution of the samples, and {RATIO}, over the distributions. CUB has no counts of 2^24 bins: its scratch "
        f"memory would be 35 GB."),
    "few_samples": Table(
        PERFORMANCE, ("histogram_bench",), histogram.few_samples,
        f"Few uniform samples, calls in a graph: time of a call, and {RATIO}."),
    "reductions_by_keys": Table(
        PERFORMANCE, ("reduce_by_bench",), histogram.reductions,
        f"## Reductions by keys\n\n`reduceBy` of 1 GiB of pairs of an integer key and a value, 4 bytes each, L2 flushed "
        f"by reads: share of the best read of both by the distribution of the keys, and {RATIO}, over the distributions. "
        f"Thrust's memory is there beforehand."),
    "few_pairs": Table(
        PERFORMANCE, ("reduce_by_bench",), histogram.few_pairs,
        "Few pairs with uniform keys, 1024 bins, calls in a graph: microseconds of a call."),
    "maps": Table(
        PERFORMANCE, ("map_bench",), memory.maps,
        f"## Functions of elements\n\n1 GiB of the larger array, L2 flushed by writes; share of the best copy or read "
        f"of as many bytes, and {RATIO}."),
    "transfers": Table(
        PERFORMANCE, ("transfer_bench",), transfer.arrays,
        f"## Transfers\n\nArrays in pageable memory, host time until the data has arrived: share of the speed of a pinned "
        f"copy of 1 GiB, and {RATIO}."),
    "blocks": Table(
        PERFORMANCE, ("transfer_bench",), transfer.blocks,
        f"Scattered blocks of pinned memory: the same. The loop calls `cudaMemcpyAsync` for each block."),
    "pinned_sums": Table(
        PERFORMANCE, ("transfer_bench",), transfer.sums,
        f"Sums of pinned memory, which the kernel reads through the link, until the value is on the host: us, and "
        f"{RATIO} where a copy goes first."),
    "pipelines": Table(
        PERFORMANCE, ("pipeline_bench",), pipelines.pipelines,
        f"## Pipelines\n\nData of the host through the device in chunks, wall time of a call; both ways added. The link "
        f"is a copy of 1 GiB of pinned memory, or one each way at once, in the same run. {RATIO.capitalize()}: two or "
        f"three streams with a buffer each, and plain calls one after another."),
    "frames": Table(
        PERFORMANCE, ("pipeline_bench",), pipelines.frames,
        "Frames of 1920 x 1080 pixels of 16 bits, 1900 a second, from produced to the result on the host: copied to the "
        "device and back, or read and written through the link."),
    "torch": Table(
        PERFORMANCE, ("torch_bench",), memory.torch,
        f"## PyTorch\n\nThe same tensors, GPU time, L2 flushed by writes; outputs are there beforehand, so PyTorch "
        f"allocates none. {RATIO.capitalize()}."),
    "distributed": Table(
        DISTRIBUTED, ("distributed_bench",), distributed.sums,
        f"The slowest rank's time of one call within a graph of many, in a process with a thread for each GPU. PyTorch: "
        f"`torch.sum` and `all_reduce`, {BY_TORCH}."),
    "distributed_four": Table(
        DISTRIBUTED, (FOUR + "distributed_bench",), lambda results: distributed.sums(results, FOUR),
        "The same on four GPUs."),
    "distributed_transpose": Table(
        DISTRIBUTED, ("distributed_transpose_bench",), distributed.transpositions,
        f"Transpositions in slabs of rows, the slowest rank's time of one call within a graph. The copy engine moves the "
        f"bytes that go to other GPUs, in the same run. PyTorch: `all_to_all_single` between two copies, call after call "
        f"in a stream, {BY_TORCH}."),
    "distributed_transpose_four": Table(
        DISTRIBUTED, (FOUR + "distributed_transpose_bench",),
        lambda results: distributed.transpositions(results, FOUR), "The same on four GPUs."),
    "model": Table(PERFORMANCE, ("reduce_bench",), reduce.model),
}
