#!/usr/bin/env bash
# venv.sh <folder> <requirements>: a Python environment with the packages of a file. It stays until that file changes.
# SPDX-License-Identifier: MIT
set -euo pipefail

if ! cmp -s "$2" "$1/requirements.txt"; then
  rm -rf "$1"
  python3 -m venv "$1"
  "$1/bin/pip" install -q --disable-pip-version-check -r "$2"
  cp "$2" "$1/requirements.txt"
fi
