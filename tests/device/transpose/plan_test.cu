/// Which kernel the plan chooses: both sides of every threshold, every element size, without a device.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/device/transpose/plan.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuopt::test::plan_test {
namespace {

using Algorithm = detail::TransposeAlgorithm;
using detail::planTranspose;
using detail::TransposePlan;
using detail::TransposeTuning;

// Dense matrices of elements that move, at 256-byte boundaries, on a device with much shared memory.
struct Shape : detail::TransposeRequest {
  Shape(unsigned bytes, unsigned align, std::size_t height, std::size_t width, std::size_t count = 1)
      : TransposeRequest{height, width, width, height, count, height * width, height * width, 256,
                         512,    bytes, bytes, align,  align, true,           227 << 10,      90} {}

  // With gaps between rows, in elements.
  Shape gaps(std::size_t inGap, std::size_t outGap = 0) const {
    Shape shape = *this;
    shape.inLd += inGap;
    shape.outLd += outGap;
    shape.inStride = rows * shape.inLd;
    shape.outStride = cols * shape.outLd;
    return shape;
  }

  // The addresses moved by bytes.
  Shape at(std::size_t inOffset, std::size_t outOffset) const {
    Shape shape = *this;
    shape.in += inOffset;
    shape.out += outOffset;
    return shape;
  }

  // With a function.
  Shape to(unsigned bytes, unsigned align) const {
    Shape shape = *this;
    shape.outBytes = bytes;
    shape.outAlign = align;
    shape.onlyMoves = false;
    return shape;
  }

