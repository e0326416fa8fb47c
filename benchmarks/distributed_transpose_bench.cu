/// \file
/// Transpositions of matrices in slabs of rows of several GPUs, a thread each, in graphs: beside NCCL between gpuopt's
/// local kernels, and the copy engine's time for the bytes that have to move. The time is the slowest rank's.
// SPDX-License-Identifier: MIT
#include "support/ranks.cuh"
#include "support/report.cuh"

#include <gpuopt/distributed.cuh>
#include <gpuopt/transpose.cuh>

#include <cuda_fp16.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using Bytes = SymmetricVector<unsigned char>;

__device__ unsigned char byteAt(std::size_t element, std::size_t byte) {
  return static_cast<unsigned char>((element * 8 + byte) * 0x9E3779B97F4A7C15u >> 56);
}

// Gives n elements from number `first` on their values.
__global__ void fillElements(unsigned char* data, std::size_t first, std::size_t n, std::size_t bytes) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n * bytes; i += stride)
    data[i] = byteAt(first + i / bytes, i % bytes);
}

// Counts the bytes of a rank's rows of the transpose that are wrong.
__global__ void countWrong(const unsigned char* out, std::size_t firstCol, std::size_t n, std::size_t rows,
                           std::size_t cols, std::size_t bytes, unsigned long long* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n * bytes; i += stride) {
    const std::size_t element = i / bytes, col = firstCol + element / rows, row = element % rows;
    if (out[i] != byteAt(row * cols + col, i % bytes)) atomicAdd(wrong, 1ull);
  }
}

// A rank's memory besides what all benchmarks have.
struct Slab {
  std::unique_ptr<Bytes> in, out;
  std::unique_ptr<DeviceMemory> sent, received, wrong;
  cudaStream_t side = nullptr;
};

// A matrix of rows x cols elements, even slabs.
struct Matrix {
  std::size_t rows, cols;
  Slabs rowSlabs, colSlabs;

  Matrix(std::size_t r, std::size_t c)
      : rows(r), cols(c), rowSlabs(Slabs::even(r, Ranks::count())), colSlabs(Slabs::even(c, Ranks::count())) {}
};

// What users of NCCL write, with the best local kernels: blocks packed by 2-D copies, sent, and transposed into out.
template <class T>
void transposeByHand(RankState& rank, const Slab& slab, const Matrix& m) {
  const auto* const in = reinterpret_cast<const T*>(slab.in->data());
  auto* const out = reinterpret_cast<T*>(slab.out->data());
  auto *const sent = slab.sent->as<T>(), *const received = slab.received->as<T>();
  const std::size_t ownRows = m.rowSlabs.size(rank.number), ownCols = m.colSlabs.size(rank.number);
  for (int to = 0; to < Ranks::count(); ++to)
    check(cudaMemcpy2DAsync(sent + ownRows * m.colSlabs.first(to), m.colSlabs.size(to) * sizeof(T),
                            in + m.colSlabs.first(to), m.cols * sizeof(T), m.colSlabs.size(to) * sizeof(T), ownRows,
                            cudaMemcpyDeviceToDevice, rank.stream),
          "cudaMemcpy2DAsync");
  checkNccl(ncclGroupStart(), "ncclGroupStart");
  for (int other = 0; other < Ranks::count(); ++other) {
    checkNccl(ncclSend(sent + ownRows * m.colSlabs.first(other), ownRows * m.colSlabs.size(other) * sizeof(T),
                       ncclUint8, other, rank.comm, rank.stream),
              "ncclSend");
    checkNccl(ncclRecv(received + m.rowSlabs.first(other) * ownCols, m.rowSlabs.size(other) * ownCols * sizeof(T),
                       ncclUint8, other, rank.comm, rank.stream),
              "ncclRecv");
  }
  checkNccl(ncclGroupEnd(), "ncclGroupEnd");
  gpuopt::transpose(received, out, m.rows, ownCols, rank.stream);
}

