#!/usr/bin/env bash
# The tests under the emulated device's check for races. Usage: scripts/check-races.sh [--leave-out] [test]...; a test is
# a path in tests/ without _test.cu; without tests a sample runs. GPUOPT_TEST_CASES, such as '~[sweep]', chooses cases.
#
# --leave-out tests the check: each barrier, fence and wait of the library that the tests reach orders nothing in turn,
# and is listed as found, found in a strict check alone (races,strict, by a test that is clean under it), or missed.
# Status 1 if one is missed.
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
# Each test is a program of its own: every block begins with poison in the shared memory of all kernels of a program.
$compiler "${flags[@]}" -O2 -DGPUOPT_EMULATION_BACKTRACE -c emulation/check/check.cpp -o "$build/check.o"
$compiler "${flags[@]}" -O0 -c tests/support/main.cpp -o "$build/main.o"
printf '%s\n' "$@" | xargs -P "${GPUOPT_JOBS:-$(nproc)}" -I{} sh -c 'name=$(echo "{}" | tr / _); '"
  $compiler ${flags[*]} ${checked[*]} -x c++ -c 'tests/{}_test.cu' -o $build/\$name.o &&
  $compiler $build/check.o $build/\$name.o $build/main.o -lboost_context -lpthread -lbacktrace -o $build/\$name"

export GPUOPT_EMULATION_CHECK=races GPUOPT_EMULATION_ORDER=random GPUOPT_TEST_EVERY=${GPUOPT_TEST_EVERY:-7}
# run_test TEST: its output on that of the script.
run_test() {
  local devices=1
  if [[ $1 = *distributed* ]]; then devices=3; fi
  GPUOPT_EMULATION_DEVICES=$devices "$build/${1//\//_}" ${GPUOPT_TEST_CASES:+"$GPUOPT_TEST_CASES"} < /dev/null
}
if [ -z "$leaveOut" ]; then
  for name in "$@"; do run_test "$name"; done
  exit
fi

# is_found LINE TEST...: whether one of the tests that reach a line reports what is left out there.
is_found() {
  local line=$1 name status
  shift
  for name in "$@"; do
    if ! grep -qxF "$line" "$build/${name//\//_}.lines"; then continue; fi
    status=0
    GPUOPT_EMULATION_CHECK_WITHOUT=$line run_test "$name" > "$build/output" 2>&1 || status=$?
    if [ $status -eq 66 ]; then return 0; fi  # others: ranks that are too slow for a test of timeouts
  done
  return 1
}

for name in "$@"; do
  GPUOPT_EMULATION_CHECK_WITHOUT=none run_test "$name" 2>&1 | sed -n 's|.*synchronises at .*include/\(gpuopt/\)|\1|p' \
    > "$build/${name//\//_}.lines"
done
# A marked word is set to zero behind a shuffle that needs what all lanes have read of it.
run_strictly() {
  GPUOPT_EMULATION_CHECK=races,strict GPUOPT_EMULATION_CHECK_IGNORE=gpuopt::detail::loadMarkedWord "$@"
}
areClean=()
for name in "$@"; do
  if run_strictly run_test "$name" > "$build/output" 2>&1; then areClean+=("$name"); fi
done
missed=0 all=0
for line in $(for name in "$@"; do cat "$build/${name//\//_}.lines"; done | sort -u); do
  all=$((all + 1))
  if is_found "$line" "$@"; then echo "found  $line"
  elif run_strictly is_found "$line" "${areClean[@]}"; then echo "strict $line"
  else
    missed=$((missed + 1))
    echo "missed $line"
  fi
done
echo "$((all - missed)) of $all were found"
[ "$missed" = 0 ]
