#!/usr/bin/env bash
# Creates the Conan package without any remote and builds a consumer against it: with nvcc where that is, and for the
# emulated device, there with the oldest CMake that consumers may have. Conan and that CMake come from PyPI into
# build/packages; nothing outside that folder is touched.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

work=$PWD/build/packages
venv=$work/venv
log=$work/check-packages.log
mkdir -p "$work"
fail() { tail -n "${2:-40}" "$log" >&2; echo "check-packages: $1" >&2; exit 1; }

scripts/venv.sh "$venv" packaging/requirements.txt >"$log" 2>&1 || fail "no environment (needs python3-venv and PyPI)"
conan() { "$venv/bin/conan" "$@"; }

# A Conan home and a copy of what the recipe may use, both new, in folders with blanks in their names.
export CONAN_HOME="$work/conan home"
source="$work/a copy of gpuopt"
rm -rf "$CONAN_HOME" "$source"
mkdir "$source"
tar -c conanfile.py CMakeLists.txt LICENSE cmake include emulation tune tests/package | tar -x -C "$source"
cd "$source"
{ conan profile detect && conan remote remove "*"; } >"$log" 2>&1 || fail "Conan cannot be set up"

# checked <emulated|native> <what> <command>...: runs it, and shows what the consumer said.
checked() {
  local variant=$1 what=$2
  shift 2
  "$@" >"$log" 2>&1 || fail "$what: failed"
  grep "^$variant: " "$log" | sed "s/^/$what: /" || fail "$what: no word from the consumer"
}

if PATH="$PATH:/usr/local/cuda/bin" command -v nvcc >/dev/null; then
  checked native "conan create" conan create . --no-remote -s compiler.cppstd=17
else
  echo "conan create, native: not checked, nvcc not found"
  conan create . --no-remote -s compiler.cppstd=17 -tf "" >"$log" 2>&1 || fail "conan create: failed"
fi
reference=$(sed -n 's/^Exported: \(gpuopt[^#]*\)#.*/\1/p' "$log")
if echo "#include <boost/context/fiber.hpp>" | c++ -E -x c++ - >/dev/null 2>&1; then
  checked emulated "conan test, $("$venv/bin/cmake" --version | head -n 1)" \
    env PATH="$venv/bin:$PATH" conan test tests/package/consumer "$reference" --no-remote -o "*:variant=emulated" \
    -s compiler.cppstd=20 -s build_type=Debug
else
  echo "conan test, emulated: not checked, Boost.Context not found"
fi

# One package serves every setting that is accepted.
conan create . --no-remote -s compiler.cppstd=20 -s build_type=Debug -s arch=armv8 -tf "" >"$log" 2>&1 || fail "other settings: failed"
packages=$(conan list "gpuopt/*:*" --format=json 2>/dev/null |
  python3 -c 'import json, sys; print(sum(len(r["packages"]) for p in json.load(sys.stdin)["Local Cache"].values() for r in p["revisions"].values()))')
[ "$packages" -eq 1 ] || fail "$packages packages instead of one" 0
for refused in compiler.cppstd=14 os=Windows; do
  if conan create . --no-remote -s "$refused" -tf "" >"$log" 2>&1; then fail "$refused is accepted" 0; fi
  grep -q "Invalid" "$log" || fail "$refused: refused for another reason"
done
echo "conan package id: one for all settings; C++14 and Windows refused"
