#!/usr/bin/env bash
# install-deps.sh [docs] [benchmarks] [venv]: installs what the build needs and this machine lacks, through apt where there is
# apt; else says what is missing. Quiet, and without the network, when nothing is missing. Named here is what only some
# commands need: Doxygen, the benchmarks' libraries, Python environments. Headers are looked for in CMAKE_PREFIX_PATH, too.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

hasHeader() {
  echo "#include <$1>" | "${CXX:-c++}" -std=c++17 ${CMAKE_PREFIX_PATH:+-I"$CMAKE_PREFIX_PATH/include"} -E -x c++ - >/dev/null 2>&1
}
hasCMake() {
  command -v cmake >/dev/null &&
    [ "$(printf '3.25\n%s' "$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')" | sort -V | head -1)" = 3.25 ]
}

wants() { [[ " $wanted " == *" $1 "* ]]; }

wanted=$*
missing=()
hasCMake || missing+=(cmake)
command -v ninja >/dev/null || missing+=(ninja-build)
command -v python3 >/dev/null || missing+=(python3)
! wants docs || command -v doxygen >/dev/null || missing+=(doxygen)
! wants venv || python3 -c "import ensurepip, venv" 2>/dev/null || missing+=(python3-venv)
command -v "${CXX:-c++}" >/dev/null || missing+=(g++)
hasHeader catch2/catch.hpp || hasHeader catch2/catch_all.hpp || missing+=(catch2)
hasHeader CLI/CLI.hpp || missing+=(libcli11-dev)
if wants benchmarks; then
  hasHeader fmt/core.h || missing+=(libfmt-dev)
  hasHeader nlohmann/json.hpp || missing+=(nlohmann-json3-dev)
fi
# On a GPU nothing needs the emulated device.
scripts/device.sh | grep -q native || hasHeader boost/context/fiber.hpp || missing+=(libboost-context-dev)
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "gpuopt: missing, by their names on Debian: ${missing[*]}. Install them (CMake 3.25 or newer), then try again." >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "gpuopt: missing: ${missing[*]}. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  sudo=(sudo)
fi
echo "gpuopt: installing ${missing[*]} with apt-get"
log=$(mktemp)
if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "gpuopt: apt-get could not install ${missing[*]}" >&2
  exit 1
fi
if ! hasCMake; then
  echo "gpuopt: CMake 3.25 or newer is needed, this system's is $(cmake --version | head -1)" >&2
  exit 1
fi
