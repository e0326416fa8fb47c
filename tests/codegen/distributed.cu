// What the ranks of a team exchange stays in registers and shared memory, and is seen by other GPUs. Without NCCL.
// SPDX-License-Identifier: MIT
#include <gpuopt/device/distributed/combine.cuh>
#include <gpuopt/reduce.cuh>

// CODEGEN: kernel=combinePeersKernel contains=st\.relaxed\.sys contains=ld\.relaxed\.sys no-local no-spill max-registers=64
// CODEGEN: kernel=combineGatheredKernel no-local no-spill max-registers=64
// CODEGEN: kernel=meetPeersKernel contains=st\.relaxed\.sys contains=ld\.relaxed\.sys no-local no-spill max-registers=40
template <class Reducer>
void combineOf(const gpuopt::detail::PeerTable& peers, unsigned* words, const Reducer& reducer) {
  using Out = gpuopt::detail::StoredResult<gpuopt::detail::Destination<typename Reducer::Result>>;
  const gpuopt::LaunchConfig config;
  gpuopt::launch(gpuopt::detail::combinePeersKernel<Reducer, Out>, config, peers, words, reducer, Out{});
  gpuopt::launch(gpuopt::detail::combineGatheredKernel<Reducer, Out>, config, words, 0, 2, reducer, Out{});
}

void combineEverything(const gpuopt::detail::PeerTable& peers, unsigned* words) {
  combineOf(peers, words, gpuopt::detail::foldOf<float>(gpuopt::Plus{}));
  combineOf(peers, words, gpuopt::detail::foldOf<double>(gpuopt::Maximum{}, 1.0));
  combineOf(peers, words, gpuopt::detail::ArgExtreme<float, gpuopt::Minimum>{0});
  combineOf(peers, words, gpuopt::detail::Moments<double>{0});
  gpuopt::launch(gpuopt::detail::meetPeersKernel<true>, gpuopt::LaunchConfig{}, peers, 1u, words);
  gpuopt::launch(gpuopt::detail::meetPeersKernel<false>, gpuopt::LaunchConfig{}, peers, 1u, words);
}
