/// \file
/// Moves a matrix from slabs of rows to slabs of columns, or to slabs of rows of its transpose.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/parts.cuh>
#include <gpuopt/device/distributed/slab_layout.cuh>
#include <gpuopt/device/distributed/slab_plan.cuh>
#include <gpuopt/device/distributed/symmetric.cuh>
#include <gpuopt/device/distributed/team.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

// Launches the kernel that moves all parts at once, as often as it takes.
template <class Tile>
void launchParts(const std::vector<MatrixPart<typename Tile::In, typename Tile::Out>>& parts, std::size_t batch,
                 const typename Tile::Function& function, const TeamState& team, const unsigned* broken,
                 cudaStream_t stream) {
  const auto multiprocessors = static_cast<std::size_t>(deviceAttribute(cudaDevAttrMultiProcessorCount, team.device));
  for (std::size_t done = 0; done < parts.size(); done += mostPeers) {
    const std::size_t count = smallerOf(parts.size() - done, std::size_t{mostPeers});
    PartsOf<Tile> problem{{}, {}, {}, batch, 0, static_cast<unsigned>(count), broken, function};
    for (std::size_t i = 0; i < count; ++i) {
      problem.parts[i] = parts[done + i];
      problem.down[i] = ceilDivide(parts[done + i].rows, Tile::ROWS);
      problem.tiles[i] = problem.down[i] * ceilDivide(parts[done + i].cols, Tile::COLS);
      problem.most = largerOf(problem.most, batch * problem.tiles[i]);
    }
    const std::size_t enough = ceilDivide(team.slabTuning.blocksPerMultiprocessor * multiprocessors, count);
    const std::size_t blocks = smallerOf(problem.most, enough);
    launch(movePartsKernel<Tile>, gridConfig(Tile::THREADS, blocks * count, stream, "gpuopt::distributed"), problem);
  }
}

// What becomes of the elements on their way: they are transposed, by a function if there is one,
template <class In_, class Out_, class Function>
struct TransposingMove {
  using In = In_;
  using Out = Out_;
  using Tile = TransposedTile<In, Out, Function>;
  static constexpr SlabMove MOVE = SlabMove::transpose;

  Function function;

  // By the kernels for one matrix. A single row, column or matrix has the distances of a dense one.
  void local(const MatrixPart<In, Out>& part, std::size_t batch, const TeamState&, cudaStream_t stream) const {
    const std::size_t inLd = part.rows > 1 ? part.inLd : part.cols, outLd = part.cols > 1 ? part.outLd : part.rows;
    launchTranspose(TransposeProblem<In, Out, Function>{part.in, part.out, part.rows, part.cols, inLd, outLd, batch,
                                                        batch > 1 ? part.inStride : part.rows * inLd,
                                                        batch > 1 ? part.outStride : part.cols * outLd, function},
                    stream);
  }
};

// or copied, as bytes.
template <SlabMove MOVE_>
struct CopyingMove {
  using In = unsigned char;
  using Out = unsigned char;
  using Tile = CopiedTile;
  static constexpr SlabMove MOVE = MOVE_;

  Identity function{};

  void local(const MatrixPart<In, Out>& part, std::size_t batch, const TeamState& team, cudaStream_t stream) const {
    launchParts<Tile>({part}, batch, function, team, nullptr, stream);
  }
};

// One call on one rank.
template <class Move>
class SlabTransfer {
 public:
  using In = typename Move::In;
  using Out = typename Move::Out;
  using Layout = SlabLayout<In, Out, Move::MOVE>;

  SlabTransfer(const char* function, TeamState& team, cudaStream_t stream, const In* in, Out* out, Layout layout,
               const Move& move)
      : function_(function),
        team_(team),
        stream_(stream),
        in_(in),
        out_(out),
        layout_(std::move(layout)),
        move_(move),
        peerIn_(symmetricAddress(team, in)),
        peerOut_(symmetricAddress(team, out)),
        plan_(planSlabs(shape(), team.slabTuning)) {}

  const SlabPlan& plan() const { return plan_; }

  // Gets the memory for packed blocks. Before run(): if it fails on one rank, the others have to learn of it.
  void prepare() {
    const bool isSent = plan_.algorithm == SlabAlgorithm::messages;
    if (isSent || (plan_.algorithm == SlabAlgorithm::copies && Layout::TRANSPOSES)) allocate();
  }

  void run() const {
    if (plan_.algorithm == SlabAlgorithm::nothing) return;
    if (plan_.algorithm == SlabAlgorithm::local) return moveOwnBlock();
    const unsigned call = word();
    if (plan_.agrees()) team_.agree(call, function_);
    if (plan_.algorithm == SlabAlgorithm::messages) return exchangeMessages();
    team_.meet(call, stream_);
    if (plan_.algorithm == SlabAlgorithm::copies)
      copyToPeers();
    else
      readPeers();
    team_.meet(call, stream_);
  }

