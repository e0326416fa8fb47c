#!/usr/bin/env python3
"""thin_library.py [--arch 90] <library> <library.xz>: a CUDA library with the code of one architecture, compressed.

The code of other architectures, PTX too, becomes zeros, which the compression removes: every address in the file stays.
No document tells the layout of device code in a file; this one is that of the libraries of CUDA 13.

SPDX-License-Identifier: MIT
"""

import argparse
import lzma
import struct
from pathlib import Path

MAGIC = struct.pack("<I", 0xBA55ED50)
CONTAINER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of all entries
ENTRY = struct.Struct("<HHIQ")      # kind, version, bytes of this header, bytes of the code
ARCHITECTURE = struct.Struct("<I")  # in the header of an entry
ARCHITECTURE_AT = 28


def containers(data):
    """(begin, end) of the entries of each container of device code."""
    found = data.find(MAGIC)
    while found >= 0:
        end = found + len(MAGIC)
        if found + CONTAINER.size <= len(data):
            _, version, header, size = CONTAINER.unpack_from(data, found)
            if version == 1 and header == CONTAINER.size and found + header + size <= len(data):
                end = found + header + size
                yield found + header, end
        found = data.find(MAGIC, end)


def blank(data, architecture):
    """Zeros instead of the code of other architectures; how many bytes became zeros."""
    blanked = 0
    for entry, end in containers(data):
        while entry < end:
            *_, header, size = ENTRY.unpack_from(data, entry)
            if ARCHITECTURE.unpack_from(data, entry + ARCHITECTURE_AT)[0] != architecture:
                data[entry + header:entry + header + size] = bytes(size)
                blanked += size
            entry += header + size
    return blanked


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("compressed", type=Path)
    parser.add_argument("--arch", type=int, default=90)
    options = parser.parse_args()
    data = bytearray(options.library.read_bytes())
    blanked = blank(data, options.arch)
    compressed = lzma.compress(data, preset=2)
    options.compressed.write_bytes(compressed)
    print(f"{options.compressed}: {len(data) >> 20} MiB, {blanked >> 20} of them blanked; {len(compressed) >> 20} MiB "
          f"compressed")


if __name__ == "__main__":
    main()
