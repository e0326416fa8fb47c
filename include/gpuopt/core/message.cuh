/// \file
/// Error messages, concatenated from texts and numbers, and checks of the arrays that callers pass.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/pointer_check.cuh>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

/// A text, which it refers to, or a number. Numbers above LLONG_MAX print as negative ones: callers pass -5 as a size.
class MessagePart {
 public:
  MessagePart(const char* text) : text_(text) {}
  MessagePart(const std::string& text) : text_(text.c_str()) {}
  template <class N, class = std::enable_if_t<std::is_integral_v<N>>>
  MessagePart(N number) : number_(static_cast<long long>(number)) {}

  void appendTo(std::string& message) const {
    if (text_ != nullptr)
      message += text_;
    else
      message += std::to_string(number_);
  }

 private:
  const char* text_ = nullptr;
  long long number_ = 0;
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

// A size that a caller passes is not negative, and memory can hold such an array. elementBytes is 1 for what has no
// elements in memory, such as iterators.
inline void requireSize(std::size_t size, std::initializer_list<MessagePart> name, const char* function,
                        std::size_t elementBytes = 1) {
  if (size <= PTRDIFF_MAX / elementBytes) return;
  const std::string value = message({function, ": ", message(name), " (", size, ")"});
  if (size > PTRDIFF_MAX) throwInvalid({value, " is negative"});
  throwInvalid({value, " elements of ", elementBytes, " bytes are more than memory can hold"});
}

inline bool alignedTo(const void* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

[[noreturn]] inline void throwNoAccess(std::initializer_list<MessagePart> name, const char* function) {
  throwInvalid({function, ": ", message(name),
                " is in host memory, which the device cannot access, or its memory was freed: use memory of "
                "cudaMalloc, cudaMallocManaged or cudaMallocHost"});
}

// With GPUOPT_CHECK_POINTERS: the device can access the first byte and the last.
inline void requireAccess(const void* data, std::size_t bytes, const char* name, const char* function) {
  if (!deviceCanAccess(data)) throwNoAccess({name}, function);
  if (deviceCanAccess(static_cast<const unsigned char*>(data) + bytes - 1)) return;
  const std::size_t accessible = accessibleBytes(data);
  const MessagePart has = accessible == 0 ? MessagePart("fewer") : MessagePart(accessible);
  throwInvalid({function, ": ", name, " needs ", bytes, " bytes, but its memory has ", has});
}

// An array of n elements without its type, and its name in messages.
struct NamedArray {
  const void* data;
  std::size_t n;
  std::size_t elementBytes;
  std::size_t alignment;
  const char* name;

  std::size_t bytes() const { return n * elementBytes; }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
};

template <class T>
NamedArray namedArray(const T* data, std::size_t n, const char* name) {
  return {data, n, sizeof(T), alignof(T), name};
}

// Not null and aligned to the element type, unless it is empty. It may be in host memory.
inline void requireAddress(const NamedArray& array, const char* function) {
  if (array.n == 0) return;
  requireSize(array.n, {"n"}, function, array.elementBytes);
  if (array.data == nullptr) throwInvalid({function, ": ", array.name, " is null, but n is ", array.n});
  if (!alignedTo(array.data, array.alignment))
    throwInvalid({function, ": ", array.name, " is misaligned: its address modulo ", array.alignment, " is ",
                  array.begin() % array.alignment});
}

// The same of an array for the device.
inline void requireArray(const NamedArray& array, const char* function) {
  requireAddress(array, function);
  if (array.n > 0) requireAccess(array.data, array.bytes(), array.name, function);
}

// The same of an array for the host. With GPUOPT_CHECK_POINTERS: the host can access the first byte.
inline void requireHostArray(const NamedArray& array, const char* function) {
  requireAddress(array, function);
  if (array.n > 0 && !hostCanAccess(array.data))
    throwInvalid({function, ": ", array.name, " is in memory that the host cannot access"});
}

// The arrays, neither of them null, do not overlap.
inline void requireDisjoint(const NamedArray& a, const NamedArray& b, const char* function) {
  if (a.begin() > b.begin()) return requireDisjoint(b, a, function);
  if (b.begin() - a.begin() < a.bytes())
    throwInvalid({function, ": ", a.name, " and ", b.name, " overlap: ", b.name, " begins at byte ",
                  b.begin() - a.begin(), " of the ", a.bytes(), " of ", a.name});
}

GPUOPT_DETAIL_END
