/// \file
/// Error messages, concatenated from texts and numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

/// A text, which it refers to, or a number.
class MessagePart {
 public:
  MessagePart(const char* text) : text_(text) {}
  MessagePart(const std::string& text) : text_(text.c_str()) {}
  template <class N, class = std::enable_if_t<std::is_integral_v<N>>>
  MessagePart(N number) : number_(static_cast<unsigned long long>(number)), isSigned_(std::is_signed_v<N>) {}

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

/// Concatenates the parts. One function for all messages: chains of operator+ took a tenth of a user's compile time.
inline std::string message(std::initializer_list<MessagePart> parts) {
  std::string text;
  for (const MessagePart& part : parts) part.appendTo(text);
  return text;
}

[[noreturn]] inline void throwInvalid(std::initializer_list<MessagePart> parts) {
  throw std::invalid_argument(message(parts));
}

GPUOPT_DETAIL_END
