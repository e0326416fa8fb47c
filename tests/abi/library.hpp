/// What each of the shared libraries offers to the program that loads them.
// SPDX-License-Identifier: MIT
#pragma once

struct Answer {
  bool hasDevice;
  float sum;            // of the elements
  float last;           // element of the transposed matrix, times the library's own factor
  const void* kernel;   // the library's instance of a kernel that all libraries have
  const void* results;  // its pool of results
  const void* scratch;  // the workspace that it remembers for the default stream
  const void* code;     // a function of gpuopt's without state
};

/// Sums, transposes and scales a rows x cols matrix on the device.
using Run = Answer(const float* elements, unsigned rows, unsigned cols);
