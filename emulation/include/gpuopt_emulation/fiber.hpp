/// A stack of its own that runs a function again and again, each time until it suspends itself or returns.
// SPDX-License-Identifier: MIT
#pragma once

#include "settings.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

// Every lane comes here at each barrier and collective: optimised, whatever the program is compiled with.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2")
#endif

namespace gpuopt::emulation::detail {

class Fiber {
 public:
  using Body = void (*)(void*);

  /// Prepares `body(argument)`; every resume() after a return starts it anew, on the same stack.
  Fiber(Body body, void* argument)
      : size_(stackBytes() / ALIGNMENT * ALIGNMENT),
        stack_(new Aligned[size_ / ALIGNMENT]),
        body_(body),
        argument_(argument) {
    std::fill_n(bytes(), CANARY_BYTES, CANARY);
    boost::context::stack_context context;
    context.size = size_;
    context.sp = bytes() + size_;
    inside_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(context.sp, context.size, context),
                                    OwnedElsewhere{},
                                    [this](boost::context::fiber&& caller) { return main(std::move(caller)); });
  }

  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Called by the owner: runs the body until it suspends or returns.
  void resume() {
    startSwitch(&ownerFakeStack_, bytes(), size_);
    inside_ = std::move(inside_).resume();
    finishSwitch(ownerFakeStack_, nullptr, nullptr);
  }

  /// Called by the body: goes back to the owner until the next resume().
  void suspend() {
    startSwitch(&ownFakeStack_, ownerStack_, ownerSize_);
    outside_ = std::move(outside_).resume();
    finishSwitch(ownFakeStack_, &ownerStack_, &ownerSize_);
  }

  const unsigned char* stack() const { return bytes(); }
  std::size_t stackSize() const { return size_; }

  /// Whether the body has used more stack than there is: one of the last bytes is not as it was. Asked after
  /// every step of every lane, so the bytes are compared with their neighbours, all at once.
  bool overflowed() const {
    const unsigned char* last = bytes();
    return last[0] != CANARY || std::memcmp(last, last + 1, CANARY_BYTES - 1) != 0;
  }

 private:
  // All stacks begin alike, so that lanes at the same place of a kernel are as deep in theirs.
  static constexpr std::size_t ALIGNMENT = 256;
  struct alignas(ALIGNMENT) Aligned {
    unsigned char bytes[ALIGNMENT];
  };

  unsigned char* bytes() const { return reinterpret_cast<unsigned char*>(stack_.get()); }

  static constexpr std::size_t CANARY_BYTES = 64;
  static constexpr unsigned char CANARY = 0xC5;

  struct OwnedElsewhere {
    boost::context::stack_context allocate() { return {}; }
    void deallocate(boost::context::stack_context&) noexcept {}
  };

  boost::context::fiber main(boost::context::fiber&& caller) {
    finishSwitch(nullptr, &ownerStack_, &ownerSize_);
    outside_ = std::move(caller);
    for (;;) {
      body_(argument_);
      suspend();
    }
  }

  // AddressSanitizer has to know which stack is in use.
  static void startSwitch([[maybe_unused]] void** fakeStack, [[maybe_unused]] const void* stack,
                          [[maybe_unused]] std::size_t size) {
#if GPUOPT_EMULATION_ASAN
    __sanitizer_start_switch_fiber(fakeStack, stack, size);
#endif
  }
  static void finishSwitch([[maybe_unused]] void* fakeStack, [[maybe_unused]] const void** stack,
                           [[maybe_unused]] std::size_t* size) {
#if GPUOPT_EMULATION_ASAN
    __sanitizer_finish_switch_fiber(fakeStack, stack, size);
#endif
  }

  std::size_t size_;
  std::unique_ptr<Aligned[]> stack_;
  Body body_;
  void* argument_;
  boost::context::fiber inside_, outside_;
  void* ownerFakeStack_ = nullptr;
  void* ownFakeStack_ = nullptr;
  const void* ownerStack_ = nullptr;
  std::size_t ownerSize_ = 0;
};

}  // namespace gpuopt::emulation::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
