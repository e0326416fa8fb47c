"""The tables of reductions, from results of the benchmarks.

SPDX-License-Identifier: MIT
"""

from bench_grid import Grid
from bench_results import TOOLKIT, mean, number, over, power, size, spread, us

CUB = "cub::DeviceReduce::Reduce"
GPU_TO_GPU = CUB + " gpu_to_gpu"
RUN_TO_RUN = CUB + " run_to_run"
THRUST = "thrust::reduce"
SEGMENTS = "cub::DeviceSegmentedReduce::Sum"
SEGMENT_SIZE = SEGMENTS + " segment_size"
MODES = ["cold-write", "cold-read", "hot", "graph", "wall", "interleaved", "interleaved-wall"]
MIDDLE = range(1 << 14, (1 << 24) + 1)
GIB = 1 << 30


def ratios(results, program, mode, peer):
    """[(ratio, type, n)] of all sums."""
    found = [(over(candidates, peer), case["type"], int(case["n"]))
             for case, candidates in results.cases(program, case="sum", mode=mode)]
    return [it for it in found if it[0] is not None]


def middle_mean(results, program, mode, peer):
    return mean([ratio for ratio, _, n in ratios(results, program, mode, peer) if n in MIDDLE])


def sums_modes(results):
    """Means over the lengths from 2^14 to 2^24, and CUB's worst cell."""
    grid = Grid(["mode"], [f"`{CUB}`, mean", "worst cell", "cells below 0.99", "mean, the toolkit's CCCL",
                           f"`{THRUST}`, mean"])
    for mode in MODES:
        cells = ratios(results, "reduce_bench", mode, CUB)
        worst = min(cells, default=None)
        grid.add([mode], [number(middle_mean(results, "reduce_bench", mode, CUB)),
                          f"{number(worst[0])} ({worst[1]} {power(worst[2])})" if worst else "",
                          str(sum(ratio < 0.99 for ratio, *_ in cells)) if cells else "",
                          number(middle_mean(results, TOOLKIT + "reduce_bench", mode, CUB)),
                          number(middle_mean(results, "reduce_bench", mode, THRUST))])
    return grid


def floats(results, mode):
    """{n: candidates} of the sums of floats."""
    return {int(case["n"]): candidates
            for case, candidates in results.cases("reduce_bench", case="sum", type="float", mode=mode)}


def every(step, lengths):
    """The powers of two whose exponents are 10, 10 + step, and so on."""
    return [n for n in sorted(lengths) if (n.bit_length() - 11) % step == 0]


def sums_floats(results):
    grid = Grid(["n", "bytes"], ["us", "GB/s", *(f"`{CUB}`, {mode}" if mode == MODES[0] else mode for mode in MODES)])
    of_mode = {mode: floats(results, mode) for mode in MODES}
    for n in every(2, of_mode["cold-write"]):
        ours = of_mode["cold-write"][n]["gpuopt"]
        grid.add([power(n), size(4 * n)],
                 [f"{us(ours):.2f}", f"{float(ours['gbps']):.0f}", *(number(over(of_mode[mode].get(n, {}), CUB))
                                                                     for mode in MODES)])
    return grid


