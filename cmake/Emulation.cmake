# gpuopt_emulate(<target>): builds the target for the emulated device, with the host compiler and without nvcc.
#
# Each source x.cu is compiled as C++ through a generated file that includes it, so the same x.cu can serve a
# native target too. Call it after the target's sources are complete.
#
# Where the compiler comes with libbacktrace, reports have the names of kernels and, with -g, the lines of the target's
# own code.
function(gpuopt_emulate target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(binary ${target} BINARY_DIR)
  set(emulated)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cu$")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE relative)
      string(REPLACE "../" "" relative "${relative}")
      set(wrapper "${binary}/${target}.emulated/${relative}.cpp")
      file(CONFIGURE OUTPUT "${wrapper}" CONTENT "#include \"${source}\"\n" @ONLY)
      list(APPEND emulated "${wrapper}")
    else()
      list(APPEND emulated "${source}")
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES "${emulated}")
  target_link_libraries(${target} PRIVATE gpuopt::emulation)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_LIBRARIES backtrace)
  check_cxx_source_compiles("#include <backtrace.h>
    int main() { return backtrace_create_state(nullptr, 1, nullptr, nullptr) == nullptr; }" GPUOPT_HAS_BACKTRACE)
  if(GPUOPT_HAS_BACKTRACE)
    target_compile_definitions(${target} PRIVATE GPUOPT_EMULATION_BACKTRACE)
    target_link_libraries(${target} PRIVATE backtrace)
  endif()
endfunction()
