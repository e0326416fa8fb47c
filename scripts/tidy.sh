#!/usr/bin/env bash
# tidy.sh [regex]: clang-tidy, with .clang-tidy, over the sources that are compiled for the emulated device, or over those
# whose paths match. Left out are precompiled headers and what is hostile on purpose. Each finding is shown once, however
# many sources include it.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

command -v clang-tidy >/dev/null || { echo "tidy: clang-tidy not found, nothing checked" >&2; exit 2; }
scripts/install-deps.sh tests examples
build=build/emulated
log=$build/tidy.log
mkdir -p "$build"
cmake --preset emulated -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$log" 2>&1 || { tail -n 40 "$log" >&2; exit 1; }

mapfile -t sources < <(sed -n 's/^ *"file": "\(.*\)".*/\1/p' "$build/compile_commands.json" |
  grep -v -e cmake_pch -e hostile | grep -E -- "${1:-.}")
[ ${#sources[@]} -gt 0 ] || { echo "tidy: no source matches $1" >&2; exit 2; }
if printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -quiet -p "$build" >"$log" 2>&1; then
  echo "tidy: ${#sources[@]} sources, no findings"
else
  grep -E ': (error|warning): |^(error|xargs): ' "$log" | sort -u || tail -n 40 "$log"
  exit 1
fi
