#!/usr/bin/env bash
# workflow.sh <preset>: `cmake --workflow --preset <preset>`, and what goes on or is said where that cannot work.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

if ! mkdir -p build 2>/dev/null || [ ! -w build ]; then
  echo "gpuopt: $PWD is read-only: build in another folder, such as the demo by
  cmake -S '$PWD' -B <folder> -DGPUOPT_BUILD_TESTS=OFF -DGPUOPT_BUILD_BENCHMARKS=OFF && cmake --build <folder> --target demo" >&2
  exit 1
fi
if command -v ninja >/dev/null; then exec cmake --workflow --preset "$1"; fi
# Programs alone, whose targets have the names of their presets: install-deps.sh lets nothing else go on without Ninja.
echo "gpuopt: no Ninja, so make builds"
unset MAKEFLAGS
cmake --preset examples -G "Unix Makefiles" -B build/examples-make
exec cmake --build build/examples-make --target "$1" --parallel "$(nproc)"
