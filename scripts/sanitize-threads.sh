#!/usr/bin/env bash
# The ranks of a team as threads, on the emulated device, under ThreadSanitizer: a missing barrier is a data race.
# Usage: scripts/sanitize-threads.sh [test]...; without tests those of many calls and of mistakes.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/sanitize-threads
mkdir -p "$build"
if [ $# -eq 0 ]; then set -- transpose_calls transpose_errors; fi

compiler=${CXX:-g++}
# Atomic operations and fences of the emulated device are those of the host: ThreadSanitizer knows both, but warns of
# fences when it compiles.
flags=(-std=c++17 -g1 -fsanitize=thread -Wno-unknown-pragmas -Iemulation/include -Iinclude -Itests)
if "$compiler" -Werror -Wno-tsan -x c++ -fsyntax-only /dev/null 2> /dev/null; then flags+=(-Wno-tsan); fi
sources=(tests/support/main.cpp)
for name in "$@"; do sources+=("tests/device/distributed/${name}_test.cu"); done

objects=()
for source in "${sources[@]}"; do
  object="$build/$(basename "$source").o"
  objects+=("$object")
  optimise=-O1
  if [ "$source" = tests/support/main.cpp ]; then optimise=-O0; fi
  "$compiler" "${flags[@]}" "$optimise" -x c++ -c "$source" -o "$object" &
done
for job in $(jobs -p); do wait "$job"; done
"$compiler" -fsanitize=thread "${objects[@]}" -lboost_context -lpthread -o "$build/test"
GPUOPT_EMULATION_ORDER=random TSAN_OPTIONS="suppressions=tests/device/distributed/threads.supp halt_on_error=1" "$build/test"
