"""thin_library.py blanks the code of other architectures, and nothing else.

SPDX-License-Identifier: MIT
"""

import lzma
import random
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import thin_library  # noqa: E402

OTHER = random.Random(1).randbytes(100) + thin_library.MAGIC + b"\1\0"  # the magic number of what is no container


def entry(kind, architecture, code, header=64):
    start = struct.pack("<HHIQ", kind, 257, header, len(code)).ljust(thin_library.ARCHITECTURE_AT, b"h")
    return (start + struct.pack("<I", architecture)).ljust(header, b"H") + code


def container(*entries):
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, entries))) + b"".join(entries)


def library(old, ptx):
    """With the code of sm_75 and some PTX as they are given."""
    return bytearray(OTHER + container(entry(2, 75, old), entry(2, 90, b"kept" * 5), entry(1, 100, ptx, 80)) + OTHER +
                     container(entry(2, 90, b"kept, too")) + container(entry(2, 75, old)) + thin_library.MAGIC)


class ThinLibrary(unittest.TestCase):
    def test_other_architectures_become_zeros(self):
        data = library(b"old!" * 7, b"text" * 3)
        self.assertEqual(thin_library.blank(data, 90), 2 * 28 + 12)
        self.assertEqual(data, library(bytes(28), bytes(12)))

    def test_another_architecture(self):
        data = library(b"old!" * 7, b"text" * 3)
        thin_library.blank(data, 75)
        self.assertNotIn(b"kept", data)
        self.assertEqual(data.count(b"old!" * 7), 2)

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path, compressed = Path(folder) / "it.so", Path(folder) / "it.so.xz"
            path.write_bytes(library(b"old!" * 7, b"text"))
            with mock.patch.object(sys, "argv", ["thin_library.py", str(path), str(compressed)]), mock.patch("builtins.print"):
                thin_library.main()
            self.assertEqual(lzma.decompress(compressed.read_bytes()), bytes(library(bytes(28), bytes(4))))


if __name__ == "__main__":
    unittest.main()
