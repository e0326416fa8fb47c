#!/usr/bin/env bash
# Every test, example and ladder under the emulated device's check for races, each as a program of its own. Usage:
# scripts/check-races-all.sh [part of a path]...; without arguments all of them, which takes hours of CPU time.
#
# GPUOPT_TEST_CASES, such as '~[sweep]~[large]', chooses cases of the tests.
#
# Lists each program as clean, found (with its report), failed, slow or unbuilt. Status 1 if one is not clean. Programs
# that are there to make mistakes, and those of the emulated device itself, are left out.
# SPDX-License-Identifier: MIT
set -uo pipefail
cd "$(dirname "$0")/.."
build=build/check-races
mkdir -p "$build"

compiler=${CXX:-g++}
flags=(-std=c++17 -Wno-unknown-pragmas -Iemulation/include -Iinclude -Itests -Iexamples -Iexamples/support)
checked=("@emulation/check/options" -O1)
$compiler "${flags[@]}" -O2 -DGPUOPT_EMULATION_BACKTRACE -c emulation/check/check.cpp -o "$build/check.o" || exit 1
$compiler "${flags[@]}" -O0 -c tests/support/main.cpp -o "$build/main.o" || exit 1

# build_program NAME SOURCE...: sources with launches are rewritten, as gpuopt_emulate() does it.
build_program() {
  local name=$1 source objects=("$build/check.o") number=0
  shift
  for source in "$@"; do
    if [[ $source = *.o ]]; then objects+=("$source"); continue; fi
    number=$((number + 1))
    python3 -B emulation/rewrite_launches.py -I include -I tests -I examples/support "$source" > "$build/$name.$number.cpp" &&
      $compiler "${flags[@]}" "${checked[@]}" -I"$(dirname "$source")" -c "$build/$name.$number.cpp" \
        -o "$build/$name.$number.o" || return 1
    objects+=("$build/$name.$number.o")
  done
  $compiler "${objects[@]}" -lboost_context -lpthread -lbacktrace -o "$build/$name"
}

# sources_of PATH: those of a program.
sources_of() {
  case $1 in
    tests/*) echo "$1" "$build/main.o" ;;
    examples/ladders/*) echo "$1" examples/ladders/*.cpp examples/support/*.cpp ;;
    *) echo "$(dirname "$1")"/*.cu "$(dirname "$1")"/*.cpp examples/support/*.cpp ;;
  esac
}

export GPUOPT_EMULATION_CHECK=races GPUOPT_EMULATION_ORDER=random GPUOPT_TEST_EVERY=${GPUOPT_TEST_EVERY:-7}
programs=$(find tests -name '*_test.cu' -not -path 'tests/check/*' -not -path 'tests/profile/*' -not -path 'tests/emulation/*'
  for source in examples/*/*.cu; do
    [[ $source = examples/interop_* || $source = examples/profile_* ]] && continue  # not for the emulated device
    [[ $source = examples/ladders/* || $(basename "$source" .cu) = $(basename "$(dirname "$source")") ]] && echo "$source"
  done)
all=0 clean=0
for program in $(sort <<< "$programs"); do
  isMeant=$([ $# -eq 0 ] && echo 1)
  for part in "$@"; do [[ $program = *$part* ]] && isMeant=1; done
  [ -n "$isMeant" ] || continue
  all=$((all + 1))
  name=$(tr '/.' '__' <<< "$program")
  shopt -s nullglob
  if ! build_program "$name" $(sources_of "$program") > "$build/output" 2>&1; then
    verdict=unbuilt
  else
    devices=$([[ $program = *distributed* ]] && echo 3 || echo 1)
    cases=$([[ $program = tests/* ]] && echo "${GPUOPT_TEST_CASES:-}")
    GPUOPT_EMULATION_DEVICES=$devices timeout "${GPUOPT_CHECK_SECONDS:-300}" "$build/$name" ${cases:+"$cases"} \
      > "$build/output" 2>&1 < /dev/null
    status=$?
    if grep -q 'GPUOPT_EMULATION_CHECK: [0-9]* mistakes' "$build/output"; then verdict=found
    elif [ $status -eq 124 ]; then verdict=slow
    elif [ $status -eq 0 ] || [ $status -eq 77 ]; then verdict=clean
    else verdict=failed; fi
  fi
  rm -f "$build/$name" "$build/$name".*
  echo "$verdict $program"
  if [ $verdict = clean ]; then clean=$((clean + 1)); else tail -n 25 "$build/output"; fi
done
echo "$clean of $all are clean"
[ $clean -eq $all ]
