// The collectives of a warp and of a block come completely unrolled, with no more shuffles and barriers than
// they need.
// SPDX-License-Identifier: MIT
#include <gpuopt/block/reduce.cuh>

using namespace gpuopt;

// CODEGEN: kernel=warpFloat contains=(shfl\.sync[\s\S]*){5} absent=(shfl\.sync[\s\S]*){6} absent=bar\.sync no-local no-spill max-registers=16
__global__ void warpFloat(const float* in, float* out) {
  const float sum = warpReduce(in[threadIdx.x], Plus{});
  if (threadIdx.x == 0) *out = sum;
}

// CODEGEN: kernel=warpInt contains=redux\.sync\.add absent=shfl absent=redux[\s\S]*redux no-local no-spill max-registers=16
__global__ void warpInt(const int* in, int* out) {
  const int sum = warpReduce(in[threadIdx.x], Plus{});
  if (threadIdx.x == 0) *out = sum;
}

// CODEGEN: kernel=warpAllFloat contains=(shfl\.sync\.bfly[\s\S]*){5} absent=(shfl[\s\S]*){6} no-local no-spill max-registers=16
__global__ void warpAllFloat(const float* in, float* out) { out[threadIdx.x] = warpAllReduce(in[threadIdx.x], Plus{}); }

// CODEGEN: kernel=block256 contains=bar\.sync absent=bar\.sync[\s\S]*bar\.sync contains=ld\.shared\.v4 count=3*shfl\.sync no-local no-spill max-registers=40 max-shared=1168
__global__ void block256(const float* in, float* out) {
  __shared__ BlockReduceStorage<256, float, Plus> storage;
  const float sum = blockReduce<256>(in[threadIdx.x], Plus{}, storage);
  if (threadIdx.x == 0) *out = sum;
}

// CODEGEN: kernel=block1024 contains=bar\.sync absent=bar\.sync[\s\S]*bar\.sync absent=(shfl\.sync[\s\S]*){6} no-local no-spill max-registers=40 max-shared=4240
__global__ void block1024(const double* in, float* out) {
  __shared__ BlockReduceStorage<1024, float, Plus> storage;
  const float sum = blockReduce<1024>(static_cast<float>(in[threadIdx.x]), Plus{}, storage);
  if (threadIdx.x == 0) *out = sum;
}

// CODEGEN: kernel=blockAll256 contains=bar\.sync absent=bar\.sync[\s\S]*bar\.sync no-local no-spill max-registers=24
__global__ void blockAll256(const float* in, float* out) {
  __shared__ BlockReduceStorage<256, float, Plus> storage;
  out[threadIdx.x] = blockAllReduce<256>(in[threadIdx.x], Plus{}, storage);
}

// CODEGEN: kernel=blockDoubles contains=bar\.sync absent=bar\.sync[\s\S]*bar\.sync count=3*mma\.sync\S*f64 absent=shfl\.sync no-local no-spill max-registers=32
__global__ void blockDoubles(const double* in, double* out) {
  __shared__ BlockReduceStorage<1024, double, Plus> storage;
  const double sum = blockReduce<1024>(in[threadIdx.x], Plus{}, storage);
  if (threadIdx.x == 0) *out = sum;
}

struct Triple {
  float x, y, z;
  friend __device__ Triple operator+(const Triple& a, const Triple& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

// CODEGEN: kernel=blockStruct absent=bar\.sync[\s\S]*bar\.sync no-local no-spill max-registers=40
__global__ void blockStruct(const Triple* in, Triple* out) {
  __shared__ BlockReduceStorage<256, Triple, Plus> storage;
  const Triple sum = blockReduce<256>(in[threadIdx.x], Plus{}, storage);
  if (threadIdx.x == 0) *out = sum;
}
