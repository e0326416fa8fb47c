#!/bin/sh
# compile_by.sh <clang++> <CMake's compiler> <argument>...: a launcher for targets that clang++ builds in a project of g++.
# SPDX-License-Identifier: MIT
compiler=$1
shift 2
# clang++ would take an old precompiled header for the source of the new one.
last=
for argument; do
  case "$last $argument" in "-o "*.gch) rm -f "$argument" ;; esac
  last=$argument
done
exec "$compiler" "$@"
