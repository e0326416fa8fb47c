# The project's own programs: tests, examples, benchmarks. Not part of what consumers see.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Native: with nvcc, for a GPU. By default where both are present.
execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/device.sh" OUTPUT_VARIABLE device ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(device MATCHES "native")
  set(gpuPresent ON)
else()
  set(gpuPresent OFF)
endif()
option(GPUOPT_NATIVE "Build for the GPU with nvcc" ${gpuPresent})
if(GPUOPT_NATIVE)
  find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDACXX ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    if(gpuPresent)
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90)  # the others: tests/compilers/matrix.txt
    endif()
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# Emulated: always, except natively on a machine without Boost.Context.
if(Boost_context_FOUND)
  set(GPUOPT_EMULATED ON)
elseif(GPUOPT_NATIVE)
  set(GPUOPT_EMULATED OFF)
  message(STATUS "gpuopt: Boost.Context not found: nothing is built for the emulated device")
else()
  message(FATAL_ERROR "gpuopt: the emulated device needs Boost.Context (Debian: libboost-context-dev)")
endif()

# gpuopt_use_sanitizers(): what a compiler needs for -fsanitize beyond that. AddressSanitizer of clang++ has to be a shared
# library: in the program, its own data would be among the shared memory of kernels. The program has to find it.
function(gpuopt_use_sanitizers)
  message(STATUS "gpuopt: the sanitizers of ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION})")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-Wno-maybe-uninitialized)  # warns of what is initialised where sanitizers are compiled in
    return()
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*address")
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
      OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET library PARENT_PATH folder)
    add_link_options(-shared-libasan "-Wl,-rpath,${folder}")
  endif()
endfunction()

# clang++, unlike g++, means signs by -Wconversion, and by -Wall what a discarded `if constexpr` alone calls and `a() & b()`.
set(warnings -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-sign-conversion -Wno-unneeded-internal-declaration
  -Wno-bitwise-instead-of-logical)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  gpuopt_use_sanitizers()
endif()
string(REPLACE ";" "," hostWarnings "${warnings};-Wno-unknown-pragmas")  # #pragma unroll in what the host runs, too
add_library(gpuopt_development INTERFACE)
target_compile_options(gpuopt_development INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-O0>"
  "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=${hostWarnings};--extended-lambda>")
target_link_libraries(gpuopt_development INTERFACE gpuopt::gpuopt)

# NCCL, for <gpuopt/distributed.cuh>. The emulated device has its own.
set(GPUOPT_NCCL OFF)
if(GPUOPT_NATIVE)
  gpuopt_find_nccl()
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(GPUOPT_NCCL ON)
  else()
    message(STATUS "gpuopt: NCCL not found: nothing of <gpuopt/distributed.cuh> is built natively")
  endif()
endif()

# MPI, for the examples of several GPUs with a process for each.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(STATUS "gpuopt: MPI not found (Debian: libopenmpi-dev): no examples distributed_*_mpi")
endif()

# OpenGL without a window, for one of the examples.
set(GPUOPT_OPENGL OFF)
if(GPUOPT_NATIVE)
  find_package(OpenGL QUIET COMPONENTS OpenGL EGL)
  if(TARGET OpenGL::OpenGL AND TARGET OpenGL::EGL)
    set(GPUOPT_OPENGL ON)
  else()
    message(STATUS "gpuopt: OpenGL with EGL not found (Debian: libopengl-dev, libegl-dev): no example interop_opengl")
  endif()
endif()

set(GPUOPT_VARIANTS)
if(GPUOPT_EMULATED)
  list(APPEND GPUOPT_VARIANTS emulated)
endif()
if(GPUOPT_NATIVE)
  list(APPEND GPUOPT_VARIANTS native)
endif()
foreach(variant IN LISTS GPUOPT_VARIANTS)
  add_custom_target(${variant} COMMENT "all ${variant} programs")
endforeach()

# Profiled: on the emulated device, where its compiler and flags allow that.
gpuopt_profile_lacks("" lacks)
set(GPUOPT_PROFILED)
if(GPUOPT_EMULATED AND NOT lacks)
  set(GPUOPT_PROFILED profiled)
elseif(GPUOPT_EMULATED)
  message(STATUS "gpuopt: the profile is not tested: it ${lacks}")
endif()

