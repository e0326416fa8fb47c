/// \file
/// Moves a matrix from slabs of rows to slabs of columns, or to slabs of rows of its transpose.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/line_tile.cuh>
#include <gpuopt/device/distributed/parts.cuh>
#include <gpuopt/device/distributed/slab_layout.cuh>
#include <gpuopt/device/distributed/slab_messages.cuh>
#include <gpuopt/device/distributed/slab_plan.cuh>
#include <gpuopt/device/distributed/symmetric.cuh>
#include <gpuopt/device/distributed/team.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

// Launches the kernel that moves all parts at once, as often as it takes, with `blocksEach` blocks for a
// multiprocessor.
template <class Tile>
void launchParts(const std::vector<MatrixPart<typename Tile::In, typename Tile::Out>>& parts, std::size_t batch,
                 const typename Tile::Function& function, const TeamState& team, const unsigned* broken,
                 cudaStream_t stream, unsigned blocksEach) {
  const auto multiprocessors = static_cast<std::size_t>(deviceAttribute(cudaDevAttrMultiProcessorCount, team.device));
  for (std::size_t done = 0; done < parts.size(); done += maxPeers) {
    const std::size_t count = smallerOf(parts.size() - done, std::size_t{maxPeers});
    PartsOf<Tile> problem{{}, {}, {}, batch, 0, static_cast<unsigned>(count), broken, function};
    for (std::size_t i = 0; i < count; ++i) {
      problem.parts[i] = parts[done + i];
      problem.down[i] = ceilDivide(parts[done + i].rows, Tile::ROWS);
      problem.tiles[i] = problem.down[i] * ceilDivide(parts[done + i].cols, Tile::COLS);
      problem.maxTiles = largerOf(problem.maxTiles, batch * problem.tiles[i]);
    }
    const std::size_t enough = ceilDivide(blocksEach * multiprocessors, count);
    const std::size_t blocks = smallerOf(problem.maxTiles, enough);
    launch(movePartsKernel<Tile>, gridConfig(Tile::THREADS, blocks * count, stream, "gpuopt::distributed"), problem);
  }
}

// What becomes of the elements on their way: they are transposed, by a function if there is one,
template <class In_, class Out_, class Function>
struct TransposingMove {
  using In = In_;
  using Out = Out_;
  using Tile = TransposedTile<In, Out, Function>;
  using Lines = std::conditional_t<fillsLines(sizeof(Out)), LineTile<In, Out, Function>, Tile>;
  static constexpr SlabMove MOVE = SlabMove::transpose;

  Function function;

  // By the kernels for one matrix. A single row, column or matrix has the distances of a dense one.
  void local(const MatrixPart<In, Out>& part, std::size_t batch, const TeamState&, cudaStream_t stream) const {
    const std::size_t inLd = part.rows > 1 ? part.inLd : part.cols, outLd = part.cols > 1 ? part.outLd : part.rows;
    const TransposeProblem<In, Out, Function> problem{part.in,
                                                      part.out,
                                                      part.rows,
                                                      part.cols,
                                                      inLd,
                                                      outLd,
                                                      batch,
                                                      batch > 1 ? part.inStride : part.rows * inLd,
                                                      batch > 1 ? part.outStride : part.cols * outLd,
                                                      function};
    launchTranspose(problem, planOf(problem), stream);
  }
};

// or copied, as bytes.
template <SlabMove MOVE_>
struct CopyingMove {
  using In = unsigned char;
  using Out = unsigned char;
  using Tile = CopiedTile;
  using Lines = CopiedTile;
  static constexpr SlabMove MOVE = MOVE_;

  Identity function{};

