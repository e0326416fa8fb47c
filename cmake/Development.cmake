# The project's own programs: tests, examples, benchmarks. Not part of what consumers see.
include(cmake/Architectures.cmake)

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
      set(CMAKE_CUDA_ARCHITECTURES ${GPUOPT_DEFAULT_ARCHITECTURE})
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

set(warnings -Wall -Wextra -Wconversion -Wshadow -Werror)
string(REPLACE ";" "," hostWarnings "${warnings}")
add_library(gpuopt_development INTERFACE)
target_compile_options(gpuopt_development INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Og>"  # what runs emulated is short: a quarter less to compile than -O1, as fast to run
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-g1>"  # lines for the emulated device's reports
  "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=${hostWarnings};--extended-lambda>")
target_link_libraries(gpuopt_development INTERFACE gpuopt::gpuopt)

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

# gpuopt_add_program(<target> <emulated|native> <source>...): a program from CUDA sources for one of the devices.
function(gpuopt_add_program target variant)
  add_executable(${target} ${ARGN})
  add_dependencies(${variant} ${target})
  target_link_libraries(${target} PRIVATE gpuopt_development)
  if(variant STREQUAL "emulated")
    gpuopt_emulate(${target})
  endif()
endfunction()

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
