# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -DCMAKE_CXX_COMPILER=<c++> -P mistakes.cmake
# What CMake says to a project that forgets something.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
file(REMOVE_RECURSE "${WORK}")
configure("${SOURCE}" "${WORK}/install build" ${headersOnly})
run("${CMAKE_COMMAND}" --install "${WORK}/install build" --prefix "${WORK}/an installation")
set(installed "-DCMAKE_PREFIX_PATH=${WORK}/an installation")
set(sources "-DGPUOPT_SOURCE=${SOURCE}")

# expect(<mistake> <from> <message>): the configuration fails with the message, or succeeds if there is none.
function(expect mistake from message)
  set(build "${WORK}/${mistake} build")
  file(REMOVE_RECURSE "${build}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}/tests/package/mistakes" -B "${build}"
    "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" -DMISTAKE=${mistake} "${from}"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake breaks lines
  string(FIND "${output}" "${message}" at)
  if(message STREQUAL "" AND NOT result EQUAL 0)
    message(FATAL_ERROR "${mistake}, ${from}: fails: ${output}")
  elseif(NOT message STREQUAL "" AND (result EQUAL 0 OR at EQUAL -1))
    message(FATAL_ERROR "${mistake}, ${from}: says ${output} instead of ${message}")
  endif()
endfunction()

expect(emulate "${installed}"
  # WRITTEN build: `gpuopt_emulate(program)` after `find_package(gpuopt)`
  "gpuopt_emulate(program) needs the component emulation: find_package(gpuopt COMPONENTS emulation)")
expect(component "${installed}"
  # WRITTEN build: find_package(gpuopt COMPONENTS emulatoin)
  "gpuopt has no component emulatoin; its only component is emulation")
expect(nccl "${installed}"
  # WRITTEN build: `gpuopt_use_nccl(program)` without NCCL
  "gpuopt_use_nccl: NCCL was not found (Debian: libnccl-dev); NCCL_HOME may name its folder")
expect(python "${installed}"
  # WRITTEN build: `gpuopt_emulate(program)` without Python
  "gpuopt_emulate(program) needs Python 3, which rewrites the launches in launch.cu")
expect(folder "${installed}"
  # WRITTEN build: `gpuopt_emulate(program)` in another folder
  "gpuopt_emulate(program) has to be called in the folder of program: launch.cu has launches")
expect(expression "${installed}"
  # WRITTEN build: `gpuopt_emulate(program)` with a source such as `$<1:main.cu>`
  # DO: add the source with `if()`
  "gpuopt_emulate(program) cannot see through the generator expression $<1:launch.cu>: add the source with if() instead")
expect(above "${installed}" "")
foreach(from IN ITEMS "${installed}" "${sources}")
  expect(cuda "${from}"
    # WRITTEN build: `add_executable(program main.cu)` in a project of C++ alone
    "gpuopt: nothing compiles main.cu of program: add CUDA to the languages of the project, or call gpuopt_emulate(program)")
  expect(none "${from}" "")
  expect(profile_sanitizer "${from}"
    # WRITTEN build: `gpuopt_emulate(program PROFILE)` in a build with `-fsanitize=address`
    "gpuopt_emulate(program PROFILE) cannot be built with -fsanitize: it uses the hooks of a sanitizer")
  expect(profile_option "${from}" "gpuopt_emulate(program): PROFILE or CHECK is the only option, not PROFILES")
  expect(language "${from}" "")
endforeach()