 private:
  // All ranks have the same, or the call fails.
  SlabShape shape() const {
    const std::size_t slab = cappedProduct(cappedProduct(layout_.rows.largest(), layout_.cols.total()), layout_.batch);
    return {team_.size,
            team_.usesPeers,
            peerIn_.has_value() && (Move::MOVE != SlabMove::toRows || hasEvenColumns()),
            peerOut_.has_value() && (Move::MOVE != SlabMove::toColumns || hasEvenColumns()),
            Layout::TRANSPOSES,
            fillsVectors(),
            layout_.rows.total() == 0 || layout_.cols.total() == 0 || layout_.batch == 0,
            cappedProduct(slab, sizeof(In)),
            layout_.outLd * sizeof(Out),
            layout_.batch};
  }

  // Whether tiles move as vectors, as far as all ranks know it: of every offset at which rows begin.
  bool fillsVectors() const {
    std::size_t in = layout_.inLd | (layout_.batch > 1 ? layout_.inStride : 0), out = 0;
    for (int rank = 0; rank < team_.size; ++rank) {
      in |= layout_.cols.first(rank);
      out |= Layout::TRANSPOSES ? layout_.rows.first(rank) : 0;
    }
    const std::size_t offsets = in * sizeof(In) | out * sizeof(Out) | (peerIn_ ? peerIn_->offset : 0);
    return hasVectorTile(sizeof(In)) && hasVectorTile(sizeof(Out)) && offsets % 16 == 0;
  }

  // Whether a rank knows how wide the others' slabs of columns are: dense ones are as wide as they have columns.
  bool hasEvenColumns() const {
    for (int rank = 1; rank < team_.size; ++rank)
      if (layout_.cols.size(rank) != layout_.cols.size(0)) return false;
    return true;
  }

  // What the others know this call by.
  unsigned word() const {
    unsigned word = callWord(function_, sizeof(In));
    const auto add = [&word](std::size_t number) { word = callWord(word, number); };
    add(sizeof(Out));
    add(static_cast<std::size_t>(plan_.algorithm));
    add(layout_.batch);
    for (int rank = 0; rank < team_.size; ++rank) add(layout_.rows.size(rank));
    for (int rank = 0; rank < team_.size; ++rank) add(layout_.cols.size(rank));
    if (plan_.algorithm == SlabAlgorithm::messages) return word;
    const bool isCopied = plan_.algorithm == SlabAlgorithm::copies;
    add((isCopied ? peerOut_ : peerIn_)->offset);
    add(isCopied ? layout_.outLd : layout_.inLd);
    add(isCopied || layout_.batch == 1 ? 0 : layout_.inStride);
    return word;
  }

  // Packed blocks for all other ranks, and where theirs arrive.
  void allocate() {
    std::size_t elements = 0;
    offsets_.assign(2 * static_cast<std::size_t>(team_.size), 0);
    for (int other = 0; other < team_.size; ++other) {
      if (other == team_.rank) continue;
      offset(true, other) = elements;
      elements += layout_.packedSize(team_.rank, other);
      if (plan_.algorithm == SlabAlgorithm::copies) continue;
      offset(false, other) = elements;
      elements += layout_.packedSize(other, team_.rank);
    }
    if (elements > 0) packed_.emplace(elements * sizeof(Out), stream_);
  }
  std::size_t& offset(bool isSent, int other) {
    return offsets_[2 * static_cast<std::size_t>(other) + (isSent ? 0 : 1)];
  }

  // A chunk of the packed block for another rank, or from it.
  Out* packed(bool isSent, int other, RowRange range) const {
    const std::size_t ld = isSent ? layout_.packedLd(team_.rank, other) : layout_.packedLd(other, team_.rank);
    const std::size_t first = offsets_[2 * static_cast<std::size_t>(other) + (isSent ? 0 : 1)];
    return reinterpret_cast<Out*>(packed_->data()) + first + layout_.batch * range.begin * ld;
  }

  // Calls use(other, range) for a chunk of each block that is sent to another rank, or comes from it, in an order in
  // which no two ranks begin with the same one.
  template <class Use>
  void visitOthers(bool isSent, unsigned chunk, const Use& use) const {
    for (int step = 1; step < team_.size; ++step) {
      const int other = (team_.rank + (isSent ? step : team_.size - step)) % team_.size;
      const int from = isSent ? team_.rank : other, to = isSent ? other : team_.rank;
      const RowRange range = layout_.range(from, to, chunk, plan_.chunks);
      if (!layout_.isEmpty(from, to) && range.size() > 0) use(other, range);
    }
  }

  void moveOwnBlock() const {
    const int own = team_.rank;
    if (!layout_.isEmpty(own, own))
      move_.local(layout_.part(in_, out_, own, own, layout_.range(own, own)), layout_.batch, team_, stream_);
  }

