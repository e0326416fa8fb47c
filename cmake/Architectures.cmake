# Compute capabilities that every header is compiled for. The only list of them.
set(GPUOPT_ARCHITECTURES 75 80 86 89 90 100 120)

# What a native build without a GPU compiles for, unless CMAKE_CUDA_ARCHITECTURES says otherwise.
set(GPUOPT_DEFAULT_ARCHITECTURE 90)
