#!/usr/bin/env python3
"""Compares the profile of the emulated device with what Nsight Compute counts, case by case.

    ncu --csv --log-file ncu.csv --metrics $(compare_profile.py --metrics) profile_counters_native
    profile_counters_profiled > profile.csv
    compare_profile.py profile.csv ncu.csv [--all] [--tolerance 0.01]

Prints a table of what differs (with --all, of everything) in Markdown. Exits with 1 if less than 99 % agrees.
SPDX-License-Identifier: MIT
"""

import sys
from pathlib import Path

from compare_access import parse, read_launches

MARKER = "beginCase"  # the kernel that begins a case
METRICS = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared store passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def read_profile(path):
    """[(case, [count of each metric])]"""
    cases = []
    for line in Path(path).read_text().splitlines():
        name, *counts = line.split(";")
        if len(counts) != len(METRICS):
            raise ValueError(f"{path}: {len(counts)} counts instead of {len(METRICS)}: {line}")
        cases.append((name, [int(count) for count in counts]))
    return cases


def read_cases(path):
    """[[count of each metric]] of the cases in a log of ncu: the sums of the kernels after each marker."""
    cases = []
    for kernel, counts in read_launches(path):
        if MARKER in kernel:
            cases.append([0] * len(METRICS))
        elif cases:
            cases[-1] = [total + counts[metric] for total, metric in zip(cases[-1], METRICS.values())]
    return cases


def compare(profiled, counted, tolerance):
    """(case, what, profiled, counted, whether they agree) of everything that either has counted."""
    if len(profiled) != len(counted):
        raise ValueError(f"{len(profiled)} cases were profiled, and ncu has {len(counted)}")
    for (case, ours), theirs in zip(profiled, counted):
        for what, own, other in zip(METRICS, ours, theirs):
            if own or other:
                yield case, what, own, other, abs(own - other) <= tolerance * max(own, other)


def main():
    arguments = parse(__doc__.splitlines()[0], METRICS.values(), "what profile_counters_profiled prints", 0.01,
                      "the larger count")
    rows = list(compare(read_profile(arguments.predictions), read_cases(arguments.counts), arguments.tolerance))
    shown = [row for row in rows if arguments.all or not row[4]]
    if shown:
        print("| case | count | profile | GPU | |\n|---|---|---|---|---|")
    for case, what, own, other, agrees in shown:
        print(f"| {case} | {what} | {own} | {other:.0f} | {'' if agrees else 'differs'} |")
    agreeing = sum(row[4] for row in rows)
    print(f"{agreeing} of {len(rows)} agree", file=sys.stderr)
    return 0 if agreeing >= 0.99 * len(rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"compare_profile: {error}")
