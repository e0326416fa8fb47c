#!/usr/bin/env python3
"""Compares the profile of the emulated device with what Nsight Compute counts, case by case.

    ncu --csv --log-file ncu.csv --metrics $(compare_profile.py --metrics) profile_counters_native
    GPUOPT_EMULATION_THREADS=1 profile_counters_profiled > profile.csv
    compare_profile.py profile.csv ncu.csv [--all] [--tolerance 0.01]

Prints in Markdown a table of the groups of cases, and one of what differs (with --all, of everything). Exits with 1 if
less than 99 % agrees. With --record it prints the GPU's counts instead, case by case: a file of them is understood in
place of the log.
SPDX-License-Identifier: MIT
"""

import sys
from pathlib import Path

from compare_access import parse, read_launches

GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
PASSES = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
COUNTS = {  # what the profile counts, and the metrics whose sum it is
    "global load requests": [GLOBAL.format("requests", "ld")],
    "global store requests": [GLOBAL.format("requests", "st")],
    "global atomic requests": [GLOBAL.format("requests", "red"), GLOBAL.format("requests", "atom")],
    "global load sectors": [GLOBAL.format("sectors", "ld")],
    "global store sectors": [GLOBAL.format("sectors", "st")],
    "shared atomic requests": ["smsp__inst_executed_op_shared_atom.sum"],
    "shared load passes": [PASSES.format("ld")],
    "shared store passes": [PASSES.format("st")],
    "async copy requests": ["smsp__inst_executed_op_ldgsts.sum"],
    "async copy passes": [PASSES.format("ldgsts")],
}
METRICS = [metric for metrics in COUNTS.values() for metric in metrics]


def read_profile(path):
    """[(group, case, launches, [counts])]"""
    cases = []
    for line in Path(path).read_text().splitlines():
        if line.startswith("#"):
            continue
        group, case, launches, *counts = line.split(";")
        if len(counts) != len(COUNTS):
            raise ValueError(f"{path}: {len(counts)} counts instead of {len(COUNTS)}: {line}")
        cases.append((group, case, int(launches), [int(count) for count in counts]))
    return cases


def read_counts(path, cases):
    """[[counts]] of each case on the GPU: the sums of its launches in a log of ncu, or what has been recorded."""
    if '"ID"' not in Path(path).read_text():
        recorded = read_profile(path)
        if [case[:2] for case in recorded] != [case[:2] for case in cases]:
            raise ValueError(f"{path} has other cases than were profiled")
        return [counts for *_, counts in recorded]
    launches = [[sum(metrics[name] for name in names) for names in COUNTS.values()] for _, metrics in read_launches(path)]
    expected = sum(case[2] for case in cases)
    if len(launches) != expected:
        raise ValueError(f"{expected} launches were profiled, and ncu has {len(launches)}")
    following = iter(launches)
    return [[sum(column) for column in zip(*[next(following) for _ in range(case[2])])] for case in cases]


def compare(cases, counted, tolerance):
    """(group, case, what, profiled, counted, whether they agree) of everything that either has counted."""
    for (group, case, _, ours), theirs in zip(cases, counted):
        for what, own, other in zip(COUNTS, ours, theirs):
            if own or other:
                yield group, case, what, own, other, abs(own - other) <= tolerance * max(own, other)


def print_groups(rows):
    print("| kernels | cases | counts | agree | worst difference of those that agree |\n|---|---|---|---|---|")
    for group in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == group]
        worst = max((abs(a - b) / max(a, b) for *_, a, b, agrees in own if agrees), default=0)
        print(f"| {group} | {len({row[1] for row in own})} | {len(own)} | {sum(row[5] for row in own)} "
              f"| {100 * worst:.1f} % |")


def print_rows(rows):
    print("\n| case | count | profile | GPU | |\n|---|---|---|---|---|")
    for group, case, what, own, other, agrees in rows:
        print(f"| {group}: {case} | {what} | {own} | {other:.0f} | {'' if agrees else 'differs'} |")


def main():
    arguments = parse(__doc__.splitlines()[0], METRICS, "what profile_counters_profiled prints", 0.01,
                      "the larger count", record="print the GPU's counts, and nothing else")
    cases = read_profile(arguments.predictions)
    counted = read_counts(arguments.counts, cases)
    if arguments.record:
        for (group, case, launches, _), counts in zip(cases, counted):
            print(";".join([group, case, str(launches), *(f"{count:.0f}" for count in counts)]))
        return 0
    rows = list(compare(cases, counted, arguments.tolerance))
    print_groups(rows)
    shown = [row for row in rows if arguments.all or not row[5]]
    if shown:
        print_rows(shown)
    agreeing = sum(row[5] for row in rows)
    print(f"{agreeing} of {len(rows)} agree", file=sys.stderr)
    return 0 if agreeing >= 0.99 * len(rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"compare_profile: {error}")