  Shape on(std::size_t bytesOfBlock) const {
    Shape shape = *this;
    shape.sharedLimit = bytesOfBlock;
    return shape;
  }
};

void expect(Algorithm algorithm, const std::vector<Shape>& shapes) {
  for (const Shape& s : shapes) {
    CAPTURE(s.inBytes, s.inAlign, s.outBytes, s.onlyMoves, s.rows, s.cols, s.inLd, s.outLd, s.batch, s.in, s.out);
    const TransposePlan plan = planTranspose(s);
    CAPTURE(plan.reason.text);
    CHECK(static_cast<int>(plan.algorithm) == static_cast<int>(algorithm));
  }
}

bool makesWords(const TransposePlan& plan) { return plan.run.period > 0 || plan.run.segmentRows > 0; }

void expectWords(const std::vector<Shape>& shapes) {
  expect(Algorithm::run, shapes);
  for (const Shape& shape : shapes) CHECK(makesWords(planTranspose(shape)));
}

TEST_CASE("vectors without gaps are copies, batches of them too") {
  expect(Algorithm::copy, {{4, 4, 1, 1000},
                           {4, 4, 1000, 1},
                           {4, 4, 1, 5000, 300},
                           {4, 4, 5000, 1, 300},
                           {4, 4, 1, 1, 100000},
                           {1, 1, 1, 1},
                           {12, 4, 1, 100},
                           {100, 4, 7, 1},
                           {128, 16, 1, 1000000},
                           Shape(2, 2, 1, 3000).at(6, 22),
                           Shape(4, 4, 1, 5000000)});
  expect(Algorithm::smallTile, {Shape(4, 4, 1, 1000).at(4, 0), Shape(4, 4, 1000, 1).gaps(1),
                                Shape(4, 4, 1, 1000).gaps(0, 1), Shape(4, 4, 1, 1000).to(4, 4)});
  expect(Algorithm::skinny, {Shape(4, 4, 1, 1000, 3).gaps(0, 1), Shape(4, 4, 1, 5000000).at(4, 0)});
  Shape apart(4, 4, 1, 1000, 300);
  apart.outStride = 1001;
  expect(Algorithm::skinny, {apart});
}

TEST_CASE("one matrix is small up to 2^21 or 2^22 elements over the reads of an element") {
  expect(Algorithm::smallTile,
         {Shape(1, 1, 2048, 2048).gaps(1), Shape(2, 2, 2048, 1024).gaps(1), Shape(4, 4, 1024, 2048).gaps(1),
          Shape(8, 8, 2048, 2048).gaps(1), Shape(16, 16, 2048, 1024), Shape(3, 1, 1024, 1365).gaps(1),
          Shape(6, 2, 1024, 1365), Shape(12, 4, 1024, 1365), Shape(8, 4, 1024, 2048).gaps(1).at(4, 0),
          Shape(4, 1, 1024, 512).gaps(1).at(1, 0), Shape(2, 2, 2048, 2048).to(16, 16).gaps(1),
          Shape(16, 16, 2048, 1024).to(4, 4), Shape(3, 1, 1000, 1000).to(2, 2), Shape(16, 2, 512, 1024).at(2, 0)});
  expect(Algorithm::stagedTile,
         {Shape(1, 1, 2048, 2049), Shape(2, 2, 2049, 1024), Shape(4, 4, 1023, 2051), Shape(8, 8, 2049, 2049),
          Shape(3, 1, 1024, 1366), Shape(6, 2, 1024, 1366), Shape(12, 4, 1024, 1366), Shape(8, 4, 1023, 2051).at(4, 0),
          Shape(4, 1, 1023, 515).at(1, 0), Shape(2, 2, 2048, 2049).to(16, 16), Shape(16, 2, 512, 1025).at(2, 0)});
  expect(Algorithm::tile, {Shape(16, 16, 2048, 1025), Shape(16, 16, 2048, 2048).gaps(4, 4)});
}

TEST_CASE("batches, elements above 16 bytes or of more than 8 words, and too many columns are never small") {
  expect(Algorithm::stagedTile,
         {Shape(4, 4, 41, 40, 2).gaps(1), Shape(20, 4, 40, 40), Shape(16, 1, 40, 41).at(1, 0), Shape(24, 8, 40, 40),
          Shape(100, 4, 40, 40), Shape(128, 16, 40, 40), Shape(4, 4, 40, 40).to(32, 16)});
}

TEST_CASE("matrices with aligned rows of less than 4 bytes are small up to 2^19 elements") {
  expect(Algorithm::smallTile, {Shape(1, 1, 1024, 512), Shape(2, 2, 1024, 512), Shape(3, 1, 1024, 512),
                                Shape(1, 1, 1024, 512).to(16, 16), Shape(4, 4, 1024, 2048), Shape(8, 8, 2048, 2048)});
  expect(Algorithm::registers, {Shape(1, 1, 1024, 528), Shape(2, 2, 1024, 520), Shape(1, 1, 1024, 528).to(16, 16),
                                Shape(2, 2, 1024, 520).to(4, 4)});
  expect(Algorithm::threeByteTile, {Shape(3, 1, 1024, 528)});
  expect(Algorithm::tile, {Shape(4, 4, 1024, 2052), Shape(8, 8, 2048, 2052)});
}

TEST_CASE("few rows or columns are small up to 2^18 elements of full tiles, else skinny up to 32") {
  expect(Algorithm::smallTile, {Shape(4, 4, 32, 8192), Shape(4, 4, 8192, 32), Shape(1, 1, 8, 8192),
                                Shape(16, 16, 8192, 3), Shape(12, 4, 5, 2720), Shape(4, 4, 33, 8193)});
  expect(Algorithm::skinny,
         {Shape(4, 4, 32, 8193), Shape(4, 4, 8193, 32), Shape(1, 1, 8, 8193), Shape(16, 16, 8193, 3),
          Shape(12, 4, 5, 2753), Shape(1, 1, 31, 1000000), Shape(2, 2, 1000000, 32), Shape(3, 1, 7, 1000000),
          Shape(6, 2, 1000000, 7), Shape(8, 8, 2, 1000000), Shape(24, 8, 5, 1000000), Shape(100, 4, 1000, 32),
          Shape(128, 16, 32, 1000), Shape(1, 1, 4, 1000000).to(8, 8), Shape(8, 8, 1000000, 4).to(1, 1),
          Shape(3, 1, 1000000, 4).to(4, 4), Shape(4, 4, 2, 4, 100).gaps(1), Shape(4, 4, 9, 2, 9).gaps(0, 1)});
  expect(Algorithm::stagedTile, {Shape(4, 4, 33, 100001), Shape(4, 4, 2, 3, 100).gaps(0, 1), Shape(127, 1, 32, 1000)});
}

TEST_CASE("more than 32 aligned lines are skinny if records have no gaps") {
  expect(Algorithm::skinny, {Shape(1, 1, 49, 2048, 300), Shape(1, 1, 2048, 49, 300), Shape(1, 1, 2048, 255, 300),
                             Shape(2, 2, 33, 2048, 300), Shape(4, 4, 2048, 169, 300), Shape(8, 8, 199, 2048, 300),
                             Shape(4, 4, 49, 2048, 300).gaps(16), Shape(4, 4, 2048, 49, 300).gaps(0, 8),
                             Shape(4, 4, 199, 2048, 300).to(4, 4), Shape(4, 4, 49, 1000000)});
  expect(Algorithm::stagedTile,
         {Shape(1, 1, 257, 2048, 300), Shape(1, 1, 2048, 257, 300), Shape(2, 2, 201, 2048, 300),
          Shape(4, 4, 2048, 171, 300), Shape(4, 4, 49, 2048, 300).gaps(0, 1), Shape(4, 4, 2048, 49, 300).gaps(1, 0),
          Shape(3, 1, 49, 2048, 300), Shape(12, 4, 49, 2048, 300), Shape(4, 2, 49, 2048, 300).at(2, 2)});
}

TEST_CASE("many lines: records are twice as many, two tiles, and 192 blocks") {
  expect(Algorithm::skinny,
         {Shape(4, 4, 151, 304, 300), Shape(1, 1, 49, 1024, 48), Shape(1, 1, 1024, 49, 48), Shape(4, 4, 49, 144, 255)});
  expect(Algorithm::stagedTile, {Shape(4, 4, 153, 304, 300), Shape(1, 1, 49, 1024, 47), Shape(4, 4, 49, 124, 255)});
  expect(Algorithm::skinny, {Shape(1, 1, 49, 2048, 300).on(64 << 10), Shape(1, 1, 196, 2048, 300)});
  expect(Algorithm::stagedTile, {Shape(1, 1, 196, 2048, 300).on(99 << 10)});
}

TEST_CASE("many lines: threads and records of a tile") {
  const auto check = [](const Shape& shape, unsigned threads, unsigned records) {
    const TransposePlan plan = planTranspose(shape);
    CAPTURE(shape.rows, shape.cols, plan.threads, plan.skinny.tile);
    CHECK((plan.threads == threads && plan.skinny.tile == records));
  };
  for (const std::size_t few : {33, 50}) check(Shape(1, 1, few, 2048, 300), 128, 256);
  for (const std::size_t few : {33, 39}) check(Shape(2, 2, few, 2048, 300), 128, 128);
  check(Shape(1, 1, 51, 2048, 300), 256, 256);
  for (const std::size_t some : {41, 103}) check(Shape(2, 2, some, 2048, 300), 256, 128);
  for (const std::size_t many : {105, 169}) check(Shape(4, 4, many, 2048, 300), 512, 64);
  check(Shape(4, 4, 171, 2048, 300), 512, 32);
  check(Shape(1, 1, 171, 2048, 300), 512, 256);
  for (const std::size_t few : {33, 36}) check(Shape(1, 1, 2048, few, 300), 128, 256);
  for (const std::size_t some : {37, 71}) check(Shape(2, 2, 2048, some, 300), 256, 128);
  for (const std::size_t many : {73, 169}) check(Shape(4, 4, 2048, many, 300), 512, 64);
  for (const std::size_t most : {171, 255}) check(Shape(1, 1, 2048, most, 300), 512, 128);
  for (const std::size_t odd : {33, 72}) check(Shape(1, 1, 2049, odd, 300), 128, 128);
  for (const std::size_t odd : {73, 112}) check(Shape(1, 1, 2049, odd, 300), 256, 128);
}

TEST_CASE("many lines without alignment: up to 112 from 16 MiB on, if records of words have none either") {
  expect(Algorithm::skinny, {Shape(1, 1, 49, 2049, 200), Shape(1, 1, 2049, 112, 100), Shape(1, 1, 112, 2049, 100),
                             Shape(4, 4, 2049, 112, 100), Shape(2, 2, 49, 2049, 100), Shape(4, 4, 111, 2049, 100),
                             Shape(8, 8, 2049, 55, 100)});
  expect(Algorithm::stagedTile, {Shape(1, 1, 113, 2049, 100), Shape(4, 4, 2049, 113, 100), Shape(1, 1, 49, 2049, 167),
                                 Shape(2, 2, 2049, 49, 83), Shape(4, 4, 112, 2049, 100), Shape(8, 8, 2049, 57, 100)});
}

TEST_CASE("many lines: from 73 columns of bytes on, 32 MiB") {
  expect(Algorithm::skinny, {Shape(1, 1, 2048, 73, 225), Shape(1, 1, 2048, 72, 30), Shape(1, 1, 73, 2048, 30),
                             Shape(2, 2, 2048, 73, 30), Shape(1, 1, 2048, 73, 225).to(1, 1)});
  expect(Algorithm::stagedTile, {Shape(1, 1, 2048, 73, 224), Shape(1, 1, 2048, 255, 64)});
}

TEST_CASE("many lines with a function that changes the size: aligned, up to 64 rows or 56 columns") {
  expect(Algorithm::skinny, {Shape(1, 1, 49, 2048, 48).to(4, 4), Shape(1, 1, 63, 2048, 300).to(4, 4),
                             Shape(4, 4, 2048, 49, 300).to(2, 2), Shape(1, 1, 49, 512, 300).to(4, 4)});
  expect(Algorithm::stagedTile,
         {Shape(1, 1, 65, 2048, 300).to(4, 4), Shape(1, 1, 2048, 57, 300).to(4, 4), Shape(1, 1, 49, 2049, 300).to(4, 4),
          Shape(1, 1, 2048, 49, 41).to(4, 4), Shape(1, 1, 63, 2048, 300).to(8, 8)});
  expect(Algorithm::run, {Shape(1, 1, 512, 49, 300).to(4, 4)});
}

TEST_CASE("many lines replace runs of large matrices, and tiles that they would fill by less than four fifths") {
  expect(Algorithm::skinny, {Shape(4, 4, 49, 256, 300), Shape(8, 8, 49, 256, 300), Shape(4, 4, 512, 49, 300),
                             Shape(16, 16, 49, 2048, 10), Shape(16, 16, 2048, 49, 10), Shape(8, 8, 50, 2048, 10),
                             Shape(8, 8, 102, 2048, 50), Shape(4, 4, 36, 2048, 300), Shape(4, 4, 196, 1024, 100)});
  expect(Algorithm::run, {Shape(4, 4, 49, 240, 300), Shape(1, 1, 49, 512, 300), Shape(1, 1, 512, 49, 300),
                          Shape(8, 8, 49, 125, 300), Shape(4, 4, 49, 512, 300).at(4, 0)});
  expect(Algorithm::tile, {Shape(16, 16, 52, 2048, 10), Shape(8, 8, 104, 2048, 50), Shape(8, 8, 102, 2048, 40),
                           Shape(4, 4, 36, 2048, 200), Shape(4, 4, 40, 2048, 300), Shape(4, 4, 2048, 36, 300)});
  expect(Algorithm::registers, {Shape(16, 16, 49, 2048, 2)});
}

TEST_CASE("dense batches of small matrices are runs") {
  expect(Algorithm::run,
         {Shape(4, 4, 3, 5, 1000), Shape(4, 4, 2, 2, 2), Shape(4, 4, 32, 32, 2), Shape(4, 4, 40, 50, 256),
          Shape(8, 8, 33, 33, 256), Shape(16, 16, 33, 33, 300), Shape(12, 4, 33, 33, 256), Shape(24, 8, 5, 7, 1000),
          Shape(100, 4, 36, 36, 256), Shape(128, 16, 2, 3, 1000), Shape(4, 4, 128, 128, 300).at(4, 0),
          Shape(4, 4, 100, 100, 256), Shape(4, 4, 181, 181, 256), Shape(4, 4, 5, 7, 1000).to(8, 8),
          Shape(8, 4, 5, 7, 1000).at(4, 0), Shape(3, 1, 9, 9, 300).to(4, 4)});
  expect(Algorithm::stagedTile, {Shape(4, 4, 40, 50, 255), Shape(4, 4, 33, 33, 2), Shape(4, 4, 40, 50, 300).gaps(1),
                                 Shape(4, 4, 40, 50, 300).gaps(0, 1), Shape(4, 4, 182, 181, 256),
                                 Shape(100, 4, 37, 37, 256), Shape(4, 4, 181, 181, 256).on(99 << 10)});
  expect(Algorithm::skinny, {Shape(4, 4, 3, 5000000, 2)});
}

TEST_CASE("dense batches of elements of less than 4 bytes make words") {
  expectWords({Shape(1, 1, 12, 20, 300), Shape(1, 1, 17, 65, 300), Shape(2, 2, 9, 64, 300), Shape(3, 1, 13, 13, 300),
               Shape(6, 2, 24, 24, 300), Shape(1, 1, 181, 181, 256), Shape(2, 2, 156, 157, 256),
               Shape(2, 1, 20, 20, 300).at(1, 0), Shape(1, 1, 33, 33, 300).to(1, 1), Shape(4, 4, 9, 9, 300).to(2, 2),
               Shape(1, 1, 16, 15, 300), Shape(1, 1, 18, 64, 300), Shape(1, 1, 12, 64, 300),
               Shape(1, 1, 64, 64, 300).at(2, 0), Shape(1, 1, 64, 64, 300).to(1, 1), Shape(1, 1, 7, 700, 300)});
  expect(Algorithm::stagedTile,
         {Shape(1, 1, 182, 181, 256), Shape(2, 2, 157, 157, 256), Shape(1, 1, 33, 33, 2).gaps(1)});
  expect(Algorithm::skinny, {Shape(1, 1, 2, 10001, 300), Shape(1, 1, 7, 735, 300)});
}

TEST_CASE("bytes and halves in full and aligned squares of 4 x 4 go by permutation") {
  expect(Algorithm::permutedRun,
         {Shape(1, 1, 16, 64, 300), Shape(2, 2, 100, 24, 300), Shape(1, 1, 20, 20, 300).at(4, 8),
          Shape(2, 2, 20, 20, 300).at(8, 16), Shape(1, 1, 128, 128, 256)});
  expectWords({Shape(1, 1, 20, 20, 300).at(2, 0), Shape(2, 2, 20, 20, 300).at(0, 4), Shape(1, 1, 12, 64, 300),
               Shape(1, 1, 64, 12, 300), Shape(1, 1, 18, 64, 300), Shape(2, 2, 64, 18, 300),
               Shape(2, 1, 64, 64, 300).at(1, 0), Shape(1, 1, 64, 64, 300).to(1, 1)});
}

TEST_CASE("dense batches of 60 to 160 KiB a matrix of 8 and 12 bytes go by column panels, of 16 bytes by tiles") {
  expect(Algorithm::columnPanel, {Shape(12, 4, 72, 72, 256), Shape(12, 4, 100, 100, 256).at(16, 32),
                                  Shape(8, 8, 101, 100, 256), Shape(8, 8, 64, 318, 256), Shape(12, 4, 64, 212, 256)});
  expect(Algorithm::columnPanel, {Shape(16, 16, 65, 65, 256)});
  expect(Algorithm::run, {Shape(12, 4, 68, 72, 256), Shape(12, 4, 72, 90, 256), Shape(8, 8, 100, 101, 256),
                          Shape(8, 8, 63, 124, 256), Shape(8, 8, 200, 62, 256), Shape(12, 4, 100, 100, 256).at(4, 0),
                          Shape(4, 4, 150, 152, 256), Shape(8, 8, 101, 100, 256).to(8, 8)});
  expect(Algorithm::tile, {Shape(16, 16, 101, 102, 256), Shape(16, 16, 100, 100, 255), Shape(16, 16, 100, 100, 256),
                           Shape(16, 8, 100, 100, 256), Shape(16, 16, 72, 72, 256), Shape(16, 16, 70, 140, 256),
                           Shape(8, 8, 64, 128, 256), Shape(8, 8, 64, 322, 256).gaps(2, 2)});
}

TEST_CASE("aligned rows: registers up to 4 MiB, or 16 MiB of 1 and 2 bytes, and where tiles would be empty") {
  expect(Algorithm::registers, {Shape(1, 1, 4096, 4096), Shape(2, 2, 2048, 4096), Shape(4, 4, 512, 512, 4).gaps(4),
                                Shape(8, 8, 512, 512, 2), Shape(16, 16, 256, 512, 2).to(16, 16),
                                Shape(4, 4, 33, 33, 4000).gaps(3, 3), Shape(1, 1, 1024, 1024, 4).to(4, 4)});
  expect(Algorithm::tile, {Shape(1, 1, 4096, 4352), Shape(2, 2, 2048, 4352), Shape(4, 4, 512, 512, 5),
                           Shape(8, 8, 512, 512, 3), Shape(4, 4, 16384, 16384), Shape(4, 4, 16384, 16384).to(4, 4)});
  expect(Algorithm::tile, {Shape(1, 1, 1024, 1024, 5).to(4, 4), Shape(8, 8, 4096, 4096).to(4, 4),
                           Shape(2, 2, 4096, 4096).to(16, 16), Shape(16, 16, 4096, 4096).to(1, 1)});
}

TEST_CASE("output rows within sectors: tiles shifted to sectors, if 900 are full") {
  // 64 x 64 floats: 60 of 62 tiles down, 15 across.
  expect(Algorithm::sectorTile,
         {Shape(4, 4, 3964, 960), Shape(1, 1, 16400, 16384), Shape(2, 2, 16392, 16384), Shape(8, 8, 16386, 16384),
          Shape(4, 4, 16384, 16384).at(0, 16), Shape(4, 4, 16384, 16384).gaps(0, 4), Shape(4, 4, 252, 1024, 60)});
  expect(Algorithm::tile,
         {Shape(4, 4, 3964, 956), Shape(4, 4, 3964, 960).on(64 << 10), Shape(4, 4, 3964, 960).to(4, 4),
          Shape(16, 16, 16385, 16384), Shape(4, 4, 16384, 16384).at(16, 32), Shape(4, 4, 16384, 16384).gaps(4, 8)});
}

TEST_CASE("one row or batch off alignment takes the kernel for any") {
  Shape apart(4, 4, 1024, 1024, 9);
  apart.inStride += 1;
  expect(Algorithm::stagedTile,
         {apart, Shape(4, 4, 16384, 16384).at(4, 0), Shape(4, 4, 16384, 16384).at(0, 8), Shape(1, 1, 16384, 16392),
          Shape(3, 1, 16384, 16392), Shape(3, 1, 16384, 16384).to(3, 1), Shape(6, 2, 16384, 16384),
          Shape(12, 4, 16384, 16384), Shape(24, 8, 16384, 16384), Shape(20, 4, 512, 512), Shape(32, 16, 512, 512),
          Shape(128, 16, 512, 512), Shape(3, 1, 512, 1024, 3).to(4, 4)});
  expect(Algorithm::threeByteTile, {Shape(3, 1, 16384, 16384), Shape(3, 1, 48, 144, 3).gaps(16)});
  apart.inStride += 3;
  expect(Algorithm::tile, {apart});
}

TEST_CASE("the wide tile is for 1 and 2 bytes, and casts, from 32 or 256 MiB on, of odd pitch") {
  const auto isWide = [](const Shape& shape) { return planTranspose(shape).isWide; };
  CHECK(isWide(Shape(1, 1, 8192, 4097)));
  CHECK_FALSE(isWide(Shape(1, 1, 8190, 4097)));
  CHECK_FALSE(isWide(Shape(1, 1, 8193, 4096)));
  CHECK_FALSE(isWide(Shape(1, 1, 8192, 4097).on(64 << 10)));
  CHECK(isWide(Shape(2, 2, 32768, 4097)));
  CHECK_FALSE(isWide(Shape(2, 2, 32752, 4097)));
  CHECK_FALSE(isWide(Shape(4, 4, 16383, 16383)));
  CHECK(isWide(Shape(4, 4, 16383, 16383).to(1, 1)));
  CHECK_FALSE(isWide(Shape(4, 4, 16383, 16383).to(2, 2)));
  CHECK(planTranspose(Shape(1, 1, 8192, 4097)).tileCols == 384);
  CHECK(planTranspose(Shape(1, 1, 8190, 4097)).tileCols == 256);
}

TEST_CASE("structures move at the alignment that their rows have") {
  CHECK(planTranspose(Shape(12, 1, 40, 40)).word == 4);
  CHECK(planTranspose(Shape(12, 1, 40, 40).at(2, 0)).word == 1);
  CHECK(planTranspose(Shape(12, 2, 40, 40).at(0, 2)).word == 2);
  CHECK(planTranspose(Shape(64, 64, 40, 40)).word == 16);
  CHECK(planTranspose(Shape(8, 1, 3, 3)).word == 8);
  CHECK(planTranspose(Shape(8, 4, 3, 3).at(4, 0)).word == 4);
  CHECK(planTranspose(Shape(3, 1, 3, 3)).word == 1);
}

TEST_CASE("tall tiles, from 2^19 elements of 16 bytes on") {
  CHECK(planTranspose(Shape(16, 16, 1024, 512)).tileRows == 16);
  CHECK(planTranspose(Shape(16, 16, 1024, 513)).tileRows == 32);
  CHECK(planTranspose(Shape(16, 16, 1024, 513)).tileCols == 16);
  CHECK(planTranspose(Shape(4, 4, 1024, 513)).tileRows == 32);
}

TEST_CASE("rows are as aligned as the address, the pitch, and in a batch the stride") {
  const auto aligned = [](const Shape& shape) { return detail::TransposeFacts(shape).aligned; };
  const auto withStrides = [](Shape shape, std::size_t in, std::size_t out) {
    shape.inStride = in;
    shape.outStride = out;
    return shape;
  };
  const Shape alone(4, 4, 8, 8), batch(4, 4, 8, 8, 2);
  CHECK(aligned(alone) == 32);
  CHECK(aligned(alone.at(16, 0)) == 16);
  CHECK(aligned(alone.at(0, 8)) == 8);
  CHECK(aligned(alone.gaps(4)) == 16);
  CHECK(aligned(alone.gaps(0, 1)) == 4);
  CHECK(aligned(withStrides(alone, 65, 65)) == 32);
  CHECK(aligned(withStrides(batch, 64, 68)) == 16);
  CHECK(aligned(withStrides(batch, 65, 64)) == 4);
}

TEST_CASE("no elements, no kernel") {
  CHECK(planTranspose(Shape(4, 4, 0, 5)).algorithm == Algorithm::nothing);
  CHECK(planTranspose(Shape(4, 4, 5, 0)).algorithm == Algorithm::nothing);
  CHECK(planTranspose(Shape(4, 4, 5, 5, 0)).algorithm == Algorithm::nothing);
}

TEST_CASE("a plan in words") {
  const auto words = [](const Shape& shape) { return detail::planInWords(planTranspose(shape)); };
  const auto explains = [&](const Shape& shape, const std::string& kernelAndReason) {
    const std::size_t elements = shape.rows * shape.cols * shape.batch;
    CHECK(words(shape) == detail::message({kernelAndReason, "; reads ", elements * shape.inBytes, " bytes, writes ",
                                           elements * shape.outBytes}));
  };
  explains(Shape(4, 4, 16384, 16384),
           "tile 64 x 64, 256 threads: rows of both sides begin at 16-byte boundaries, 1 GiB exceeds 4 MiB");
  CHECK(words(Shape(4, 4, 0, 5)) == "nothing to launch: no elements");
  explains(Shape(4, 4, 1, 1000), "copy, 256 threads: vectors without gaps, both sides equally aligned");
  explains(Shape(4, 4, 40, 50), "small tile 32 x 32, 256 threads: one matrix, 2000 elements at most 2097152");
  explains(Shape(4, 4, 30, 40),
           "small tile 32 x 32, 256 threads: one skinny matrix, in full tiles, 2048 elements at most 262144");
  explains(Shape(1, 1, 32, 32, 1000),
           "permuted runs of 4 matrices, 128 threads: a dense batch, squares of 4 x 4 are full and "
           "aligned, 1 KiB at most 48 KiB");
  explains(Shape(12, 4, 72, 72, 256),
           "column panels 72 x 24, 256 threads: a dense batch, input rows begin at 16-byte boundaries, 60.7 KiB "
           "exceeds 60 KiB");
  explains(Shape(4, 4, 3, 1000000), "skinny tile 3 x 1344, 256 threads: few rows, 3 rows at most 32");
  explains(Shape(1, 1, 49, 2049, 200),
           "skinny tile 49 x 224, 128 threads: few rows, records without gaps, 49 rows at most 112");
  explains(Shape(1, 1, 2048, 196, 200),
           "skinny tile 128 x 196, 512 threads: few columns, records without gaps, 196 columns at most 256");
  explains(Shape(4, 4, 3964, 960),
           "sector tile 64 x 64, 288 threads: rows of both sides begin at 16-byte boundaries, output rows "
           "within sectors, 900 full tiles at least 900");
  explains(Shape(6, 2, 16384, 16384), "staged tile 64 x 64, 512 threads: elements do not fill 16-byte vectors");
}

TEST_CASE("tiles that are half full become registers") {
  expect(Algorithm::tile, {Shape(2, 2, 12544, 72, 167), Shape(2, 2, 72, 12544, 167), Shape(1, 1, 12544, 144, 167)});
  expect(Algorithm::registers, {Shape(2, 2, 12544, 64, 167), Shape(2, 2, 64, 12544, 167), Shape(1, 1, 12544, 128, 167),
                                Shape(2, 2, 12544, 56, 167)});
}

TEST_CASE("tiles of 4-byte elements have half the threads up to 16 MiB") {
  const auto threads = [](const Shape& shape) { return planTranspose(shape).threads; };
  CHECK(threads(Shape(4, 4, 2048, 2048)) == 128);
  CHECK(threads(Shape(4, 4, 2048, 2052)) == 256);
  CHECK(threads(Shape(4, 4, 1024, 2052)) == 128);
  CHECK(threads(Shape(4, 4, 2048, 2048).to(4, 4)) == 256);
  CHECK(threads(Shape(8, 8, 2048, 2052)) == 256);
}

TEST_CASE("columns of tiles are dealt to as many regions as the pitch of the input asks for") {
  constexpr std::size_t KIB = 1024 / sizeof(float);
  const auto bits = [](std::size_t rows, std::size_t cols, std::size_t inLd) {
    return planTranspose(Shape(4, 4, rows, cols).gaps(inLd - cols)).regionBits;
  };
  CHECK(bits(8192, 64 * KIB, 64 * KIB) == 0);
  CHECK(bits(8192, 126 * KIB, 126 * KIB) == 0);
  CHECK(bits(8192, 128 * KIB, 128 * KIB) == 1);
  CHECK(bits(8192, 384 * KIB, 384 * KIB) == 1);
  CHECK(bits(8192, 256 * KIB, 256 * KIB) == 2);
  CHECK(bits(8192, 512 * KIB, 512 * KIB) == 3);
  CHECK(bits(8192, 1024 * KIB, 1024 * KIB) == 0);
  CHECK(bits(8192, 112 * KIB, 128 * KIB) == 1);
  CHECK(bits(8192, 111 * KIB, 128 * KIB) == 0);
  CHECK(bits(512, 128 * KIB, 128 * KIB) == 1);
  CHECK(bits(508, 128 * KIB, 128 * KIB) == 0);
  CHECK(bits(2044, 512 * KIB, 512 * KIB) == 0);
}

TEST_CASE("elements of 16 bytes in rows of up to 4 KiB take tiles of 32 x 16") {
  const auto isNarrow = [](const Shape& shape) {
    const auto plan = planTranspose(shape);
    return plan.algorithm == Algorithm::tile && plan.tileRows == 32 && plan.tileCols == 16 && plan.threads == 256;
  };
  CHECK(isNarrow(Shape(16, 16, 128, 128, 300)));
  CHECK(isNarrow(Shape(16, 16, 3136, 256, 20)));
  CHECK(isNarrow(Shape(16, 16, 65536, 256)));
  CHECK_FALSE(isNarrow(Shape(16, 16, 3136, 258, 20)));
  CHECK_FALSE(isNarrow(Shape(16, 16, 3137, 256, 20)));
  CHECK_FALSE(isNarrow(Shape(16, 16, 3136, 255, 20)));
  CHECK_FALSE(isNarrow(Shape(16, 16, 128, 128, 300).to(8, 8)));
  CHECK_FALSE(isNarrow(Shape(8, 8, 128, 128, 300)));
}

TEST_CASE("words of a batch are made by periods or column by column, as their sources' banks allow") {
  const auto byPeriods = [](const Shape& shape) { return planTranspose(shape).run.period > 0; };
  CHECK(byPeriods(Shape(1, 1, 12, 20, 300)));
  CHECK(byPeriods(Shape(1, 1, 31, 31, 300)));
  CHECK_FALSE(byPeriods(Shape(1, 1, 17, 65, 300)));  // conflicts of degree 4
  CHECK_FALSE(byPeriods(Shape(1, 1, 15, 64, 300)));  // 8
  CHECK_FALSE(byPeriods(Shape(2, 2, 9, 64, 300)));   // 9
  CHECK(byPeriods(Shape(2, 2, 8, 8, 300)));
  CHECK(byPeriods(Shape(3, 1, 13, 13, 300)));
  CHECK_FALSE(byPeriods(Shape(3, 1, 17, 17, 300)));  // 4
  CHECK(byPeriods(Shape(1, 1, 7, 64, 300)));         // 8, but columns are too short
}

TEST_CASE("the degree of a warp's bank conflict") {
  const auto degree = [](const Shape& shape) { return detail::sourceConflicts(detail::TransposeFacts(shape)); };
  CHECK(degree(Shape(1, 1, 2, 2)) == 1);
  CHECK(degree(Shape(1, 1, 12, 20)) == 1);
  CHECK(degree(Shape(1, 1, 17, 65)) == 4);
  CHECK(degree(Shape(1, 1, 15, 64)) == 8);
  CHECK(degree(Shape(1, 1, 128, 32)) == 32);
  CHECK(degree(Shape(2, 2, 9, 64)) == 9);
  CHECK(degree(Shape(3, 1, 16, 16)) == 2);
  CHECK(degree(Shape(3, 1, 17, 17)) == 4);
}

TEST_CASE("another tuning, another plan") {
  const Shape shape(4, 4, 16384, 16384);
  TransposeTuning tuning;
  tuning.registerBytes = ~std::size_t{0};
  CHECK(planTranspose(shape, tuning).algorithm == Algorithm::registers);
  tuning.smallElements = tuning.smallElementsOf2Or4Bytes = ~std::size_t{0};
  CHECK(planTranspose(shape, tuning).algorithm == Algorithm::smallTile);
  TransposeTuning eager;
  eager.sectorTiles = 0;
  CHECK(planTranspose(Shape(4, 4, 1028, 1024, 3), eager).algorithm == Algorithm::sectorTile);
}

TEST_CASE("a device that nobody has measured has limits by its L2 cache and its multiprocessors") {
  const TransposeTuning measured;
  const TransposeTuning same = detail::modelledTuning(132, 50 << 20);
  CHECK(same.registerBytes == measured.registerBytes);
  CHECK(same.manyOddBytes == measured.manyOddBytes);
  CHECK(same.minBatch == measured.minBatch);
  const TransposeTuning half = detail::modelledTuning(66, 25 << 20);
  CHECK(half.registerBytes == measured.registerBytes / 2);
  CHECK(half.registerBytesOf1Or2Bytes == measured.registerBytesOf1Or2Bytes / 2);
  CHECK(half.manyOddBytes == measured.manyOddBytes / 2);
  CHECK(half.manyByteColumnsBytes == measured.manyByteColumnsBytes / 2);
  CHECK(half.minBatch == measured.minBatch / 2);
  CHECK(half.manyLinesBlocks == measured.manyLinesBlocks / 2);
  CHECK(half.wideBytes == measured.wideBytes);

  // 2 MiB of 2-byte elements: registers where the L2 cache is as large as Hopper's.
  Shape shape(2, 2, 1024, 1024);
  CHECK(planTranspose(shape).algorithm == Algorithm::registers);
  shape.architecture = 75;
  CHECK(planTranspose(shape).algorithm == Algorithm::registers);
  shape.multiprocessors = 40, shape.l2Bytes = 4 << 20;
  CHECK(planTranspose(shape).algorithm == Algorithm::tile);
  shape.l2Bytes = std::size_t{7} << 20;
  CHECK(planTranspose(shape).algorithm == Algorithm::registers);
}

TEST_CASE("only devices that nobody has measured are asked for their L2 cache") {
  const float* const in = nullptr;
  float* const out = nullptr;
  const detail::TransposeProblem<float, float, gpuopt::Identity> problem{in, out, 1, 9, 9, 1, 1, 9, 9, {}};
  const detail::TransposeRequest shape = detail::transposeRequest(problem);
  const int device = gpuopt::currentDevice();
  const bool isMeasured = shape.architecture == 90;
  CHECK(shape.multiprocessors == (isMeasured ? 0 : gpuopt::multiprocessorCount(device)));
  CHECK((shape.l2Bytes == 0) == isMeasured);
}

}  // namespace
}  // namespace gpuopt::test::plan_test
