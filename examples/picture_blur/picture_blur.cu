/// \file
/// A CUDA program of the ordinary kind, without gpuopt: <<<>>>, extern __shared__, __constant__, checks by a macro. A
/// picture is blurred along its rows and transposed, twice, which blurs it along its columns, too.
///
/// Usage: picture_blur [pitch]. The pitch of a tile in shared memory is 32 floats, which makes its columns slow; 33 is
/// the cure.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    const cudaError_t code = (call);                                           \
    if (code != cudaSuccess) {                                                 \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(code)); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

const int RADIUS = 4, BLOCK = 128, TILE = 32, TILE_ROWS = 8;

__constant__ float weights[2 * RADIUS + 1];

// Each block blurs BLOCK pixels of a row. Beyond its ends a row repeats its first and last pixel.
__global__ void blurRows(const float* in, float* out, int width) {
  extern __shared__ float pixels[];  // BLOCK + 2 * RADIUS
  const int begin = blockIdx.x * BLOCK - RADIUS;
  const float* const row = in + static_cast<size_t>(blockIdx.y) * width;
  for (int i = threadIdx.x; i < BLOCK + 2 * RADIUS; i += BLOCK) pixels[i] = row[min(max(begin + i, 0), width - 1)];
  __syncthreads();
  const int x = blockIdx.x * BLOCK + threadIdx.x;
  if (x >= width) return;
  float sum = 0;
  for (int i = 0; i <= 2 * RADIUS; ++i) sum += weights[i] * pixels[threadIdx.x + i];
  out[static_cast<size_t>(blockIdx.y) * width + x] = sum;
}

// Each block transposes a tile by way of shared memory, in rows of `pitch` floats.
__global__ void transpose(const float* in, float* out, int width, int height, int pitch) {
  extern __shared__ float tile[];
  const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
  for (int y = threadIdx.y; y < TILE; y += TILE_ROWS) {
    const int column = left + threadIdx.x, row = top + y;
    if (column < width && row < height) tile[y * pitch + threadIdx.x] = in[static_cast<size_t>(row) * width + column];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < TILE; y += TILE_ROWS) {
    const int column = top + threadIdx.x, row = left + y;
    if (column < height && row < width) out[static_cast<size_t>(row) * height + column] = tile[threadIdx.x * pitch + y];
  }
}

std::vector<float> gaussian() {
  std::vector<float> values;
  float sum = 0;
  for (int i = -RADIUS; i <= RADIUS; ++i) values.push_back(std::exp(-0.5f * static_cast<float>(i * i) / 4));
  for (const float value : values) sum += value;
  for (float& value : values) value /= sum;
  return values;
}

std::vector<float> blurOnDevice(const std::vector<float>& picture, int width, int height, int pitch) {
  const size_t bytes = picture.size() * sizeof(float);
  const std::vector<float> filter = gaussian();
  float *from, *to;
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMemcpy(from, picture.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(weights, filter.data(), filter.size() * sizeof(float)));
  for (int pass = 0; pass < 2; ++pass) {
    const dim3 blocks((width + BLOCK - 1) / BLOCK, height);
    blurRows<<<blocks, BLOCK, (BLOCK + 2 * RADIUS) * sizeof(float)>>>(from, to, width);
    CHECK(cudaGetLastError());
    const dim3 tiles((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), threads(TILE, TILE_ROWS);
    transpose<<<tiles, threads, TILE * pitch * sizeof(float)>>>(to, from, width, height, pitch);
    CHECK(cudaGetLastError());
    std::swap(width, height);
  }
  std::vector<float> blurred(picture.size());
  CHECK(cudaMemcpy(blurred.data(), from, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return blurred;
}

// The same by the definition, in double precision.
double blurredPixel(const std::vector<float>& picture, const std::vector<float>& filter, int width, int height, int x,
                    int y) {
  double sum = 0;
  for (int i = -RADIUS; i <= RADIUS; ++i)
    for (int j = -RADIUS; j <= RADIUS; ++j) {
      const int row = std::clamp(y + i, 0, height - 1), column = std::clamp(x + j, 0, width - 1);
      sum += static_cast<double>(filter[i + RADIUS]) * filter[j + RADIUS] * picture[row * width + column];
    }
  return sum;
}

int main(int argc, char** argv) {
  const int pitch = argc > 1 ? std::atoi(argv[1]) : TILE, width = 300, height = 170;
  if (pitch < TILE) {
    std::fprintf(stderr, "picture_blur: the pitch (%s) is below %d\n", argv[1], TILE);
    return 1;
  }
  std::vector<float> picture(width * height);
  for (int i = 0; i < width * height; ++i) picture[i] = static_cast<float>(i * 7919 % 256);
  const std::vector<float> blurred = blurOnDevice(picture, width, height, pitch);

  const std::vector<float> filter = gaussian();
  double error = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      error = std::max(error, std::fabs(blurred[y * width + x] - blurredPixel(picture, filter, width, height, x, y)));
  std::printf("%d x %d pixels, tiles of pitch %d, largest error %.1e\n", width, height, pitch, error);
  return error < 1e-3 ? 0 : 1;
}
