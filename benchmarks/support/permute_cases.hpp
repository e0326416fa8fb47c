/// \file
/// The cases of benchmarks/permute_cases.txt, whose first lines explain the columns. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include "tensor_axes.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A permutation of tensors of one or several element sizes.
struct PermuteCase {
  std::string set;
  std::string name;
  std::vector<std::ptrdiff_t> elementBytes;
  TensorAxes axes;
};

namespace detail {

inline std::vector<std::string> splitFields(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text >> std::ws, field, ';');) fields.push_back(field);
  return fields;
}

inline std::vector<std::ptrdiff_t> numbersOf(const std::string& field) {
  std::vector<std::ptrdiff_t> numbers;
  std::istringstream text(field);
  for (std::ptrdiff_t number = 0; text >> number;) numbers.push_back(number);
  if (numbers.empty() || !text.eof()) throw std::runtime_error("no numbers: " + field);
  return numbers;
}

inline std::vector<std::ptrdiff_t> denseStrides(const std::vector<std::ptrdiff_t>& extents) {
  std::vector<std::ptrdiff_t> strides(extents.size());
  std::ptrdiff_t stride = 1;
  for (std::size_t k = extents.size(); k-- > 0; stride *= extents[k]) strides[k] = stride;
  return strides;
}

// One case for each permutation of the axes of a dense input that has the extents of `first`.
inline void addPermutations(const PermuteCase& first, std::vector<PermuteCase>& cases) {
  const std::vector<std::ptrdiff_t> extents = first.axes.extents, strides = denseStrides(extents);
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    PermuteCase each{first.set, first.name + " ", first.elementBytes, {}};
    for (const std::size_t axis : order) {
      each.name += std::to_string(axis);
      each.axes.extents.push_back(extents[axis]);
      each.axes.inStrides.push_back(strides[axis]);
    }
    each.axes.outStrides = denseStrides(each.axes.extents);
    cases.push_back(std::move(each));
  } while (std::next_permutation(order.begin(), order.end()));
}

inline void addCases(const std::string& line, std::vector<PermuteCase>& cases) {
  const std::vector<std::string> fields = splitFields(line);
  if (fields.size() != 6) throw std::runtime_error("6 fields are needed, separated by semicolons");
  PermuteCase one{fields[0], fields[1], numbersOf(fields[2]), {}};
  TensorAxes& axes = one.axes;
  axes.extents = numbersOf(fields[3]);
  if (fields[4] == "permutations" && fields[5] == "dense") return addPermutations(one, cases);
  axes.inStrides = numbersOf(fields[4]);
  axes.outStrides = fields[5] == "dense" ? denseStrides(axes.extents) : numbersOf(fields[5]);
  if (axes.inStrides.size() != axes.extents.size() || axes.outStrides.size() != axes.extents.size())
    throw std::runtime_error("each extent needs a stride in both tensors");
  cases.push_back(std::move(one));
}

}  // namespace detail

/// All cases of a file, in its order.
inline std::vector<PermuteCase> readPermuteCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<PermuteCase> cases;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      detail::addCases(line, cases);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
  return cases;
}

}  // namespace bench
