#!/usr/bin/env bash
# On a machine with a GPU, in one call: builds natively, then
#   gpu-check.sh            runs the native tests
#   gpu-check.sh sanitize   runs each native test program under compute-sanitizer's four tools
#   gpu-check.sh bench      runs the benchmarks; their output goes to $OUT, by default build/bench
# GPUOPT_BUILD names the build folder (build/native), GPUOPT_ARCHITECTURES what to compile for (native),
# CMAKE_PREFIX_PATH where to look for packages that the system lacks.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

action=${1:-test}
build=${GPUOPT_BUILD:-build/native}
jobs=$(nproc)
PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin"
scripts/device.sh | tee /dev/stderr | grep -q native || { echo "gpu-check: needs nvcc and a GPU" >&2; exit 1; }

quietly() {
  local log="$build/$1.log"
  shift
  mkdir -p "$build"
  "$@" >"$log" 2>&1 || { grep -E -A8 'error|Error|FAILED' "$log" | head -n 60 || tail -n 40 "$log"; echo "failed: $*"; exit 1; }
}
configure() {
  quietly configure cmake -S . -B "$build" -G Ninja -DGPUOPT_NATIVE=ON \
    -DCMAKE_CUDA_ARCHITECTURES="${GPUOPT_ARCHITECTURES:-native}" "$@"
}
compile() { quietly build cmake --build "$build" -j "$jobs" --target "$@"; }

case $action in
  test)
    configure -DGPUOPT_BUILD_TESTS=ON
    compile tests_native
    ctest --test-dir "$build" -L gpu --output-on-failure --no-tests=error
    ;;
  sanitize)
    configure -DGPUOPT_BUILD_TESTS=ON
    compile tests_native
    failures=0
    for program in "$build"/tests/*_native; do
      for tool in memcheck racecheck initcheck synccheck; do
        log="$build/$(basename "$program").$tool.log"
        if timeout 600 compute-sanitizer --tool "$tool" --error-exitcode 99 "$program" "~[large]" >"$log" 2>&1; then
          echo "ok      $tool $(basename "$program")"
        else
          echo "FAILED  $tool $(basename "$program"): $log"
          grep -m 12 '=========' "$log" || tail -n 12 "$log"
          failures=$((failures + 1))
        fi
      done
    done
    echo "compute-sanitizer: $failures failures"
    [ "$failures" -eq 0 ]
    ;;
  bench)
    out=${OUT:-build/bench}
    mkdir -p "$out"
    configure -DGPUOPT_BUILD_BENCHMARKS=ON
    programs=$(cd benchmarks && ls ./*_bench.cu | sed 's|^\./||; s|\.cu$||')
    # shellcheck disable=SC2086
    compile $programs
    for program in $programs; do
      echo "== $program"
      "$build/benchmarks/$program" "${@:2}" | tee "$out/$program.txt"
    done
    ;;
  *)
    echo "usage: gpu-check.sh [test|sanitize|bench]" >&2
    exit 2
    ;;
esac
