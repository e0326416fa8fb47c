#!/usr/bin/env python3
"""toolchains.py [<name>...]: fetches the toolkits of toolchains.txt, or what is named, and says where each one is.

A toolkit of this machine serves where it is of the same release; the others, and the peers of the benchmarks, come from
PyPI into build/toolchains, each joined into one folder that looks like an installation: bin, nvvm, include, lib. They
stay until toolchains.txt changes.

SPDX-License-Identifier: MIT
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
FOLDER = SCRIPTS.parent / "build" / "toolchains"


class Unavailable(Exception):
    """Why a toolkit or a compiler is not to be had here."""


def pinned():
    """{name: (source, packages)} of toolchains.txt."""
    lines = (line.split() for line in (SCRIPTS / "toolchains.txt").read_text().splitlines() if not line.startswith("#"))
    return {name: (source, packages) for name, source, *packages in lines}


def toolkits():
    return [name for name, (source, _) in pinned().items() if source == "pypi"]


def installed(name):
    """The toolkit of this machine, if it is the release that `name` is."""
    nvcc = shutil.which("nvcc", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout if nvcc else ""
    return Path(nvcc).resolve().parents[1] if f"release {name.removeprefix('cuda-')}," in said else None


def join(folder, parts):
    """Links the files of all parts into one folder, which appears when it is complete."""
    started = folder.with_suffix(".part")
    shutil.rmtree(started, ignore_errors=True)
    for part in parts:
        shutil.copytree(part, started, copy_function=os.link, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__init__.py", "__pycache__"))
    started.rename(folder)


def fetched(name, packages):
    """The toolkit from PyPI. A failure is remembered for the others: without a network each one would take a minute."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    requirements = FOLDER / f"{name}.txt"
    requirements.write_text("\n".join(packages) + "\n")
    environment = FOLDER / name
    done = subprocess.run([SCRIPTS / "venv.sh", environment, requirements], capture_output=True, text=True,
                          env={**os.environ, "PIP_RETRIES": "1"})
    if done.returncode:
        (FOLDER / f"{name}.log").write_text(done.stdout + done.stderr)
        raise Unavailable(f"{name} could not be fetched from PyPI")
    toolkit = environment / "toolkit"
    if not toolkit.exists():
        wheels = next(environment.glob("lib/python3*/site-packages"))
        join(toolkit, sorted([*wheels.glob("nvidia/[a-z]*/"), *wheels.glob("cutensor/")]))
        if (toolkit / "bin").exists() and not (toolkit / "bin" / "fatbinary").exists():
            (toolkit / "bin" / "fatbinary").symlink_to(toolkit_folder("cuda-13.0") / "bin" / "fatbinary")
    return toolkit


def toolkit_folder(name, found={}):
    """The folder of a toolkit; raises Unavailable."""
    if name not in found:
        try:
            found[name] = installed(name) or fetched(name, pinned()[name][1])
        except Unavailable as reason:
            found[name] = reason
    if isinstance(found[name], Unavailable):
        raise found[name]
    return found[name]


def compiler(name):
    """The path of a compiler; raises Unavailable."""
    found = shutil.which(name)
    if not found:
        raise Unavailable(f"{name} is not installed")
    return found


def version_of(command):
    """What a compiler says that it is, as 22.1.8 or 13.0.88."""
    said = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    return re.search(r"V(\d+(?:\.\d+)+)|(?:version|\)) (\d+(?:\.\d+)+)", said).expand(r"\1\2")


def main(names):
    failed = False
    for name in names or toolkits():
        try:
            print(f"{name}: {toolkit_folder(name)}")
        except Unavailable as reason:
            print(f"{name}: {reason}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