class Bench {
 public:
  Bench(const Options& options, std::size_t bytes)
      : repetitions_(options.repetitions),
        ranks_(256),
        slabs_(static_cast<std::size_t>(Ranks::count())),
        files_(options, ranksHeader(options)) {
    files_.csv() << "case,type,rows,cols,bytes,candidate,path,mode,us,us_p10,us_p90,ratio\n";
    ranks_.run([this, bytes](RankState& rank) {
      Slab& slab = slabOf(rank);
      const std::size_t most = bytes + (std::size_t{1} << 20);  // uneven slabs are longer
      slab.in = std::make_unique<Bytes>(*rank.peers, most);
      slab.out = std::make_unique<Bytes>(*rank.peers, most);
      slab.sent = std::make_unique<DeviceMemory>(most);
      slab.received = std::make_unique<DeviceMemory>(most);
      slab.wrong = std::make_unique<DeviceMemory>(sizeof(unsigned long long));
      check(cudaStreamCreateWithFlags(&slab.side, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    });
  }

  /// A matrix of all ranks, by every path.
  template <class T>
  void transposition(const char* type, std::size_t rows, std::size_t cols) {
    const Matrix m(rows, cols);
    const auto gpuopt = [&](bool usesPeers) {
      return [&, usesPeers](RankState& rank) {
        const Slab& slab = slabOf(rank);
        gpuopt::distributed::transpose(usesPeers ? *rank.peers : *rank.nccl,
                                       reinterpret_cast<const T*>(slab.in->data()),
                                       reinterpret_cast<T*>(slab.out->data()), rows, cols, rank.stream);
      };
    };
    fill(m, sizeof(T));
    const std::size_t bytes = m.rowSlabs.largest() * cols * sizeof(T);
    const std::string path = explained<T>(m);
    double best = 0;
    best = record<T>(type, m, bytes, "gpuopt", path, best, gpuopt(true));
    for (const bool usesCopies : {false, true}) {
      tune(usesCopies ? 16 : 0);
      record<T>(type, m, bytes, usesCopies ? "gpuopt, copy engines" : "gpuopt, one kernel", explained<T>(m), best,
                gpuopt(true));
    }
    tune(-1);
    record<T>(type, m, bytes, "gpuopt, by NCCL", "", best, gpuopt(false));
    record<T>(type, m, bytes, "NCCL and local kernels", "", best,
              [&](RankState& rank) { transposeByHand<T>(rank, slabOf(rank), m); });
    link(type, m, sizeof(T), bytes, best);
  }

  int finish() { return files_.finish({}, wrong_); }

 private:
  Slab& slabOf(const RankState& rank) { return slabs_[static_cast<std::size_t>(rank.number)]; }

  // The most ranks that copy engines serve, whatever the size; -1: what the library's own tuning says.
  void tune(int maxCopyRanks) {
    ranks_.run([=](RankState& rank) {
      auto& tuning = gpuopt::detail::TeamAccess::of(*rank.peers).slabTuning;
      tuning = {};
      if (maxCopyRanks < 0) return;
      tuning.maxCopyRanks = tuning.maxTransposingCopyRanks = maxCopyRanks;
      tuning.minCopyBytes = 0;
    });
  }

  template <class T>
  std::string explained(const Matrix& m) {
    std::string text;
    ranks_.run([&](RankState& rank) {
      const Slab& slab = slabOf(rank);
      if (rank.number == 0)
        text = gpuopt::distributed::explainTranspose(*rank.peers, reinterpret_cast<const T*>(slab.in->data()),
                                                     reinterpret_cast<T*>(slab.out->data()), m.rows, m.cols);
    });
    return text.substr(0, text.find(':'));
  }

  void fill(const Matrix& m, std::size_t size) {
    ranks_.run([&](RankState& rank) {
      fillElements<<<2048, 256, 0, rank.stream>>>(slabOf(rank).in->data(), m.rowSlabs.first(rank.number) * m.cols,
                                                  m.rowSlabs.size(rank.number) * m.cols, size);
      check(cudaStreamSynchronize(rank.stream), "fillElements");
    });
  }

  // Runs the call once on poisoned output, and counts what is wrong on all ranks.
  void requireRight(const Matrix& m, std::size_t size, const std::string& name,
                    const std::function<void(RankState&)>& call) {
    std::atomic<unsigned long long> wrong{0};
    ranks_.run([&](RankState& rank) {
      const Slab& slab = slabOf(rank);
      const std::size_t ownCols = m.colSlabs.size(rank.number);
      check(cudaMemsetAsync(slab.out->data(), 0xA5, ownCols * m.rows * size, rank.stream), "cudaMemsetAsync");
      check(cudaMemsetAsync(slab.wrong->as<void>(), 0, sizeof(unsigned long long), rank.stream), "cudaMemsetAsync");
      check(cudaStreamSynchronize(rank.stream), "cudaMemsetAsync");
      rank.nccl->barrier(rank.stream);
      call(rank);
      countWrong<<<2048, 256, 0, rank.stream>>>(slab.out->data(), m.colSlabs.first(rank.number), ownCols * m.rows,
                                                m.rows, m.cols, size, slab.wrong->as<unsigned long long>());
      unsigned long long mine = 0;
      check(cudaMemcpyAsync(&mine, slab.wrong->as<void>(), sizeof mine, cudaMemcpyDeviceToHost, rank.stream),
            "cudaMemcpyAsync");
      check(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
      rank.peers->check();
      wrong += mine;
    });
    if (wrong == 0) return;
    ++wrong_;
    fmt::print("WRONG RESULT: {} x {} elements of {} bytes, {}: {} bytes\n", m.rows, m.cols, size, name, wrong.load());
  }

  template <class T>
  double record(const char* type, const Matrix& m, std::size_t bytes, const std::string& name, const std::string& path,
                double first, const std::function<void(RankState&)>& call) {
    requireRight(m, sizeof(T), name, call);
    return write("transpose", type, m, bytes, name, path, first, ranks_.graphTime(callsOf(bytes), repetitions_, call));
  }

  // Copy engines move what has to go to other ranks, to all of them at once.
  void link(const char* type, const Matrix& m, std::size_t size, std::size_t bytes, double first) {
    const std::size_t block = m.rowSlabs.largest() * m.colSlabs.largest() * size;
    const auto call = [&](RankState& rank) {
      for (int step = 1; step < Ranks::count(); ++step) {
        const int to = (rank.number + step) % Ranks::count();
        check(cudaMemcpyAsync(slabs_[static_cast<std::size_t>(to)].out->data(), slabOf(rank).in->data(), block,
                              cudaMemcpyDefault, rank.stream),
              "cudaMemcpyAsync");
      }
    };
    write("transpose", type, m, bytes, "copy engine", "", first, ranks_.graphTime(callsOf(bytes), repetitions_, call));
  }

  static int callsOf(std::size_t bytes) { return bytes > (std::size_t{64} << 20) ? 4 : 50; }

  double write(const char* name, const char* type, const Matrix& m, std::size_t bytes, const std::string& candidate,
               const std::string& path, double first, const Spread& us) {
    if (first == 0) first = us.median;
    files_.csv() << fmt::format("{},{},{},{},{},\"{}\",\"{}\",graph,{:.3f},{:.3f},{:.3f},{:.4f}\n", name, type, m.rows,
                                m.cols, bytes, candidate, path, us.median, us.p10, us.p90, us.median / first);
    fmt::print("{:<7} {:>6} x {:<6} {:<24} {:>10.2f} us  {:.3f}  {}\n", type, m.rows, m.cols, candidate, us.median,
               us.median / first, path);
    std::fflush(stdout);
    return first;
  }

  int repetitions_;
  Ranks ranks_;
  std::vector<Slab> slabs_;
  ResultFiles files_;
  int wrong_ = 0;
};

int run(Options& options) {
  options.parse(11, 5);
  const auto ranks = static_cast<std::size_t>(Ranks::count());
  // A rank's slab of as many bytes: ranks times a square of half of them or all.
  const std::size_t most = options.isQuick ? std::size_t{1} << 26 : std::size_t{1} << 30;
  Bench bench(options, most);
  for (const std::size_t bytes : {std::size_t{1} << 24, most}) {
    std::size_t side = 1;  // of the slab, in bytes: both sides are powers of two
    while (2 * side * side <= bytes) side *= 2;
    bench.transposition<float>("float", ranks * side / 2, bytes / 2 / side);
    bench.transposition<double>("double", ranks * side / 4, bytes / 2 / side);
    bench.transposition<__half>("half", ranks * side, bytes / 2 / side);
    bench.transposition<unsigned char>("byte", ranks * side, bytes / side);
  }
  if (!options.isQuick) {
    bench.transposition<float>("float", 11483, 11509);
    bench.transposition<unsigned char>("byte", 23003, 23029);
  }
  return bench.finish();
}

}  // namespace

int main(int count, char** words) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // no kernel is loaded while another GPU waits
  return runBenchmark(count, words, "distributed_transpose_bench", "Transpositions of matrices on several GPUs.", run);
}
