#!/usr/bin/env python3
"""Writes the tables of the pages from benchmarks/results/<gpu>/*.csv, GPUs side by side.

    bench_pages.py                  writes every table that has results
    bench_pages.py <folder>...      first takes the CSV files of runs, such as build/bench, into benchmarks/results
    bench_pages.py --check          says what is stale, and what has figures without results; exits with 1 then

A table stands between two comments. Until there are results, the first one says that it is typed by hand.
SPDX-License-Identifier: MIT
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

import bench_grid
import bench_results
from bench_tables import TABLES

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path("benchmarks/results")
PLACE = re.compile(r"<!-- (bench_pages\.py writes|typed by hand until there are results): (\w+) -->\n(.*?)<!-- to here -->",
                   re.DOTALL)


def distinct(headers, name):
    return ", ".join(sorted({header[name] for header in headers if name in header}))


def provenance(table, found):
    """The programs of a table and, of each GPU, the date; the versions too where `table` names them."""
    programs = ", ".join(f"`{program.rsplit('/', 1)[-1]}`" for program in table.programs)
    for results in found:
        headers = [results.header(program) for program in table.programs]
        versions = [distinct(headers, "gpu"), f"driver {distinct(headers, 'driver')}",
                    f"CUDA {distinct(headers, 'cuda')}", f"CCCL {distinct(headers, 'cccl')}"]
        gpu = ", ".join(versions) if table.names_versions else results.gpu.upper()
        programs += f"; {gpu}, {distinct(headers, 'date')}"
    return f"Command{'s' if len(table.programs) > 1 else ''}: {programs}."


def written(table, found):
    """The text of a table, or None where no GPU has all of its runs."""
    found = [results for results in found if results.has(table.programs)]
    lines = bench_grid.markdown({results.gpu.upper(): table.grid(results) for results in found})
    if not lines:
        return None
    said = "\n\n".join(part if part.startswith("#") else textwrap.fill(part, 120)
                       for part in [*filter(None, table.says.split("\n\n")), provenance(table, found)])
    return f"\n{said}\n\n" + "\n".join(lines) + "\n\n"


def places(text):
    """{name: (whether it was generated, what stands there)}"""
    return {name: (state == "bench_pages.py writes", body) for state, name, body in PLACE.findall(text)}


def replaced(text, tables):
    """The page with the tables of {name: text}; the others stay as they are."""
    def one(match):
        body = tables.get(match.group(2))
        return match.group() if body is None else \
            f"<!-- bench_pages.py writes: {match.group(2)} -->\n{body}<!-- to here -->"
    return PLACE.sub(one, text)


def problems(pages, tables, found):
    """What is wrong with {path: text}; `tables` is TABLES or a part of it."""
    for name, table in tables.items():
        counts = {path: sum(it == name for _, it, _ in PLACE.findall(text)) for path, text in pages.items()}
        if counts.get(table.page) != 1 or sum(counts.values()) != 1:
            yield f"{table.page}: there must be one place for the table {name}"
            continue
        is_generated, body = places(pages[table.page])[name]
        expected = written(table, found)
        if expected is None and is_generated:
            yield f"{table.page}: the table {name} has figures, but no results: {', '.join(table.programs)}"
        elif expected is not None and (not is_generated or body != expected):
            yield f"{table.page}: the table {name} is stale: call scripts/bench_pages.py"
    for path, text in pages.items():
        for name in places(text).keys() - tables.keys():
            yield f"{path}: nothing writes the table {name}"


def place_of(path, header):
    """Where the results of a run go: those on more than two GPUs into a folder of their own, such as gpus4."""
    gpus = f"gpus{header.get('gpus', 1)}"
    place = Path(bench_results.folder_of(header))
    return place / path if gpus in ("gpus1", "gpus2", path.parts[0]) else place / gpus / path


def take(folder, root):
    """Copies the results of a run, and says where to; a quick run is none. The JSON and text files stay."""
    for file in sorted(Path(folder).rglob("*.csv")):
        header = bench_results.Run(file.read_text()).header
        if "gpu" not in header:
            continue
        if "--quick" in header["command"].split():
            sys.exit(f"bench_pages: {file} is of a quick run: {header['command']}")
        target = root / RESULTS / place_of(file.relative_to(folder), header)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text())
        print(target.relative_to(root))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for folder in options.folders:
        take(folder, options.root)

    found = bench_results.load(options.root / RESULTS)
    pages = {page: (options.root / page).read_text() for page in dict.fromkeys(table.page for table in TABLES.values())}
    tables = {name: written(table, found) for name, table in TABLES.items()}
    if not options.check:
        pages = {path: replaced(text, tables) for path, text in pages.items()}
        for path, text in pages.items():
            (options.root / path).write_text(text)
    waiting = [name for name, text in tables.items() if text is None]
    if waiting:
        print(f"not generated yet, no results: {', '.join(waiting)}")
    wrong = list(problems(pages, TABLES, found))
    for problem in wrong:
        print(problem)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
