# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -P bare.cmake
# A project without languages takes gpuopt's sources in each way. Nothing is built, tested or installed for it, unless
# it asks to install gpuopt with its own files.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
file(REMOVE_RECURSE "${WORK}")

foreach(from subdirectory excluded FetchContent)
  set(build "${WORK}/${from} build")
  configure("${SOURCE}/tests/package/bare" "${build}" -DFROM=${from} "-DGPUOPT_SOURCE=${SOURCE}")
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${build}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "no work to do")
    message(FATAL_ERROR "something is built: ${output}")
  endif()
  run("${CMAKE_COMMAND}" --install "${build}" --prefix "${WORK}/${from} prefix")
  if(EXISTS "${WORK}/${from} prefix")
    message(FATAL_ERROR "something is installed in ${WORK}/${from} prefix")
  endif()
endforeach()

configure("${SOURCE}/tests/package/bare" "${WORK}/subdirectory build" -DGPUOPT_INSTALL=ON)
run("${CMAKE_COMMAND}" --install "${WORK}/subdirectory build" --prefix "${WORK}/a prefix")
if(NOT EXISTS "${WORK}/a prefix/share/cmake/gpuopt/gpuopt-config.cmake")
  message(FATAL_ERROR "GPUOPT_INSTALL=ON installs no package")
endif()
if(EXISTS "${WORK}/subdirectory build/CPackConfig.cmake")
  message(FATAL_ERROR "gpuopt sets up CPack for a consumer's project")
endif()
