/// \file
/// Messages of errors, put together from texts and numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// One part of a message. It refers to its text.
class Part {
 public:
  Part(const char* text) : text_(text) {}
  Part(const std::string& text) : text_(text.c_str()) {}
  template <class N, class = std::enable_if_t<std::is_integral_v<N>>>
  Part(N number) : number_(static_cast<unsigned long long>(number)), isSigned_(std::is_signed_v<N>) {}

  void appendTo(std::string& message) const {
    if (text_ != nullptr)
      message += text_;
    else if (isSigned_)
      message += std::to_string(static_cast<long long>(number_));
    else
      message += std::to_string(number_);
  }

 private:
  const char* text_ = nullptr;
  unsigned long long number_ = 0;
  bool isSigned_ = false;
};

/// The parts one after another. Compiled once, where every chain of operator+ is code of its own: those were
/// a tenth of what a user's file took to compile.
inline std::string message(std::initializer_list<Part> parts) {
  std::string text;
  for (const Part& part : parts) part.appendTo(text);
  return text;
}

[[noreturn]] inline void throwInvalid(std::initializer_list<Part> parts) {
  throw std::invalid_argument(message(parts));
}

}  // namespace detail
GPUOPT_NAMESPACE_END
