# What the scripts of this folder share. All of them are called with -DSOURCE=<gpuopt> and -DWORK=<a folder of
# their own>, and every folder that they use has a blank, brackets and @ in its name.
cmake_minimum_required(VERSION 3.25)

set(headersOnly -DGPUOPT_BUILD_TESTS=OFF -DGPUOPT_BUILD_EXAMPLES=OFF -DGPUOPT_BUILD_BENCHMARKS=OFF)

# run(<command> <argument>...): shows what it prints, and ends the script if it fails.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# configure(<source> <build> <option>...): with what it prints in the variable `configured`.
function(configure source build)
  execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${build}" ${ARGN}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${source} cannot be configured")
  endif()
  if(output MATCHES "Manually-specified variables were not used")
    message(FATAL_ERROR "${source} does not know an option that it is given")
  endif()
  set(configured "${output}" PARENT_SCOPE)
endfunction()

# copyGpuopt(<folder> <part>...): gpuopt's sources there, or the parts of them.
function(copyGpuopt folder)
  foreach(part IN LISTS ARGN)
    file(COPY "${SOURCE}/${part}" DESTINATION "${folder}")
  endforeach()
endfunction()
set(usedParts CMakeLists.txt LICENSE cmake include emulation tune)  # what projects with gpuopt's sources need

# filesOf(<variable> <folder>): a list of "<relative path> <SHA-256>", sorted.
function(filesOf variable folder)
  string(REPLACE "[" "[[]" pattern "${folder}/*")
  file(GLOB_RECURSE files RELATIVE "${folder}" "${pattern}")
  set(list)
  foreach(file IN LISTS files)
    file(SHA256 "${folder}/${file}" hash)
    list(APPEND list "${file} ${hash}")
  endforeach()
  if(NOT list)
    message(FATAL_ERROR "no files in ${folder}")
  endif()
  set(${variable} "${list}" PARENT_SCOPE)
endfunction()

# requireSame(<what> <variable> <variable>): two lists of filesOf().
function(requireSame what expected actual)
  if(NOT "${${expected}}" STREQUAL "${${actual}}")
    set(missing ${${expected}})
    set(surplus ${${actual}})
    list(REMOVE_ITEM missing ${${actual}})
    list(REMOVE_ITEM surplus ${${expected}})
    message(FATAL_ERROR "${what}: other files\n missing: ${missing}\n surplus: ${surplus}")
  endif()
endfunction()