  void local(const MatrixPart<In, Out>& part, std::size_t batch, const TeamState& team, cudaStream_t stream) const {
    launchParts<Tile>({part}, batch, function, team, nullptr, stream, team.slabTuning.blocksPerMultiprocessor);
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
        plan_(planSlabs(request(), team.slabTuning)) {}

  const SlabPlan& plan() const { return plan_; }

  // Gets the memory for packed blocks. Before run(): if it fails on one rank, the others have to learn of it.
  void prepare() {
    if (sendsMessages()) allocateMessages();
    if (plan_.algorithm == SlabAlgorithm::copies && Layout::TRANSPOSES) allocateCopies();
  }

  void run() const {
    if (plan_.algorithm == SlabAlgorithm::nothing) return;
    if (plan_.algorithm == SlabAlgorithm::local) return moveOwnBlock();
    const unsigned call = word();
    if (plan_.agrees()) team_.agree(call, function_);
    if (plan_.algorithm == SlabAlgorithm::messages) return exchangeMessages();
    meetBefore(call);
    if (plan_.algorithm == SlabAlgorithm::copies)
      copyToPeers();
    else if (plan_.algorithm == SlabAlgorithm::levels)
      exchangeMessages();
    else if (plan_.writes)
      writePeers();
    else
      readPeers();
    team_.meet(call, stream_);
  }

 private:
  // Whether other ranks write this one's memory, or else read it.
  bool isWritten() const { return plan_.algorithm == SlabAlgorithm::copies || plan_.writes; }

  // Until all ranks are here. If others write to this rank's output, its kernels that have used it are over, and that
  // is enough: nobody else reads what they have written. If others read its input, they have to see what is in it,
  // which takes 1.6 us longer.
  void meetBefore(unsigned call) const {
    if (isWritten())
      team_.meet<PeerOrder::relaxed>(call, stream_);
    else
      team_.meet(call, stream_);
  }

  // All ranks have the same, or the call fails.
  SlabRequest request() const {
    const std::size_t slab = cappedProduct(cappedProduct(layout_.rows.largest(), layout_.cols.total()), layout_.batch);
    return {team_.size,
            team_.usesPeers,
            peerIn_.has_value() && (Move::MOVE != SlabMove::toRows || hasEvenColumns()),
            peerOut_.has_value() && (Move::MOVE != SlabMove::toColumns || hasEvenColumns()),
            Layout::TRANSPOSES,
            fillsVectors(),
            fillsLines(sizeof(Out)),
            layout_.rows.total() == 0 || layout_.cols.total() == 0 || layout_.batch == 0,
            cappedProduct(slab, sizeof(In)),
            layout_.outLd * sizeof(Out),
            layout_.batch,
            team_.nodes.count()};
  }

  // Whether tiles move as vectors, as far as all ranks know it: of every offset at which rows begin.
  bool fillsVectors() const {
    std::size_t in = layout_.inLd | (layout_.batch > 1 ? layout_.inStride : 0), out = 0;
    for (int rank = 0; rank < team_.size; ++rank) {
      in |= layout_.cols.first(rank);
      out |= Layout::TRANSPOSES ? layout_.rows.first(rank) : 0;
    }
    const std::size_t offsets =
        in * sizeof(In) | out * sizeof(Out) | (peerIn_ ? peerIn_->offset : 0) | (peerOut_ ? peerOut_->offset : 0);
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
    if (plan_.algorithm == SlabAlgorithm::levels) add(plan_.gathers ? 1 : 0);
    for (int rank = 0; rank < team_.size; ++rank) add(layout_.rows.size(rank));
    for (int rank = 0; rank < team_.size; ++rank) add(layout_.cols.size(rank));
    if (plan_.algorithm == SlabAlgorithm::messages) return word;
    add((isWritten() ? peerOut_ : peerIn_)->offset);
    add(isWritten() ? layout_.outLd : layout_.inLd);
    add(layout_.batch == 1 ? 0 : isWritten() ? layout_.outStride : layout_.inStride);
    return word;
  }

  bool sendsMessages() const {
    return plan_.algorithm == SlabAlgorithm::messages || plan_.algorithm == SlabAlgorithm::levels;
  }

  // Scratch memory for what is sent and received.
  void allocateMessages() {
    const RankNodes alone = RankNodes::alone(team_.size);
    const bool usesNodes = plan_.algorithm == SlabAlgorithm::levels;
    const SlabRoutes routes{usesNodes ? team_.nodes : alone, team_.rank, team_.size, plan_.gathers};
    std::size_t elements = 0;
    for (unsigned chunk = 0; chunk < plan_.chunks; ++chunk) {
      sent_.push_back(messagesOf(layout_, routes, true, chunk, plan_.chunks, elements));
      received_.push_back(messagesOf(layout_, routes, false, chunk, plan_.chunks, elements));
    }
    if (elements > 0) packed_.emplace(elements * sizeof(Out), stream_);
  }
  Out* packed(std::size_t offset) const { return reinterpret_cast<Out*>(packed_->data()) + offset; }

  // Packed blocks for all other ranks.
  void allocateCopies() {
    std::size_t elements = 0;
    for (int other = 0; other < team_.size; ++other) {
      offsets_.push_back(elements);
      if (other != team_.rank) elements += layout_.packedSize(team_.rank, other);
    }
    if (elements > 0) packed_.emplace(elements * sizeof(Out), stream_);
  }

  // A chunk of the packed block for another rank.
  Out* packed(int other, RowRange range) const {
    const std::size_t ld = layout_.packedLd(team_.rank, other);
    return packed(offsets_[static_cast<std::size_t>(other)] + layout_.batch * range.begin * ld);
  }

  // Calls use(other, range) for a chunk of each block that is sent to another rank, in an order in which no two ranks
  // begin with the same one.
  template <class Use>
  void visitOthers(unsigned chunk, const Use& use) const {
    for (int step = 1; step < team_.size; ++step) {
      const int other = (team_.rank + step) % team_.size;
      const RowRange range = layout_.range(team_.rank, other, chunk, plan_.chunks);
      if (!layout_.isEmpty(team_.rank, other) && range.size() > 0) use(other, range);
    }
  }

  void moveOwnBlock() const {
    const int own = team_.rank;
    if (!layout_.isEmpty(own, own))
      move_.local(layout_.part(in_, out_, own, own, layout_.range(own, own)), layout_.batch, team_, stream_);
  }

  // The slab of a rank of the node, or of all ranks.
  const In* slabOf(int rank) const { return rank == team_.rank ? in_ : peerIn_->of<In>(rank); }

  // Brings the blocks of the ranks whose memory this one reads.
  void readPeers() const {
    if (plan_.algorithm == SlabAlgorithm::messages) return moveOwnBlock();
    const std::vector<int>& node = team_.nodes.ranks(team_.rank);
    std::vector<MatrixPart<In, Out>> parts;
    for (std::size_t step = 1; step <= node.size(); ++step) {
      const int from = node[(static_cast<std::size_t>(team_.peers.rank) + step) % node.size()];
      if (!layout_.isEmpty(from, team_.rank))
        parts.push_back(layout_.part(slabOf(from), out_, from, team_.rank, layout_.range(from, team_.rank)));
    }
    movePeers(parts);
  }

  // Writes the blocks of all ranks to their memory, beginning with another rank's on each.
  void writePeers() const {
    std::vector<MatrixPart<In, Out>> parts;
    for (int step = 1; step <= team_.size; ++step) {
      const int to = (team_.rank + step) % team_.size;
      Out* const out = to == team_.rank ? out_ : peerOut_->of<Out>(to);
      if (!layout_.isEmpty(team_.rank, to))
        parts.push_back(layout_.part(in_, out, team_.rank, to, layout_.range(team_.rank, to)));
    }
    if (plan_.algorithm != SlabAlgorithm::tiles) return movePeers(parts);
    if (fillsVectors())
      launchParts<typename Move::Tile>(parts, layout_.batch, move_.function, team_, team_.peers.broken, stream_,
                                       writtenTileBlocks(sizeof(Out)));
    else
      launchParts<typename Move::Lines>(parts, layout_.batch, move_.function, team_, team_.peers.broken, stream_,
                                        lineTileBlocks);
  }

  // Parts of several ranks: at once as tiles, or by the local kernels.
  void movePeers(const std::vector<MatrixPart<In, Out>>& parts) const {
    if (plan_.algorithm == SlabAlgorithm::tiles || (plan_.algorithm == SlabAlgorithm::levels && hasTiles()))
      return launchParts<typename Move::Tile>(parts, layout_.batch, move_.function, team_, team_.peers.broken, stream_,
                                              team_.slabTuning.blocksPerMultiprocessor);
    for (const auto& part : parts) move_.local(part, layout_.batch, team_, stream_);
  }
  bool hasTiles() const { return !Layout::TRANSPOSES || fillsVectors(); }

  void pack(unsigned chunk) const {
    std::vector<MatrixPart<In, Out>> parts;
    for (const SlabMessage& message : sent_[chunk])
      for (const SlabPiece& piece : message.pieces)
        parts.push_back(layout_.packing(slabOf(piece.from), packed(piece.offset), piece.from, piece.to, piece.range));
    movePeers(parts);
  }

  void packForCopies(unsigned chunk) const {
    visitOthers(chunk, [&](int other, RowRange range) {
      move_.local(layout_.packing(in_, packed(other, range), team_.rank, other, range), layout_.batch, team_, stream_);
    });
  }

  // While one chunk is copied, the next one is transposed.
  void copyToPeers() const {
    const cudaStream_t copies = team_.sideStream();
    const Event ready, done;
    for (unsigned chunk = 0; chunk < plan_.chunks; ++chunk) {
      if constexpr (Layout::TRANSPOSES) packForCopies(chunk);
      ready.record(stream_);
      ready.makeWait(copies);
      visitOthers(chunk, [&](int other, RowRange range) { copyTo(other, range, copies); });
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
      from = packed(other, range);
      ld = layout_.packedLd(own, other);
    }
    check(cudaMemcpy2DAsync(part.out, part.outLd * sizeof(Out), from, ld * sizeof(Out),
                            layout_.blockCols(own, other) * sizeof(Out), range.size(), cudaMemcpyDefault, copies),
          "cudaMemcpy2DAsync");
  }

  // While one chunk is on its way, the next one is packed, from the memory of all ranks of the node.
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
    readPeers();
    for (unsigned chunk = 0; chunk < plan_.chunks; ++chunk) {
      arrived[chunk].makeWait(stream_);
      unpack(chunk);
    }
  }

