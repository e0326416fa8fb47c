#!/usr/bin/env bash
# On a machine with a GPU, in one call: builds natively, then
#   gpu-check.sh [test] [regex]        runs the native tests, or those whose names match
#   gpu-check.sh sanitize [regex]      runs the tests of each file, natively, under compute-sanitizer's four
#                                      tools, without the cases tagged [large], and of long series one case
#                                      in GPUOPT_TEST_EVERY (31)
#   gpu-check.sh bench [name...] [argument...]   runs the benchmarks, or those named; their output also goes to $OUT
#                                      (build/bench), that of programs with the toolkit's CCCL to $OUT/toolkit;
#                                      scripts/bench_pages.py then writes the pages
# GPUOPT_BUILD names the build folder (build/native), GPUOPT_ARCHITECTURE what to compile for (native), and
# CMAKE_PREFIX_PATH where to find packages that the system lacks (scripts/carry-deps.sh makes such a folder).
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

action=${1:-test}
shift || true
build=${GPUOPT_BUILD:-build/native}
PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin"
device=$(scripts/device.sh)
echo "$device"
[[ $device == *native* ]] || { echo "gpu-check: needs nvcc and a GPU" >&2; exit 1; }

# The ten steps of the last build that took longest, in seconds; `$1` lines of ninja's log are older.
showSlowest() {
  tail -n "+$(($1 + 1))" "$build/.ninja_log" | awk '/^[0-9]/ { printf "%7.1f s  %s\n", ($2 - $1) / 1000, $4 }' |
    sort -rn | awk 'NR <= 10'
}

# Builds targets, with the output in a log; tests need none of the benchmarks' packages, and the other way round. A source
# that fails is shown and does not keep the others from running.
failed=0
compile() {
  local old=0 begin=$SECONDS
  [ ! -f "$build/.ninja_log" ] || old=$(wc -l <"$build/.ninja_log")
  buildTargets "$@" || failed=1
  echo "gpu-check: built in $((SECONDS - begin)) s; longest:"
  showSlowest "$old" || true
}

buildTargets() {
  local log="$build/gpu-check.log" bench=OFF tests=ON host=-O1  # nvcc's -O is for host code alone
  [ "$action" != bench ] || { bench=ON tests=OFF host=-O3; }
  mkdir -p "$build"
  { cmake -S . -B "$build" -G Ninja -DGPUOPT_NATIVE=ON -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CUDA_FLAGS_RELEASE="$host -DNDEBUG" \
      -DCMAKE_CUDA_ARCHITECTURES="${GPUOPT_ARCHITECTURE:-native}" -DGPUOPT_BUILD_BENCHMARKS=$bench \
      -DGPUOPT_BUILD_TESTS=$tests -DGPUOPT_BUILD_EXAMPLES=$tests &&
    cmake --build "$build" -j "$(nproc)" --target "$@" -- -k 0; } >"$log" 2>&1 && return
  grep -E '^FAILED|[Ee]rror:? |fatal' "$log" | cut -c 1-240 | head -n 60 || tail -n 40 "$log"
  echo "gpu-check: does not build, see $log"
  return 1
}

# A tool, a test program and the name of one of its files.
sanitizeOne() {
  local tool=$1 program=$2 file=$3
  local name="$(basename "$program") $file" log="$program.$file.$tool.log"
  # Calls of the runtime that fail on purpose are what some tests are about.
  local options=()
  [ "$tool" != memcheck ] || options=(--report-api-errors no)
  if timeout 900 compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 99 \
      "$program" -# "[#$file]~[large]" >"$log" 2>&1; then
    echo "ok      $tool $name"
  elif grep -q "No tests ran\|No test cases matched" "$log"; then
    echo "none    $tool $name: all of its test cases are [large]"
  else
    echo "FAILED  $tool $name, see $log"
    grep -m 12 '=========' "$log" || tail -n 12 "$log"
    return 1
  fi
}
export -f sanitizeOne

# A program, the folder of its output, and its arguments.
runBenchmark() {
  local program=$1 out=$2
  shift 2
  local command=("$build/benchmarks/$program")
  [ "$program" != torch_bench ] || command=(benchmarks/torch_bench.py "$build/benchmarks/libtorch_calls.so")
  [ "$program" != torch_distributed_bench ] || command=(benchmarks/torch_distributed_bench.py)
  echo "== $program $*"
  mkdir -p "$out"
  "${command[@]}" --out "$out" "$@" | tee "$out/$program.txt" || failed=1
}

case $action in
  test)
    compile tests_native
    ctest --test-dir "$build" -L gpu -R "${1:-.}" --output-on-failure --no-tests=error || failed=1
    ;;
  sanitize)
    compile tests_native
    export GPUOPT_TEST_EVERY=${GPUOPT_TEST_EVERY:-31}
    for source in $(cd tests && ls ./*/*_test.cu ./*/*/*_test.cu); do
      folder=${source%/*} file=$(basename "$source" .cu)
      program=$build/tests/$(tr / _ <<<"${folder#./}")_test_native
      [ -x "$program" ] && [[ ${source#./} =~ ${1:-.} ]] || continue
      for tool in memcheck racecheck initcheck synccheck; do echo "$tool $program $file"; done
    done | xargs -P 4 -L 1 bash -c 'sanitizeOne "$@"' - || failed=1
    ;;
  bench)
    out=${OUT:-build/bench}
    mapfile -t programs < <(basename -s .cu benchmarks/*_bench.cu)
    names=()
    while [ $# -gt 0 ] && [[ $1 != -* ]]; do names+=("$1"); shift; done
    find .deps/peers -name '*.xz' -exec xz -dkf {} + 2>/dev/null || true
    for peer in cccl cutensor; do
      [ -d ".deps/peers/$peer" ] || scripts/toolchains.py "$peer" || echo "gpu-check: without it, or with an installed one"
    done
    ! python3 -c 'import torch' 2>/dev/null || programs+=(torch_bench)
    ! python3 -c 'import sys, torch; sys.exit(torch.cuda.device_count() < 2)' 2>/dev/null ||
      programs+=(torch_distributed_bench)
    [ ${#names[@]} -eq 0 ] || programs=("${names[@]}")
    targets=()
    for program in "${programs[@]}"; do
      case $program in
        torch_bench) targets+=(torch_calls) ;;
        torch_distributed_bench) ;;
        *) targets+=("$program") ;;
      esac
    done
    [ ${#targets[@]} -eq 0 ] || compile "${targets[@]}"
    for program in "${programs[@]}"; do
      runBenchmark "$program" "$out" "$@"
      [ ! -x "$build/benchmarks/${program}_toolkit" ] || runBenchmark "${program}_toolkit" "$out/toolkit" "$@"
    done
    ;;
  *)
    echo "usage: gpu-check.sh [test|sanitize|bench]" >&2
    exit 2
    ;;
esac
[ $failed -eq 0 ] || { echo "gpu-check: $action failed"; exit 1; }
