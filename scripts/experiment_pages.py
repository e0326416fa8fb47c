#!/usr/bin/env python3
"""Writes the tables of docs/experiments/*.md from benchmarks/results/<gpu>/experiments/*.csv.

    experiment_pages.py             writes every table that has results
    experiment_pages.py <file>...   first takes files of `experiments --csv`, such as build/ladders/experiments.csv
    experiment_pages.py --check     says which tables are stale; exits with 1 then

A place for a table is a pair of comments. `<!-- experiment_pages.py writes: latency 2 -->` is the second table of the
experiment, `<!-- experiment_pages.py writes: latency run -->` the GPU, the date and the command. The places end with
`<!-- to here -->`. Tables are those of the first GPU that has the experiment; one that its run does not have yet comes
from the next GPU, and says so. An empty place waits for its first run; one with a table that no run has is stale.
SPDX-License-Identifier: MIT
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

import bench_results

ROOT = Path(__file__).resolve().parents[1]
PAGES = "docs/experiments/*.md"
PLACE = re.compile(r"<!-- experiment_pages\.py writes: (\w+) (\d+|run) -->\n(.*?)<!-- to here -->", re.DOTALL)


def distinct(values):
    return list(dict.fromkeys(values))


def number(text):
    """Three digits, and whole numbers as they are."""
    if not text:
        return ""
    value = float(text)
    return f"{value:.0f}" if value == int(value) and value < 10000 else f"{float(f'{value:.3g}'):.10g}"


def cell(text):
    """As Markdown: no bars and no bold type."""
    return text.replace("|", "\\|").replace("__", "\\_\\_")


def markdown(rows):
    """A table of rows of the CSV file, which are those of one table."""
    headings = [heading.strip() for heading in rows[0]["headings"].split("|")]
    shown = [column for column, heading in zip(("row", "then", "predicted"), headings) if heading]
    measured = distinct(row["measured"] for row in rows if row["measured"])
    values = {(row["row"], row["measured"]): number(row["value"]) for row in rows}
    lines = ["| " + " | ".join([heading for heading in headings if heading] + measured) + " |",
             "|" + "---|" * (len(shown) + len(measured))]
    for name in distinct(row["row"] for row in rows):
        row = next(row for row in rows if row["row"] == name)
        cells = [cell(row[column]) for column in shown] + [values.get((name, column), "") for column in measured]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def titles_of(run):
    return distinct(row["table"] for row in run.rows)


def run_of(match, runs):
    """The run that has what belongs into the place, or None."""
    count = 0 if match[2] == "run" else int(match[2])
    return next((run for run in runs.get(match[1], []) if count <= len(titles_of(run))), None)


def table(run, count, runs):
    """The table of that number, counted from 1, below its title."""
    title = titles_of(run)[count - 1]
    origin = "" if run is runs[0] else f"{provenance(run)}\n\n"
    rows = [row for row in run.rows if row["table"] == title]
    return textwrap.fill(f"**{title}**", 120) + f"\n\n{origin}{markdown(rows)}"


def provenance(run):
    words = [Path(run.header["command"].split()[0]).name, *run.header["command"].split()[1:]]
    return textwrap.fill("{gpu}, driver {driver}, CUDA {cuda}, {date}; command: ".format(**run.header) +
                         f"`{' '.join(words)}`.", 120)


def replaced(page, runs):
    """The page with the tables of {experiment: runs}; the others stay as they are."""
    def one(match):
        run = run_of(match, runs)
        if run is None:
            return match[0]
        text = provenance(run) if match[2] == "run" else table(run, int(match[2]), runs[match[1]])
        return f"<!-- experiment_pages.py writes: {match[1]} {match[2]} -->\n\n{text}\n\n<!-- to here -->"
    return PLACE.sub(one, page)


def load(results):
    """{experiment: its runs}, GPUs in the order of the benchmarks' pages."""
    runs = {}
    for gpu in bench_results.load(results):
        for name, run in gpu.runs.items():
            if name.startswith("experiments/"):
                runs.setdefault(name.removeprefix("experiments/"), []).append(run)
    return runs


def take(file, results):
    """Copies the results of a run, a file for each experiment; those of the emulated device are none."""
    text = Path(file).read_text()
    run = bench_results.Run(text)
    if not any(row["value"] for row in run.rows):
        sys.exit(f"experiment_pages: {file} has no times")
    if any(row["right"] != "yes" for row in run.rows):
        sys.exit(f"experiment_pages: {file} has results that are wrong")
    lines = text.splitlines()
    header = [line for line in lines if line.startswith("# ")]
    columns = lines[len(header)]
    for name in distinct(row["experiment"] for row in run.rows):
        target = results / bench_results.folder_of(run.header) / "experiments" / f"{name}.csv"
        target.parent.mkdir(parents=True, exist_ok=True)
        rows = [line for line in lines[len(header) + 1:] if line.startswith(f"{name},")]
        target.write_text("\n".join([*header, columns, *rows]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    results = options.root / "benchmarks" / "results"
    for file in options.files:
        take(file, results)

    runs = load(results)
    stale = 0
    for path in sorted(options.root.glob(PAGES)):
        page = path.read_text()
        new = replaced(page, runs)
        missing = sorted({match[1] for match in PLACE.finditer(page) if match[3] and run_of(match, runs) is None})
        for name in missing:
            print(f"{path.relative_to(options.root)}: no results of {name}")
        stale += bool(missing)
        if new != page and options.check:
            print(f"{path.relative_to(options.root)}: stale: call scripts/experiment_pages.py")
            stale += 1
        elif new != page:
            path.write_text(new)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
