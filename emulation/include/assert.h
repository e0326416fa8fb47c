/// Stands in front of the C library's header: in a kernel, a failed assertion ends the launch with cudaErrorAssert.
// SPDX-License-Identifier: MIT

// No guard: as the C library's, it can be included again, with and without NDEBUG.
#pragma GCC system_header  // #include_next is no standard C++
#include_next <assert.h>

#if !defined(NDEBUG) && defined(GPUOPT_EMULATION)
namespace gpuopt::emulation::detail {
[[noreturn]] void failAssertion(const char* condition, const char* file, int line, const char* function);
}
#undef assert
#define assert(...)               \
  (static_cast<bool>(__VA_ARGS__) \
       ? static_cast<void>(0)     \
       : ::gpuopt::emulation::detail::failAssertion(#__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
