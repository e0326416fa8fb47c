# gpuopt_tune(<target>): adds the program gpuopt-tune, which measures gpuopt on a machine and writes a tuning file:
# docs/tuning.md. It is a CUDA program, for a project with the language CUDA; gpuopt_emulate(<target>) makes it one for the
# emulated device, whose times mean nothing.
#
# target_link_gpuopt_tuning(<target> <file> [DEVICE <name>]): compiles the entries of a tuning file into a target, which
# then needs no file where it runs. A file that is named there all the same precedes them, except for the constants of
# kernels. Those are of one device: of DEVICE if the file has several.

include("${CMAKE_CURRENT_LIST_DIR}/Folders.cmake")

function(gpuopt_tune target)
  gpuopt_folder(folder tune gpuopt_tune.cu)
  gpuopt_glob(sources GLOB "${folder}" *.cu)
  add_executable(${target} ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # sources differ in the constants that they are compiled with
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt)
endfunction()

function(target_link_gpuopt_tuning target file)
  cmake_parse_arguments(PARSE_ARGV 2 option "" DEVICE "")
  if(option_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "target_link_gpuopt_tuning(${target}): DEVICE is the only option, not ${option_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "target_link_gpuopt_tuning(${target}): there is no ${file}")
  endif()
  file(READ "${file}" tuning)
  string(JSON format ERROR_VARIABLE problem GET "${tuning}" gpuopt_tuning)
  if(problem OR NOT format EQUAL 1)
    message(FATAL_ERROR "target_link_gpuopt_tuning(${target}): ${file} is no tuning file of this version of gpuopt")
  endif()
  gpuopt_tuning_entries("${tuning}" entries)
  set(device "")
  if(DEFINED option_DEVICE)
    gpuopt_tuning_text("${option_DEVICE}" name)
    set(device "#define GPUOPT_TUNING_DEVICE ${name}\n")
    string(FIND "${entries}" ", ${name}, " found)
    if(found EQUAL -1)
      message(FATAL_ERROR "target_link_gpuopt_tuning(${target}): ${file} has no entry for DEVICE ${option_DEVICE}")
    endif()
  endif()
  string(SHA256 tag "${device}${entries}")
  string(SUBSTRING "${tag}" 0 16 tag)
  get_target_property(folder ${target} BINARY_DIR)
  set(header "${folder}/${target}.tuning/gpuopt_tuning.hpp")
  file(CONFIGURE OUTPUT "${header}" @ONLY CONTENT "// Written by target_link_gpuopt_tuning() from a tuning file.
#define GPUOPT_TUNING_TAG t@tag@
@device@#define GPUOPT_TUNING_ENTRIES(ENTRY) @entries@
")
  target_compile_definitions(${target} PRIVATE "GPUOPT_TUNING_HEADER=\"${header}\"")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
endfunction()

# A string literal of C++.
function(gpuopt_tuning_text value result)
  string(REPLACE "\\" "\\\\" value "${value}")
  string(REPLACE "\"" "\\\"" value "${value}")
  string(REPLACE "\n" "\\n" value "${value}")
  set(${result} "\"${value}\"" PARENT_SCOPE)
endfunction()

# A line of C++ for each entry, for a macro's body.
function(gpuopt_tuning_entries tuning result)
  set(lines "")
  string(JSON count LENGTH "${tuning}" entries)
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON entry GET "${tuning}" entries ${i})
      set(separator "")
      string(APPEND lines " \\\n  ENTRY(")
      foreach(member name type log2_size choice device capability multiprocessors)
        string(JSON value GET "${entry}" ${member})
        string(JSON kind TYPE "${entry}" ${member})
        if(kind STREQUAL "STRING")
          gpuopt_tuning_text("${value}" value)
        endif()
        string(APPEND lines "${separator}${value}")
        set(separator ", ")
      endforeach()
      string(APPEND lines ");")
    endforeach()
  endif()
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()
