/// \file
/// An OpenGL context without a window or a display, by EGL, on the GPU that CUDA uses. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

/// There can be no such context on this machine; what() is one line that says why.
struct NoGraphics : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// OpenGL 3.3, current in the thread that makes it. It draws to textures, since it has no surface of its own.
class HeadlessContext {
 public:
  /// On the device of this number of CUDA's. Throws NoGraphics.
  explicit HeadlessContext(int cudaDevice);
  HeadlessContext(const HeadlessContext&) = delete;
  HeadlessContext& operator=(const HeadlessContext&) = delete;
  ~HeadlessContext();

  /// What draws: "NVIDIA H200, OpenGL 3.3.0 ...".
  std::string description() const;

 private:
  void* display_ = nullptr;
  void* context_ = nullptr;
};
