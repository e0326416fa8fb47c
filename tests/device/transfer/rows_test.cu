/// \file
/// Transfers of matrices with gaps between their rows, on either side, from and to all kinds of memory.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/transfer.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace transfer_test::rows {

using gpuopt::MatrixView;
using gpuopt::test::messageOf;
using gpuopt::test::Stream;

constexpr short GAP = -1;

inline short valueAt(std::size_t row, std::size_t col) {
  return static_cast<short>((row * 2654435761u + col * 40503u) >> 8 & 0x7FFF);
}

// A matrix within memory whose gaps hold GAP.
struct Shape {
  std::size_t rows, cols, ld;

  std::size_t size() const { return rows * ld; }

  std::vector<short> values() const {
    std::vector<short> all(size(), GAP);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) all[r * ld + c] = valueAt(r, c);
    return all;
  }

  // Of elements and gaps, where the gaps have to be GAP.
  std::size_t wrong(const short* data) const {
    std::size_t count = 0;
    const std::vector<short> expected = values();
    for (std::size_t i = 0; i < size(); ++i) count += data[i] != expected[i];
    return count;
  }

  template <class T>
  MatrixView<T> view(T* data) const {
    return {data, rows, cols, ld};
  }
};

// Up and down again, by calls that wait and by those that do not; `host` is memory for onHost.
inline void checkBothWays(const Shape& onHost, const Shape& onDevice, short* host, bool isAsync) {
  const Stream stream;
  CAPTURE(onHost.rows, onHost.cols, onHost.ld, onDevice.ld, isAsync);
  const std::vector<short> values = onHost.values();
  std::copy(values.begin(), values.end(), host);
  gpuopt::DeviceVector<short> device(std::vector<short>(onDevice.size(), GAP), stream);
  if (isAsync)
    gpuopt::uploadAsync(onHost.view(host), onDevice.view(device.data()), stream).wait();
  else
    gpuopt::upload(onHost.view(host), onDevice.view(device.data()), stream);
  std::fill(host, host + onHost.size(), GAP);
  const std::vector<short> there = device.toHost();
  REQUIRE(onDevice.wrong(there.data()) == 0);
  if (isAsync)
    gpuopt::downloadAsync(onDevice.view(device.data()), onHost.view(host), stream).wait();
  else
    gpuopt::download(onDevice.view(device.data()), onHost.view(host), stream);
  REQUIRE(onHost.wrong(host) == 0);
}

}  // namespace transfer_test::rows

using namespace transfer_test::rows;

TEST_CASE("Matrices are transferred with gaps on either side") {
  const Shape shapes[][2] = {{{1, 1, 1}, {1, 1, 1}},
                             {{3, 5, 5}, {3, 5, 5}},
                             {{7, 31, 40}, {7, 31, 31}},
                             {{7, 31, 31}, {7, 31, 64}},
                             {{300, 517, 600}, {300, 517, 520}},
                             {{2, 200000, 200001}, {2, 200000, 200064}},
                             {{100000, 3, 4}, {100000, 3, 3}}};
  for (const auto& [onHost, onDevice] : shapes)
    for (const bool isAsync : {false, true}) {
      std::vector<short> pageable(onHost.size());
      checkBothWays(onHost, onDevice, pageable.data(), isAsync);
      gpuopt::PinnedVector<short> pinned(onHost.size());
      checkBothWays(onHost, onDevice, pinned.data(), isAsync);
    }
}

TEST_CASE("A batch of matrices that follow each other is one matrix") {
  const Shape shape{6, 5, 8};
  const std::vector<short> values = shape.values();
  gpuopt::DeviceVector<short> device(std::vector<short>(48, GAP));
  gpuopt::upload(MatrixView<const short>{values.data(), 2, 5, 8, 3}, MatrixView<short>{device.data(), 2, 5, 8, 3});
  const std::vector<short> there = device.toHost();
  REQUIRE(shape.wrong(there.data()) == 0);
}

TEST_CASE("A matrix in memory that is registered in part is transferred") {
  const Shape shape{64, 1000, 1024};
  std::vector<short> memory(shape.size() + 4096);
  const auto page = (reinterpret_cast<std::uintptr_t>(memory.data()) + 4095) / 4096 * 4096;
  auto* const host = reinterpret_cast<short*>(page);
  const auto registered = gpuopt::registerHost(host + 8192, 8192);
  checkBothWays(shape, {64, 1000, 1000}, host, false);
}

TEST_CASE("Transfers of matrices say what is wrong") {
  std::vector<short> values(100);
  short* const host = values.data();
  gpuopt::DeviceVector<short> vector(100);
  short* const device = vector.data();
  const auto message = [](const MatrixView<short>& from, const MatrixView<short>& to) {
    return messageOf<std::invalid_argument>([&] { gpuopt::upload(from, to); });
  };
  // WRITTEN transfer: upload(MatrixView{host, 4, 3}, MatrixView{device, 3, 4})
  REQUIRE(message({host, 4, 3}, {device, 3, 4}) == "gpuopt::upload: host is 4 x 3, but device is 3 x 4");
  REQUIRE(message({host, 4, 3, 2}, {device, 4, 3}) == "gpuopt::upload: host.ld (2) is less than host.cols (3)");
  REQUIRE(message({nullptr, 4, 3}, {device, 4, 3}) == "gpuopt::upload: host is null, but its shape is 4 x 3");
  REQUIRE(message({host, 4, 3}, {nullptr, 4, 3}) == "gpuopt::upload: device is null, but its shape is 4 x 3");
  REQUIRE(message({device, 4, 3}, {host, 4, 3}).find("gpuopt::upload: ") == 0);
  REQUIRE(message({host, 2, 3, 3, 2, 7}, {device, 2, 3, 3, 2}) ==
          "gpuopt::upload: matrices of host do not follow each other: 2 matrices of 2 x 3, ld 3, batchStride 7");
  auto* const odd = reinterpret_cast<short*>(reinterpret_cast<char*>(host) + 1);
  REQUIRE(message({odd, 4, 3}, {device, 4, 3}) == "gpuopt::upload: host is misaligned: its address modulo 2 is 1");
  gpuopt::upload(MatrixView<short>{nullptr, 0, 3}, MatrixView<short>{nullptr, 0, 3});
  gpuopt::uploadAsync(MatrixView<short>{nullptr, 3, 0}, MatrixView<short>{nullptr, 3, 0}).wait();
}
