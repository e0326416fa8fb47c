/// \file
/// The writer of pictures.
// SPDX-License-Identifier: MIT
#include "writer.hpp"

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <type_traits>
#include <variant>

namespace {

// Samples of two bytes have the greater first.
template <class T>
void writeSample(std::ofstream& stream, T sample) {
  if (sizeof(T) == 2) stream.put(static_cast<char>(sample / 256));
  stream.put(static_cast<char>(sample % 256));
}

}  // namespace

void writePicture(const std::string& file, const Input& picture) {
  std::ofstream stream(file, std::ios::binary);
  std::visit(
      [&](const auto& samples) {
        const std::size_t height = samples.size() / picture.channels / picture.width;
        stream << (picture.channels == 3 ? "P6" : "P5") << '\n'
               << picture.width << ' ' << height << '\n'
               << picture.maximum << '\n';
        if constexpr (std::is_integral_v<typename std::decay_t<decltype(samples)>::value_type>)
          for (const auto sample : samples) writeSample(stream, sample);
      },
      picture.values);
  if (!stream.flush()) throw std::runtime_error(file + ": cannot be written");
}
