#!/usr/bin/env bash
# Says in one line which device the programs of this project would run on: native needs nvcc and a GPU.
# SPDX-License-Identifier: MIT
set -euo pipefail

PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin"
gpu=$(nvidia-smi -L 2>/dev/null | sed -n '1s/^GPU 0: \(.*\) (UUID.*$/\1/p' || true)
if [ -z "$gpu" ] && [ -e /dev/nvidia0 ]; then gpu="NVIDIA GPU"; fi

if [ -z "$gpu" ]; then
  echo "gpuopt: emulated device (no GPU found)"
elif ! command -v nvcc >/dev/null; then
  echo "gpuopt: emulated device (no nvcc found for $gpu)"
else
  echo "gpuopt: native, $gpu"
fi