def sums_large(results):
    grid = Grid(["type"], ["1 GiB, GB/s", f"`{CUB}`", "4 GiB, GB/s", f"`{CUB}`"])
    for kind in dict.fromkeys(case["type"] for case, _ in results.cases("reduce_bench", case="sum")):
        cases = {int(case["bytes"]): (case, candidates) for case, candidates in
                 results.cases("reduce_bench", case="sum", type=kind, mode="cold-write")}
        values = []
        for most in (GIB, 4 * GIB):
            bytes_ = max((it for it in cases if most // 2 < it <= most), default=None)
            case, candidates = cases.get(bytes_, (None, {}))
            less = f" ({power(int(case['n']))} elements)" if case and bytes_ < most else ""
            values += [f"{float(case['gbps']):.0f}{less}" if case else "", number(over(candidates, CUB))]
        grid.add([kind], values)
    return grid


def sums_deterministic(results):
    """Sums of floats by length: CUB with an environment."""
    grid = Grid(["n"], [f"`{CUB}` with `{kind}`, {mode}" for mode in ("cold-write", "graph", "wall")
                        for kind in ("run_to_run", "gpu_to_gpu")])
    of_mode = {mode: floats(results, mode) for mode in ("cold-write", "graph", "wall")}
    for n in every(4, of_mode["cold-write"]):
        grid.add([power(n)], [number(over(of_mode[mode].get(n, {}), peer)) for mode in of_mode
                              for peer in (RUN_TO_RUN, GPU_TO_GPU)])
    return grid


def forms(results):
    """1 GiB, cold-write; the share of a plain sum's GB/s."""
    grid = Grid(["form", "peer"], ["share of a plain sum", "peer's time over gpuopt's"])
    names = {"dot": "`dot`", "minMax": "`minMax`", "sumMinMax": "`sumMinMax`", "argMin": "`argMin`",
             "meanVariance": "`meanVariance`", "byLength": "`reduce` with `ByLength`",
             "inOrder": "`reduce` with `InOrder`"}
    for form, name in names.items():
        candidates = results.candidates("reduce_forms_bench", case=form, bytes=GIB, mode="cold-write")
        peer = next((it for it in candidates if it.startswith("cub::")), None)
        grid.add([name, f"`{peer}`" if peer else ""],
                 [number(over(candidates, "sum"), 3), number(over(candidates, peer))])
    return grid


def misaligned(results):
    grid = Grid(["type"], ["time over the aligned time", f"`{CUB}`"])
    for case, candidates in results.cases("reduce_forms_bench", case="misaligned", mode="cold-write"):
        aligned = over(candidates, "aligned")
        grid.add([case["type"]], [number(aligned and 1 / aligned, 3), number(over(candidates, CUB))])
    return grid


def share(candidates):
    """GB/s over those of the plain sum."""
    if "gpuopt" not in candidates or "sum" not in candidates:
        return None
    return float(candidates["gpuopt"]["gbps"]) / float(candidates["sum"]["gbps"])


def matrices(results):
    def find(form, n, program="reduce_matrix_bench"):
        return results.candidates(program, case=form, n=n, mode="cold-write")

    grid = Grid(["row length"], ["`reduceRows`, share", f"`{SEGMENT_SIZE}`", f"`{SEGMENTS}`",
                                 "the same, the toolkit's CCCL", "`reduceColumns`, share", "`reduceSegments`, share",
                                 f"`{SEGMENTS}`"])
    for n in dict.fromkeys(int(case["n"]) for case, _ in results.cases("reduce_matrix_bench")):
        rows, segments = find("rows", n), find("segments", n)
        grid.add([str(n)], [number(share(rows)), number(over(rows, SEGMENT_SIZE)), number(over(rows, SEGMENTS)),
                            number(over(find("rows", n, TOOLKIT + "reduce_matrix_bench"), SEGMENTS)),
                            number(share(find("columns", n))), number(share(segments)),
                            number(over(segments, SEGMENTS))])
    return grid


def statistics(results):
    names = ["minMaxRows", "argMinRows", "meanVarianceRows", "minMaxColumns", "argMinColumns", "meanVarianceColumns"]
    grid = Grid(["row length"], [f"`{name}`" for name in names])
    for n in dict.fromkeys(int(case["n"]) for case, _ in results.cases("reduce_statistics_bench")):
        grid.add([str(n)], [number(share(results.candidates("reduce_statistics_bench", case=name, n=n,
                                                            mode="cold-write"))) for name in names])
    return grid


def wall(results):
    names = ["empty launch", "reduceInto", "gpuopt", f"{CUB} + cudaMemcpyAsync", THRUST]
    heads = ["empty launch", "`reduceInto`", "value by `reduce`", f"`{CUB}` and `cudaMemcpyAsync`", f"`{THRUST}`"]
    grid = Grid(["n, float"], heads)
    for case, candidates in results.cases("reduce_forms_bench", case="value", mode="wall"):
        grid.add([power(int(case["n"]))], [f"{us(candidates[name]):.1f}" if name in candidates else ""
                                           for name in names])
    return grid


def block(results):
    """The better of CUB's two algorithms; ratios are gpuopt's cycles over CUB's."""
    grid = Grid(["type, threads"], [f"{name}{what}" for name, peer in
                                    (("`blockReduce`", "`cub::BlockReduce`"),
                                     ("`blockAllReduce`", "`cub::BlockReduce` and broadcast"))
                                    for what in (", cycles", f", {peer}", ", ratio")])
    run = results.runs["block_reduce_bench"]
    for kind, threads in dict.fromkeys((row["type"], row["block"]) for row in run.rows):
        values = []
        for every in ("0", "1"):
            cycles = {row["method"]: float(row["cycles"]) for row in run.rows
                      if (row["type"], row["block"], row["all"], row["reusable"]) == (kind, threads, every, "0")}
            ours = cycles.get("gpuopt")
            best = min((value for name, value in cycles.items() if name.startswith("cub::")), default=None)
            values += [f"{ours:.0f}", f"{best:.0f}", number(ours / best)] if ours and best else ["", "", ""]
        grid.add([f"{kind}, {threads}"], values)
    return grid


def model(results):
    """The time of an empty kernel, and the bytes over the bandwidth of the best read."""
    empty = results.candidates("reduce_bench", case="empty", mode="cold-write").get("launch")
    sums = floats(results, "cold-write")
    read = best_read(results)
    grid = Grid(["n, float", "bytes"], ["empty kernel, us", "bytes / bandwidth, us", "predicted, us",
                                        "measured, us (cold-write)"])
    for n in every(2, sums) if empty and read else []:
        transfer = 4 * n / read / 1e3
        grid.add([power(n), size(4 * n)], [f"{us(empty):.2f}", f"{transfer:.2f}", f"{us(empty) + transfer:.2f}",
                                           f"{us(sums[n]['gpuopt']):.2f}"])
    return grid


def best_read(results):
    """GB/s of the sum of 4 GiB of floats, in the fastest mode of GPU time."""
    return max((float(case["gbps"]) for case, _ in results.cases("reduce_bench", case="sum", type="float",
                                                                 bytes=4 * GIB) if "wall" not in case["mode"]),
               default=None)


def deterministic_range(results):
    """CUB's gpu_to_gpu over gpuopt's, all lengths of floats, cold-write."""
    return spread([over(candidates, GPU_TO_GPU) for candidates in floats(results, "cold-write").values()], 1)
