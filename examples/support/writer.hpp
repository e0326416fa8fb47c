/// \file
/// Writes pictures. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include "readers.hpp"

#include <string>

/// Writes a binary PGM or PPM file (P5, P6) that readPicture reads as `picture`. Throws std::runtime_error
/// with one line that begins with the file's name where that fails.
void writePicture(const std::string& file, const Input& picture);
