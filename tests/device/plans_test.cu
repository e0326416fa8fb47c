/// \file
/// A whole plan of each family, compared member by member, and plans that differ in one number of their request.
/// Pipelines, transfers and the distributed reductions have tables of their own.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/device/keyed/plan.cuh>
#include <gpuopt/device/permute/plan.cuh>
#include <gpuopt/device/reduce/columns_plan.cuh>
#include <gpuopt/device/reduce/rows_plan.cuh>
#include <gpuopt/device/reduce/segments_plan.cuh>
#include <gpuopt/device/rows/add_plan.cuh>
#include <gpuopt/device/rows/combine.cuh>
#include <gpuopt/device/rows/gather_plan.cuh>
#include <gpuopt/device/rows/scan_plan.cuh>
#include <gpuopt/device/rows/transform_plan.cuh>
#include <gpuopt/device/soa/plan.cuh>
#include <gpuopt/device/structs/plan.cuh>
#include <gpuopt/device/transpose/in_place_plan.cuh>
#include <gpuopt/device/transpose/plan.cuh>

#include <cstddef>
#include <string>

namespace gpuopt::test::plans_test {
namespace {

using namespace gpuopt::detail;

template <class Plan>
void checkPlan(const Plan& plan, const Plan& expected) {
  INFO(planInWords(plan) << "; expected: " << planInWords(expected));
  CHECK(plan == expected);
  CHECK_FALSE(plan != expected);
}

TEST_CASE("Whole plans of reductions", "[plans]") {
  // 1003 floats, of which 3 are before the first vector.
  ReduceRequest array{1003, 3, 4, 16, 4, 8, 1, 1024, 4, true};
  checkPlan(planReduce<ReducePolicy>(array), {ReduceAlgorithm::oneTile, "one block takes the input at once", array,
                                              ReduceGrid{128, 1, false}, 250, 3, 0, true});
  array.n = std::size_t{1} << 26;
  array.head = 0;
  const ReducePlan loop = planReduce<ReducePolicy>(array);
  checkPlan(loop, {ReduceAlgorithm::loop, "the input is large", array, loop.grid, std::size_t{1} << 24, 0, 0, true});
  CHECK(loop.grid.combines);

  const ReduceRowsRequest rows{{100, 64, 64}, 4, 4, 8, 4, true};
  checkPlan(planReduceRows<gpuopt::detail::ReduceRowsPolicy>(rows),
            {ReduceRowsAlgorithm::lanes, "rows are short, and consist of vectors", rows, ReduceGrid{128, 2, false}, 4,
             2, 4, 0, 1, 0});

  ReduceColumnsRequest columns;
  columns.matrix = {1000, 512, 512};
  columns.elementBytes = columns.stepElements = columns.partialBytes = columns.resultBytes = 4;
  columns.areAligned = true;
  const ReduceColumnsPlan plan = planReduceColumns<gpuopt::detail::ReduceColumnsPolicy>(columns);
  checkPlan(plan, {ReduceColumnsAlgorithm::steps, "rows consist of vectors", columns, plan.tiles, plan.grid});
  ReduceColumnsPlan other = plan;
  other.tiles.hasEdges = !plan.tiles.hasEdges;
  CHECK(plan != other);

  const ReduceSegmentsRequest segments{100, 4, 8, 8, 4};
  checkPlan(planReduceSegments<gpuopt::detail::ReduceSegmentsPolicy>(segments),
            {segments, 16384, 2048, ReduceGrid{128, 4096, true}});
  checkPlan(planReduceSegments<gpuopt::detail::ReduceSegmentsPolicy>({}), ReduceSegmentsPlan{});
}

TEST_CASE("Whole plans of structures", "[plans]") {
  const StructsRequest map{1025, 4, 4, true, true, false, true, {256, 1024}, {256, 512}};
  checkPlan(planStructs(map),
            {StructsAlgorithm::words, "elements of all arrays fill aligned words", map, {256, 1024}, 2});
  StructsRequest shifted = map;
  shifted.areAligned = false;
  checkPlan(planStructs(shifted), {StructsAlgorithm::tiles, "an array does not begin at a multiple of a thread's word",
                                   shifted, StructsBlock{256, 512}, 3});
  const MoveStructsRequest move{256, 512, 1000, 12, 4};
  checkPlan(planMoveStructs(move), {move, 4, 3, 3});
  const ConvertRequest convert{257, 24, 20, true, true, true};
  checkPlan(planConvert(convert),
            {ConvertAlgorithm::alignedColumns, "all columns begin at aligned addresses", convert, 2, 64, 3});
  checkPlan(planConvert({}), ConvertPlan{});
  const ColumnsRequest columns{257, 20, 12, 24, true, true};
  checkPlan(planColumns(columns),
            {ColumnsAlgorithm::words, "all columns begin at aligned addresses", columns, 2, 64, 3});
}

TEST_CASE("Whole plans of rows", "[plans]") {
  const MoveRowsRequest moved{256, 512, 100, 64, 64, 80, 4, 4, 4, true, false};
  MoveRowsPlan move{16, 16, 20, 16, 16};
  move.algorithm = MoveRowsAlgorithm::words;
  move.loads = 1;
  move.blocks = 13;
  move.reason = "words of 16 bytes divide addresses, rows and leading dimensions";
  move.request = moved;
  checkPlan(planMoveRows(moved), move);
  checkPlan(planCombineRows({256, 512, 100, 64, 64, 64, 4, 4}),
            {4, 16, 13, "words of 16 bytes divide addresses, rows and leading dimensions"});
  checkPlan(planCombineRows({256, 516, 100, 64, 64, 64, 4, 4}),
            {1, 64, 50, "words of 16 bytes do not divide addresses, rows and leading dimensions"});

  const ScanRequest scan{256, 512, 1000, 256, 256, 256, 4, 4, 4, 4, false, 132};
  ScanPlan rows;
  rows.algorithm = ScanAlgorithm::shortRows;
  rows.reason = "the lanes of a row hold all of it";
  rows.request = scan;
  rows.items = 4;
  rows.threads = 256;
  rows.lanes = 32;
  rows.steps = 2;
  rows.blocks = 125;
  rows.strips = 1000;
  rows.launches = 1;
  checkPlan(planScanRows(scan), rows);
  CHECK(planScanColumns(scan) != rows);

  TransformRequest transform;
  transform.rows = 1000;
  transform.cols = 1024;
  transform.inBytes = transform.outBytes = 4;
  transform.multiprocessors = 132;
  const TransformPlan whole = planTransformRows(transform, TransformTuning{});
  TransformPlan expected = whole;
  expected.algorithm = TransformAlgorithm::block;
  expected.reason = "the registers of a block hold a row";
  expected.request = transform;
  expected.rowVectors = 256;
  expected.vectors = 4;
  expected.threads = 64;
  expected.blocks = 1000;
  checkPlan(whole, expected);

  const AddRowsRequest add{{256, 512, 1000, 64, 64, 64, 4, 4}, 100000, 4, {}, {}};
  AddRowsRequest more = add;
  ++more.n;
  CHECK(planAddRows(add, {4, 0}) == planAddRows(add, {4, 0}));
  CHECK(planAddRows(add, {4, 0}) != planAddRows(more, {100001, 0}));
  CHECK(add != more);
}

TEST_CASE("Whole plans of keyed reductions", "[plans]") {
  KeyedRequest request;
  request.n = std::size_t{1} << 27;
  request.slots = 256;
  request.elementBytes = request.stepElements = 4;
  request.readsVectors = true;
  request.cell = {4, 2, 4, 3};
  request.sharedBytes = 227 << 10;
  request.multiprocessors = 132;
  KeyedPlan plan;
  plan.algorithm = KeyedAlgorithm::shared;
  plan.reason = "all bins fit into shared memory";
  plan.request = request;
  plan.clearing = KeyedClearing::kernel;
  plan.threads = 1024;
  plan.blocks = 132;
  plan.groupSlots = 256;
  plan.sharedBytes = 1152;
  checkPlan(planKeyed(request), plan);
  KeyedRequest added = request;
  added.adds = true;
  CHECK(planKeyed(added) != plan);
  CHECK(planKeyed(added).algorithm == plan.algorithm);

  request.n = 1 << 20;
  KeyedRowsPlan rows;
  rows.reason = "the bins of a row fit into shared memory";
  rows.request = {request, 66};
  rows.clearing = KeyedClearing::memory;
  rows.threads = 1024;
  rows.blocks = 132;
  rows.sharedBytes = 1152;
  rows.isShared = true;
  rows.parts = 2;
  checkPlan(planKeyedRows({request, 66}), rows);
}

TEST_CASE("Whole plans of transpositions and permutations", "[plans]") {
  const TransposeRequest request{1000, 2000, 2000, 1000, 1, 2000000, 2000000,   256,
                                 512,  4,    4,    4,    4, true,    227 << 10, 90};
  TransposePlan small{TransposeAlgorithm::smallTile,
                      {"one matrix", TransposeReason::Unit::elements, 2000000, TransposeReason::Relation::isAtMost,
                       std::size_t{1} << 21},
                      4};
  small.tileRows = small.tileCols = 32;
  small.threads = 256;
  small.request = request;
  const TransposeTuning tuning;
  checkPlan(planTranspose(request, tuning), small);
  TransposePlan other = small;
  other.reason.limit = 1;
  CHECK(other != small);
  other = small;
  other.skinny.threads = 1;
  CHECK(other != small);

  const InPlaceRequest square{64, 64, 1, 4, 32, true}, rectangle{4096, 2048, 1, 4, 4, true};
  checkPlan(
      planInPlace(square),
      {InPlaceAlgorithm::vectorPairs, "rows begin at 16-byte boundaries", square, {4, 1}, {}, {64, 256, 32 << 10}, 1});
  checkPlan(planInPlace(rectangle),
            {InPlaceAlgorithm::scratch, "the matrix fits into scratch memory", rectangle, {1, 1}});

  PermuteKernelPlan plan;
  plan.request = {};
  plan.request.rank = 2;
  plan.request.axis[0] = {30, 50, 1};
  plan.request.axis[1] = {50, 1, 30};
  plan.request.inBytes = plan.request.outBytes = plan.request.outAlign = 4;
  plan.request.onlyMoves = true;
  PermuteKernelPlan matrix = plan;
  matrix.algorithm = PermuteAlgorithm::transpose;
  matrix.reason = "two groups of axes change places";
  matrix.matrix = {30, 50, 50, 30, 1, 1500, 1500};
  planPermute(plan, PermuteTuning{}, {std::size_t{227} << 10, 132});
  checkPlan(plan, matrix);
  for (const unsigned k : {0u, permuteTileRank - 1}) {
    PermuteKernelPlan different = plan;
    different.tile.outRow[k].shared = 1;
    CHECK(different != plan);
  }
}

}  // namespace
}  // namespace gpuopt::test::plans_test
