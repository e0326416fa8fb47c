#!/usr/bin/env bash
# The tests under the emulated device's check for races. Usage: scripts/check-races.sh [--leave-out] [test]...; a test is
# a path in tests/ without _test.cu; without tests a sample runs.
#
# --leave-out tests the check: each barrier, fence and wait of the library that the tests reach orders nothing in turn,
# and is listed as found or missed. Status 1 if one is missed.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/check-races
mkdir -p "$build"
leaveOut=
if [ "${1:-}" = --leave-out ]; then leaveOut=1; shift; fi
if [ $# -eq 0 ]; then set -- block/histogram block/reduce block/transpose device/reduce/combine device/transpose/tiles warp/struct_tile; fi

compiler=${CXX:-g++}
flags=(-std=c++17 -Wno-unknown-pragmas -Iemulation/include -Iinclude -Itests)
checked=("@emulation/check/options" -O1)
objects=("$build/check.o" "$build/main.o")
$compiler "${flags[@]}" -O2 -DGPUOPT_EMULATION_BACKTRACE -c emulation/check/check.cpp -o "$build/check.o"
$compiler "${flags[@]}" -O0 -c tests/support/main.cpp -o "$build/main.o"
for name in "$@"; do objects+=("$build/${name//\//_}.o"); done
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh -c \
  'object=$(echo "{}" | tr / _); exec '"$compiler ${flags[*]} ${checked[*]}"' -x c++ -c "tests/{}_test.cu" -o "'"$build"'/$object.o"'
$compiler "${objects[@]}" -lboost_context -lpthread -lbacktrace -o "$build/test"

export GPUOPT_EMULATION_CHECK=races GPUOPT_EMULATION_ORDER=random GPUOPT_TEST_EVERY=${GPUOPT_TEST_EVERY:-7}
if [ -z "$leaveOut" ]; then exec "$build/test"; fi

lines=$(GPUOPT_EMULATION_CHECK_WITHOUT=none "$build/test" 2>&1 | sed -n 's|.*synchronises at .*include/\(gpuopt/\)|\1|p')
missed=0 all=0
for line in $lines; do
  all=$((all + 1))
  if GPUOPT_EMULATION_CHECK_WITHOUT=$line "$build/test" > "$build/output" 2>&1; then
    missed=$((missed + 1))
    echo "missed $line"
  else
    echo "found  $line"
  fi
done
echo "$((all - missed)) of $all were found"
[ "$missed" = 0 ]