# gpuopt_example_variants(<variable> <example>): emulated and native, or those that there are. Examples named interop_* need
# the CUDA toolkit and are native only, those named profile_* are profiled on the emulated device.
function(gpuopt_example_variants variable name)
  set(variants ${GPUOPT_VARIANTS})
  if(name MATCHES "^profile_")
    set(variants ${GPUOPT_PROFILED})
  elseif(name MATCHES "^interop_")
    list(REMOVE_ITEM variants emulated)
  endif()
  if((name MATCHES "^distributed_" AND NOT GPUOPT_NCCL) OR (name STREQUAL "distributed_fft" AND NOT TARGET CUDA::cufft)
      OR (name STREQUAL "interop_opengl" AND NOT GPUOPT_OPENGL))
    list(REMOVE_ITEM variants native)
  endif()
  set(${variable} ${variants} PARENT_SCOPE)
endfunction()

# gpuopt_add_program(<target> <emulated|native|profiled|checked> <source>...): a program from CUDA sources for one of the devices.
function(gpuopt_add_program target variant)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE gpuopt_development)
  if(variant STREQUAL "native")
    add_dependencies(native ${target})
    return()
  endif()
  add_dependencies(emulated ${target})
  if(variant STREQUAL "profiled")
    gpuopt_emulate(${target} PROFILE)
  elseif(variant STREQUAL "checked")
    gpuopt_emulate(${target} CHECK)
  else()
    gpuopt_emulate(${target})
    gpuopt_compile_fast(${target})
    target_link_libraries(${target} PRIVATE gpuopt_scheduler)
  endif()
endfunction()

# What runs emulated is not optimised: that takes a quarter less to compile with g++. clang++, where it is, takes a third of
# the rest. Not under sanitizers: what g++ alone compiles is found there.
find_program(GPUOPT_CLANG clang++ DOC "clang++, which builds what runs emulated")
function(gpuopt_compile_fast target)
  if(NOT GPUOPT_CLANG OR CMAKE_CXX_FLAGS MATCHES "-fsanitize=" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set_property(TARGET ${target} PROPERTY CXX_COMPILER_LAUNCHER
    "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile_by.sh" "${GPUOPT_CLANG}")
  target_compile_options(${target} PRIVATE -std=gnu++17)
endfunction()

# What all emulated programs have optimised, and gpuopt_precompile(<target>): takes cuda_runtime.h of the emulated device,
# which all of its headers include, precompiled: a seventh of the time for a short program. For emulated targets without
# definitions or options of their own.
if(GPUOPT_EMULATED)
  set(source "${PROJECT_SOURCE_DIR}/emulation/scheduler.cpp")
  set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS -O2)
  add_library(gpuopt_scheduler OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(gpuopt_scheduler PRIVATE gpuopt_development)
  gpuopt_emulate(gpuopt_scheduler)

  file(CONFIGURE OUTPUT precompiled.cpp CONTENT "// A source that is compiled with the precompiled header.\n")
  add_library(gpuopt_precompiled OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(gpuopt_precompiled PRIVATE gpuopt_development)
  gpuopt_emulate(gpuopt_precompiled)
  target_precompile_headers(gpuopt_precompiled PRIVATE <cuda_runtime.h>)
  gpuopt_compile_fast(gpuopt_precompiled)
endif()
function(gpuopt_precompile target)
  target_precompile_headers(${target} REUSE_FROM gpuopt_precompiled)
endfunction()

# The profile and the check themselves, once for all programs that have one.
if(GPUOPT_PROFILED)
  foreach(purpose PROFILE CHECK)
    string(TOLOWER "${purpose}" name)
    set(source "${PROJECT_SOURCE_DIR}/emulation/${name}/${name}.cpp")
    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-O2")
    add_library(gpuopt_${name}_once OBJECT EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(gpuopt_${name}_once PRIVATE gpuopt_development)
    gpuopt_emulate(gpuopt_${name}_once)
    target_compile_definitions(gpuopt_${name}_once PRIVATE GPUOPT_EMULATION_${purpose})
    set_property(GLOBAL PROPERTY GPUOPT_${purpose}_ONCE gpuopt_${name}_once)
    list(APPEND objects "GPUOPT_${purpose}_OBJECT=$<TARGET_OBJECTS:gpuopt_${name}_once>")
  endforeach()
  set(GPUOPT_OBJECTS "${objects}")  # the environment of tests that call gpuopt-check
endif()

add_subdirectory(tune)
if(GPUOPT_BUILD_TESTS)
  enable_testing()
  add_subdirectory(tests)
endif()
if(GPUOPT_BUILD_EXAMPLES)
  add_subdirectory(examples)
endif()
if(GPUOPT_BUILD_BENCHMARKS AND GPUOPT_NATIVE)
  add_subdirectory(benchmarks)
endif()
