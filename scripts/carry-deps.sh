#!/usr/bin/env bash
# Copies what the native tests, examples and benchmarks need beside CUDA into .deps, as a prefix for a machine without a
# network: there, CMAKE_PREFIX_PATH=$PWD/.deps scripts/gpu-check.sh. Most of it is headers from Debian's packages. Where
# PyPI can be reached, the newest CCCL comes too, and cuTENSOR with the code of one architecture (GPUOPT_ARCHITECTURE,
# 90), compressed; gpu-check.sh unpacks it.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh tests examples benchmarks
rm -rf .deps
mkdir .deps
# The compiled libraries stay, and so do the CMake files that say where they are.
dpkg -L libcli11-dev libfmt-dev nlohmann-json3-dev |
  sed -n -E 's#^/usr/(include/.*|.*/cmake/.*)#\1#p' | grep -v -E 'fmt-targets-' |
  while read -r file; do [ ! -f "/usr/$file" ] || echo "$file"; done |
  tar -c -h -C /usr -T - | tar -x -C .deps
if scripts/toolchains.py cccl; then
  mkdir -p .deps/peers/cccl/toolkit/include
  cp -R build/toolchains/cccl/toolkit/include/cccl .deps/peers/cccl/toolkit/include
fi
if scripts/toolchains.py cutensor; then
  from=build/toolchains/cutensor/toolkit to=.deps/peers/cutensor/toolkit
  mkdir -p $to/lib
  cp -R $from/include $to
  scripts/thin_library.py --arch "${GPUOPT_ARCHITECTURE:-90}" $from/lib/libcutensor.so.2 $to/lib/libcutensor.so.2.xz
fi
echo "carry-deps: $(du -sh .deps | cut -f 1) in .deps"
