#!/usr/bin/env bash
# install-deps.sh <feature>...: installs what features need and this machine lacks, through apt where there is apt; else
# says what is missing. Quiet, and without the network, when nothing is missing. A feature with a question mark behind it is
# for an optional check: without it the script says so and goes on.
#
#   programs    what every build needs, asked for or not: CMake, a compiler; unless there is a GPU, Boost.Context, Python
#   ninja       for builds that can go on without it, with make
#   tests, examples, benchmarks    what those need beyond that
#   doxygen     for the reference and the check of it
#   clang       for a build that takes a third of the time, and for what clang++ alone checks
#   venv        for Python environments
#   compilers   those of toolchains.txt
#
# Headers are looked for in CMAKE_PREFIX_PATH, too. CXX may hold several words, as for CMake: ccache g++.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

read -ra compiler <<<"${CXX:-c++}"
hasHeader() {
  echo "#include <$1>" | "${compiler[@]}" -std=c++17 ${CMAKE_PREFIX_PATH:+-I"$CMAKE_PREFIX_PATH/include"} -E -x c++ - >/dev/null 2>&1
}
hasCommand() { command -v "$1" >/dev/null; }
hasCMake() {
  hasCommand cmake &&
    [ "$(printf '3.25\n%s' "$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')" | sort -V | head -1)" = 3.25 ]
}

# The packages, by their names on Debian, that a feature lacks here.
missingFor() {
  case $1 in
    programs)
      hasCMake || echo cmake
      hasCommand "${compiler[0]}" || echo g++
      # On a GPU nothing needs the emulated device, for which Python rewrites launches.
      scripts/device.sh | grep -q native || {
        hasHeader boost/context/fiber.hpp || echo libboost-context-dev
        hasCommand python3 || echo python3
      } ;;
    ninja) hasCommand ninja || echo ninja-build ;;
    tests)
      missingFor ninja
      hasCommand python3 || echo python3  # on a GPU, too
      hasHeader catch2/catch.hpp || hasHeader catch2/catch_all.hpp || echo catch2 ;;
    examples) hasHeader CLI/CLI.hpp || echo libcli11-dev ;;
    benchmarks)
      missingFor ninja
      hasHeader CLI/CLI.hpp || echo libcli11-dev
      hasHeader fmt/core.h || echo libfmt-dev
      hasHeader nlohmann/json.hpp || echo nlohmann-json3-dev ;;
    doxygen) hasCommand doxygen || echo doxygen ;;
    clang) hasCommand clang++ || echo clang ;;
    venv)
      hasCommand python3 || echo python3
      python3 -c "import ensurepip, venv" 2>/dev/null || echo python3-venv ;;
    compilers)
      sed -n 's/^\(\S*\) *apt *\(.*\)/\1 \2/p' scripts/toolchains.txt | while read -r name package; do
        hasCommand "$name" || echo "$package"
      done ;;
    *) echo "install-deps: there is no feature $1" >&2; exit 2 ;;
  esac
}

# One at a time, for `make -j demo test`: who comes second finds what the first has installed.
if hasCommand flock; then
  exec 9<scripts/install-deps.sh
  flock 9
fi

if { [ -n "${CXX:-}" ] || hasCommand c++; } && ! echo "int main() {}" | "${compiler[@]}" -fsyntax-only -x c++ - 2>/dev/null; then
  echo "gpuopt: the compiler ${compiler[*]} cannot compile \"int main() {}\": set CXX to one that can" >&2
  exit 1
fi

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo)

# Installs packages, or fails and says why it cannot.
install() {
  local log
  if ! hasCommand apt-get; then
    echo "gpuopt: missing, by their names on Debian: $*. Install them (CMake 3.25 or newer), then try again." >&2
  elif [ ${#root[@]} -gt 0 ] && ! hasCommand sudo; then
    echo "gpuopt: missing: $*. As root: apt-get install $*" >&2
  else
    echo "gpuopt: installing $* with apt-get"
    log=$(mktemp)
    if { "${root[@]}" apt-get update && "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
           apt-get install -o DPkg::Lock::Timeout=300 -y --no-install-recommends "$@"; } >"$log" 2>&1; then return; fi
    grep '^E: ' "$log" | tail -n 3 >&2
    echo "gpuopt: apt-get could not install $*" >&2
  fi
  return 1
}

required=() optional=()
for feature in programs "$@"; do
  packages=$(missingFor "${feature%\?}") || exit
  # shellcheck disable=SC2206  # one word a package
  if [[ $feature == *\? ]]; then optional+=($packages); else required+=($packages); fi
done
# shellcheck disable=SC2046  # one word a package
[ ${#required[@]} -eq 0 ] || install $(printf '%s\n' "${required[@]}" | sort -u) || exit 1
hasCMake || { echo "gpuopt: CMake 3.25 or newer is needed, this system's is $(cmake --version | head -1)" >&2; exit 1; }
for package in "${optional[@]}"; do
  install "$package" || echo "gpuopt: going on without $package; what needs it is not checked"
done