  void sendAndReceive(unsigned chunk) const {
    const cudaStream_t stream = team_.sideStream();
    detail::checkNccl(ncclGroupStart(), "ncclGroupStart");
    for (const SlabMessage& message : sent_[chunk])
      detail::checkNccl(
          ncclSend(packed(message.offset), message.size * sizeof(Out), ncclUint8, message.peer, team_.comm, stream),
          "ncclSend");
    for (const SlabMessage& message : received_[chunk])
      detail::checkNccl(
          ncclRecv(packed(message.offset), message.size * sizeof(Out), ncclUint8, message.peer, team_.comm, stream),
          "ncclRecv");
    team_.wait.untilQueued(ncclGroupEnd(), "ncclGroupEnd", function_);
    team_.wait.leavePending(stream);
  }

  void unpack(unsigned chunk) const {
    constexpr std::size_t SIZE = sizeof(Out);
    std::vector<MatrixPart<unsigned char, unsigned char>> parts;
    for (const SlabMessage& message : received_[chunk])
      for (const SlabPiece& piece : message.pieces) {
        const auto part = layout_.unpacking(packed(piece.offset), out_, piece.from, piece.to, piece.range);
        parts.push_back({reinterpret_cast<const unsigned char*>(part.in), reinterpret_cast<unsigned char*>(part.out),
                         part.rows, part.cols * SIZE, part.inLd * SIZE, part.outLd * SIZE, part.inStride * SIZE,
                         part.outStride * SIZE});
      }
    launchParts<CopiedTile>(parts, layout_.batch, Identity{}, team_, nullptr, stream_,
                            team_.slabTuning.blocksPerMultiprocessor);
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
  std::vector<std::size_t> offsets_;                       // of packed blocks for copies, by rank
  std::vector<std::vector<SlabMessage>> sent_, received_;  // by chunk
  std::optional<ScratchMemory> packed_;
};

GPUOPT_DETAIL_END