  void readPeers() const {
    std::vector<MatrixPart<In, Out>> parts;
    for (int step = 1; step <= team_.size; ++step) {
      const int from = (team_.rank + step) % team_.size;
      if (!layout_.isEmpty(from, team_.rank))
        parts.push_back(layout_.part(peerIn_->of<In>(from), out_, from, team_.rank, layout_.range(from, team_.rank)));
    }
    if (plan_.algorithm == SlabAlgorithm::tiles)
      return launchParts<typename Move::Tile>(parts, layout_.batch, move_.function, team_, team_.peers.broken, stream_);
    for (const auto& part : parts) move_.local(part, layout_.batch, team_, stream_);
  }

  void pack(unsigned chunk) const {
    visitOthers(true, chunk, [&](int other, RowRange range) {
      move_.local(layout_.packing(in_, packed(true, other, range), team_.rank, other, range), layout_.batch, team_,
                  stream_);
    });
  }

  // While one chunk is copied, the next one is transposed.
  void copyToPeers() const {
    const cudaStream_t copies = team_.sideStream();
    const Event ready, done;
    for (unsigned chunk = 0; chunk < plan_.chunks; ++chunk) {
      if constexpr (Layout::TRANSPOSES) pack(chunk);
      ready.record(stream_);
      ready.makeWait(copies);
      visitOthers(true, chunk, [&](int other, RowRange range) { copyTo(other, range, copies); });
    }
    moveOwnBlock();
    done.record(copies);
    done.makeWait(stream_);
  }

  void copyTo(int other, RowRange range, cudaStream_t copies) const {
    const int own = team_.rank;
    auto part = layout_.part(in_, peerOut_->of<Out>(other), own, other, range);
    const Out* from = reinterpret_cast<const Out*>(part.in);
    std::size_t ld = part.inLd;
    if constexpr (Layout::TRANSPOSES) {
      from = packed(true, other, range);
      ld = layout_.packedLd(own, other);
    }
    check(cudaMemcpy2DAsync(part.out, part.outLd * sizeof(Out), from, ld * sizeof(Out),
                            layout_.blockCols(own, other) * sizeof(Out), range.size(), cudaMemcpyDefault, copies),
          "cudaMemcpy2DAsync");
  }

  // While one chunk is on its way, the next one is packed.
  void exchangeMessages() const {
    std::vector<Event> arrived;
    const Event ready;
    for (unsigned chunk = 0; chunk < plan_.chunks; ++chunk) {
      pack(chunk);
      ready.record(stream_);
      ready.makeWait(team_.sideStream());
      sendAndReceive(chunk);
      arrived.emplace_back().record(team_.sideStream());
    }
    moveOwnBlock();
    for (unsigned chunk = 0; chunk < plan_.chunks; ++chunk) {
      arrived[chunk].makeWait(stream_);
      unpack(chunk);
    }
  }

  void sendAndReceive(unsigned chunk) const {
    detail::checkNccl(ncclGroupStart(), "ncclGroupStart");
    visitOthers(true, chunk, [&](int other, RowRange range) {
      const std::size_t bytes = layout_.batch * range.size() * layout_.packedLd(team_.rank, other) * sizeof(Out);
      detail::checkNccl(ncclSend(packed(true, other, range), bytes, ncclUint8, other, team_.comm, team_.sideStream()),
                        "ncclSend");
    });
    visitOthers(false, chunk, [&](int other, RowRange range) {
      const std::size_t bytes = layout_.batch * range.size() * layout_.packedLd(other, team_.rank) * sizeof(Out);
      detail::checkNccl(ncclRecv(packed(false, other, range), bytes, ncclUint8, other, team_.comm, team_.sideStream()),
                        "ncclRecv");
    });
    detail::checkNccl(ncclGroupEnd(), "ncclGroupEnd");
  }

  void unpack(unsigned chunk) const {
    std::vector<MatrixPart<unsigned char, unsigned char>> parts;
    visitOthers(false, chunk, [&](int other, RowRange range) {
      const auto part = layout_.unpacking(packed(false, other, range), out_, other, team_.rank, range);
      constexpr std::size_t SIZE = sizeof(Out);
      parts.push_back({reinterpret_cast<const unsigned char*>(part.in), reinterpret_cast<unsigned char*>(part.out),
                       part.rows, part.cols * SIZE, part.inLd * SIZE, part.outLd * SIZE, part.inStride * SIZE,
                       part.outStride * SIZE});
    });
    launchParts<CopiedTile>(parts, layout_.batch, Identity{}, team_, nullptr, stream_);
  }

  const char* function_;
  TeamState& team_;
  cudaStream_t stream_;
  const In* in_;
  Out* out_;
  Layout layout_;
  Move move_;
  std::optional<SymmetricAddress> peerIn_, peerOut_;
  SlabPlan plan_;
  std::vector<std::size_t> offsets_;  // of packed blocks: for each rank what is sent, and what is received
  std::optional<ScratchMemory> packed_;
};

GPUOPT_DETAIL_END
