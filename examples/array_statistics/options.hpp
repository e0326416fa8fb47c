/// \file
/// The command line of the demo.
// SPDX-License-Identifier: MIT
#pragma once

#include "readers.hpp"

#include <string>

/// Parses the command line and reads the file that it names, or else the picture that the project ships;
/// `name` gets the file's name. Prints the help and exits with status 0 where that is asked for. Throws
/// std::runtime_error with one line otherwise.
Input readInput(int count, char** words, std::string& name);
