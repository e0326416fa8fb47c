// What the ranks of a team exchange stays in registers and shared memory, and is seen by other GPUs. Without NCCL.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/distributed/combine.cuh>
#include <gpuopt/device/distributed/line_tile.cuh>
#include <gpuopt/device/distributed/parts.cuh>
#include <gpuopt/reduce.cuh>

// CODEGEN: kernel=combinePeersKernel contains=st\.relaxed\.sys contains=ld\.relaxed\.sys no-local no-spill max-registers=64
// CODEGEN: kernel=combineGatheredKernel no-local no-spill max-registers=64
// CODEGEN: kernel=combineColumnsKernel no-local no-spill max-registers=40
// CODEGEN: kernel=leavePeersKernel contains=st\.relaxed\.sys no-local no-spill max-registers=40
// CODEGEN: kernel=movePartsKernel no-local no-spill max-registers=168
// CODEGEN: kernel=movePartsKernel.*(Transposed|Copied)Tile.*Identity contains=ld\.global\S*\.v4 contains=st\.global\S*\.v4
// CODEGEN: kernel=meetPeersKernel<true,.*PeerOrder\)1> contains=st\.release\.sys contains=ld\.acquire\.sys no-local no-spill max-registers=40
// CODEGEN: kernel=meetPeersKernel<false,.*PeerOrder\)0> contains=st\.relaxed\.sys contains=ld\.relaxed\.sys no-local no-spill max-registers=40
template <class Reducer>
void combineOf(const gpuopt::detail::PeerTable& peers, unsigned* words, const Reducer& reducer) {
  using Out = gpuopt::detail::StoredResult<gpuopt::detail::Destination<typename Reducer::Result>>;
  const gpuopt::LaunchConfig config;
  gpuopt::launch(gpuopt::detail::combinePeersKernel<Reducer, Out>, config, peers, words, reducer, Out{});
  gpuopt::launch(gpuopt::detail::combineGatheredKernel<Reducer, Out>, config, words, words, 0, 2, reducer, Out{});
}

void combineColumns(const float* partials, float* sums, unsigned* failed) {
  using Sum = gpuopt::detail::Fold<float, gpuopt::Plus>;
  gpuopt::launch(gpuopt::detail::combineColumnsKernel<Sum, float*>, gpuopt::LaunchConfig{}, partials, 77u, 2,
                 gpuopt::detail::foldOf<float>(gpuopt::Plus{}),
                 gpuopt::detail::StoredResult<float*>{sums, failed, failed});
}

void combineEverything(const gpuopt::detail::PeerTable& peers, unsigned* words) {
  combineOf(peers, words, gpuopt::detail::foldOf<float>(gpuopt::Plus{}));
  combineOf(peers, words, gpuopt::detail::foldOf<double>(gpuopt::Maximum{}, 1.0));
  combineOf(peers, words, gpuopt::detail::ArgExtreme<float, gpuopt::Minimum>{0});
  combineOf(peers, words, gpuopt::detail::Moments<double>{0});
  gpuopt::launch(gpuopt::detail::meetPeersKernel<true>, gpuopt::LaunchConfig{}, peers, 1u, words);
  gpuopt::launch(gpuopt::detail::meetPeersKernel<false>, gpuopt::LaunchConfig{}, peers, 1u, words);
}

struct Halved {
  __device__ double operator()(float x) const { return x * 0.5; }
};

template <class Tile>
void moveOf(const gpuopt::detail::PartsOf<Tile>& problem) {
  gpuopt::launch(gpuopt::detail::movePartsKernel<Tile>, gpuopt::LaunchConfig{}, problem);
}

template <class T>
using Moved = gpuopt::detail::TransposedTile<T, T, gpuopt::Identity>;
template <class T>
using InLines = gpuopt::detail::LineTile<T, T, gpuopt::Identity>;

void moveEverything() {
  moveOf<gpuopt::detail::CopiedTile>({});
  moveOf<Moved<unsigned char>>({});
  moveOf<Moved<unsigned short>>({});
  moveOf<Moved<unsigned>>({});
  moveOf<Moved<uint2>>({});
  moveOf<Moved<uint4>>({});
  moveOf<gpuopt::detail::TransposedTile<float, double, Halved>>({});
  moveOf<InLines<unsigned char>>({});
  moveOf<InLines<unsigned>>({});
  moveOf<InLines<uint4>>({});
  moveOf<gpuopt::detail::LineTile<float, double, Halved>>({});
  gpuopt::launch(gpuopt::detail::leavePeersKernel<>, gpuopt::LaunchConfig{}, gpuopt::detail::PeerTable{},
                 gpuopt::detail::PeerTable{});
}
