/// \file
/// Reads the numbers of a file: a picture, a column of a table, or raw binary. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

/// The numbers, in the type that the file has them in.
using Values = std::variant<std::vector<std::int8_t>, std::vector<std::uint8_t>, std::vector<std::int16_t>,
                            std::vector<std::uint16_t>, std::vector<std::int32_t>, std::vector<std::uint32_t>,
                            std::vector<std::int64_t>, std::vector<float>, std::vector<double>>;

struct Input {
  std::string description;   ///< for people: "picture, 512 x 384, 8 bit"
  Values values;             ///< never empty
  std::size_t width = 0;     ///< of a picture, in pixels; 0 for other files
  std::size_t channels = 1;  ///< numbers a pixel
  std::size_t maximum = 0;   ///< of a picture's numbers can be
};

/// The file is missing, empty, truncated or malformed. what() is one line that begins with the file's name.
struct InputError : std::runtime_error {
  InputError(const std::string& file, const std::string& problem) : std::runtime_error(file + ": " + problem) {}
};

/// A PGM or PPM picture: P2, P3, P5, P6, up to 16 bits a sample.
Input readPicture(const std::string& file);

/// One column of a table of text, named by its header or by its number from 1. A first line without numbers
/// is a header.
Input readColumn(const std::string& file, const std::string& column, char delimiter);

/// Raw little-endian numbers, from byte `skip` to the end of the file.
Input readRaw(const std::string& file, const std::string& type, std::size_t skip);

/// The names that readRaw takes.
std::vector<std::string> rawTypes();

/// The path of a file that the project ships for its examples, in examples/data.
std::string shippedFile(const std::string& name);
