include("${CMAKE_CURRENT_LIST_DIR}/Folders.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Launches.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/Profile.cmake")

# A function, because find_package() would give its variables to the project.
function(gpuopt_find_emulation_folder)
  gpuopt_folder(folder emulation rewrite_launches.py)
  set_property(GLOBAL PROPERTY GPUOPT_EMULATION_FOLDER "${folder}")
endfunction()
gpuopt_find_emulation_folder()

# gpuopt_emulate(<target> [PROFILE|CHECK]): builds the target for the emulated device, with the host compiler and without nvcc.
#
# Each source x.cu is compiled as C++ through a generated file that includes it, so the same x.cu can serve a
# native target too. Launches with <<<...>>> are rewritten: Launches.cmake. Call it after the target's sources are
# complete.
#
# With PROFILE, what its kernels do to memory is counted, with CHECK it is checked for races: Profile.cmake.
#
# Where the compiler comes with libbacktrace, reports have the names of kernels and, with -g, the lines of the target's
# own code.
function(gpuopt_emulate target)
  cmake_parse_arguments(PARSE_ARGV 1 option "PROFILE;CHECK" "" "")
  if(option_UNPARSED_ARGUMENTS OR (option_PROFILE AND option_CHECK))
    message(FATAL_ERROR "gpuopt_emulate(${target}): PROFILE or CHECK is the only option, not ${ARGN}")
  endif()
  get_property(needs GLOBAL PROPERTY GPUOPT_EMULATION_NEEDS)
  if(needs)
    message(FATAL_ERROR "gpuopt_emulate(${target}) needs ${needs}")
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(binary ${target} BINARY_DIR)
  set(emulated)
  set(wrappers)
  foreach(source IN LISTS sources)
    if(source MATCHES "[<>]" AND source MATCHES "\\.cu(>|$)")
      message(FATAL_ERROR "gpuopt_emulate(${target}) cannot see through the generator expression ${source}: "
        "add the source with if() instead")
    elseif(source MATCHES "\\.cu$")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE relative)
      string(REPLACE "../" "__/" relative "${relative}")
      set(wrapper "${binary}/${target}.emulated/${relative}.cpp")
      gpuopt_emulated_source(${target} "${source}" "${wrapper}")
      list(APPEND emulated "${wrapper}")
      list(APPEND wrappers "${wrapper}")
    else()
      list(APPEND emulated "${source}")
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES "${emulated}")
  target_link_libraries(${target} PRIVATE gpuopt::emulation)
  gpuopt_find_backtrace()
  if(GPUOPT_HAS_BACKTRACE)
    target_compile_definitions(${target} PRIVATE GPUOPT_EMULATION_BACKTRACE)
    target_link_libraries(${target} PRIVATE backtrace)
    if(EXISTS "${CMAKE_BINARY_DIR}/gpuopt_backtrace")
      target_include_directories(${target} SYSTEM PRIVATE "${CMAKE_BINARY_DIR}/gpuopt_backtrace")
    endif()
  endif()
  if(option_PROFILE)
    gpuopt_instrument_sources(${target} PROFILE ${wrappers})
  elseif(option_CHECK)
    gpuopt_instrument_sources(${target} CHECK ${wrappers})
  endif()
endfunction()

# Finds out whether the compiler comes with libbacktrace. clang++ links g++'s library, but does not look for headers in the
# folder of the one that it needs, since the others there are for g++ alone: a copy has a folder of its own.
function(gpuopt_find_backtrace)
  include(CheckCXXSourceCompiles)
  set(copy "${CMAKE_BINARY_DIR}/gpuopt_backtrace")
  if(NOT DEFINED GPUOPT_HAS_BACKTRACE)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libbacktrace.a OUTPUT_VARIABLE library
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET library PARENT_PATH folder)
    if(EXISTS "${folder}/include/backtrace.h")
      file(COPY "${folder}/include/backtrace.h" DESTINATION "${copy}")
    endif()
  endif()
  set(CMAKE_REQUIRED_QUIET ON)
  set(CMAKE_REQUIRED_INCLUDES "${copy}")
  set(CMAKE_REQUIRED_LIBRARIES backtrace)
  check_cxx_source_compiles("#include <backtrace.h>
    int main() { return backtrace_create_state(nullptr, 1, nullptr, nullptr) == nullptr; }" GPUOPT_HAS_BACKTRACE)
endfunction()

# gpuopt_emulation_needs(<what>): what gpuopt_emulate() lacks, for its message; nothing from then on if it is empty.
function(gpuopt_emulation_needs what)
  get_property(isKnown GLOBAL PROPERTY GPUOPT_EMULATION_NEEDS SET)
  if(NOT isKnown OR what STREQUAL "")
    set_property(GLOBAL PROPERTY GPUOPT_EMULATION_NEEDS "${what}")
  endif()
endfunction()

# At the end of a project without CUDA: CMake would leave out the .cu files of its targets, or not know how to link them.
function(gpuopt_require_cuda_for_cu folder)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CUDA" IN_LIST languages)
    return()
  endif()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT sources MATCHES "\\.cu(;|$)" OR NOT libraries MATCHES "(^|;)gpuopt::gpuopt(;|$)")
      continue()
    endif()
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    list(GET sources 0 source)
    get_source_file_property(language "${source}" TARGET_DIRECTORY ${target} LANGUAGE)
    if(NOT language)
      message(SEND_ERROR "gpuopt: nothing compiles ${source} of ${target}: add CUDA to the languages of the project, "
        "or call gpuopt_emulate(${target})")
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS folders)
    gpuopt_require_cuda_for_cu("${subfolder}")
  endforeach()
endfunction()

get_property(isChecked GLOBAL PROPERTY GPUOPT_CHECKS_LANGUAGES)
if(NOT isChecked)
  set_property(GLOBAL PROPERTY GPUOPT_CHECKS_LANGUAGES ON)
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL gpuopt_require_cuda_for_cu "${CMAKE_SOURCE_DIR}")
endif()
