# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -P clone.cmake
# The README's first command in a copy of the sources whose path has all that has gone wrong: blanks, brackets and @, and
# at the end gpuopt, as `git clone` names it. The configuration of its second command, too.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
file(REMOVE_RECURSE "${WORK}")
set(clone "${WORK}/gpuopt")
copyGpuopt("${clone}" ${usedParts} CMakePresets.json Makefile benchmarks examples scripts tests)

execute_process(COMMAND make demo WORKING_DIRECTORY "${clone}" OUTPUT_VARIABLE said COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
message("${said}")
if(NOT said MATCHES "All results agree")
  message(FATAL_ERROR "make demo does not show results")
endif()
file(REMOVE_RECURSE "${clone}/build")

execute_process(COMMAND "${CMAKE_COMMAND}" --preset default WORKING_DIRECTORY "${clone}" COMMAND_ERROR_IS_FATAL ANY)
cmake_path(REPLACE_FILENAME CMAKE_COMMAND ctest OUTPUT_VARIABLE ctest)
execute_process(COMMAND "${ctest}" --show-only WORKING_DIRECTORY "${clone}/build/default" OUTPUT_VARIABLE tests COMMAND_ERROR_IS_FATAL ANY)
foreach(test host block examples/array_statistics)
  if(NOT tests MATCHES " ${test}\\.")
    message(FATAL_ERROR "make test would not run ${test}: ${tests}")
  endif()
endforeach()
