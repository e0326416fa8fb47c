# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -DFROM=<install|subdirectory> -DVARIANT=<emulated|native>
#   -DCMAKE_CXX_COMPILER=<c++> [-DPROFILE=ON] [-DCMAKE_CUDA_COMPILER=<nvcc> -DCMAKE_CUDA_ARCHITECTURES=<list>] -P consumer.cmake
# Builds the consumer outside of gpuopt's tree, and runs it where it can. With PROFILE also one that is profiled.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

set(consumer "${WORK}/a consumer")
file(REMOVE_RECURSE "${WORK}")
file(COPY "${SOURCE}/tests/package/consumer/" DESTINATION "${consumer}")

if(FROM STREQUAL "install")
  configure("${SOURCE}" "${WORK}/install build" ${headersOnly})
  run("${CMAKE_COMMAND}" --install "${WORK}/install build" --prefix "${WORK}/an installation")
  # Nothing of it may depend on where it was built or installed.
  file(REMOVE_RECURSE "${WORK}/install build")
  file(RENAME "${WORK}/an installation" "${WORK}/a moved installation")
  set(gpuopt "-DCMAKE_PREFIX_PATH=${WORK}/a moved installation")
else()
  copyGpuopt("${WORK}/a copy of gpuopt" ${usedParts})
  # Another standard, too, so that both are compiled.
  set(gpuopt "-DGPUOPT_SOURCE=${WORK}/a copy of gpuopt" -DSTANDARD=20)
endif()

set(options -DVARIANT=${VARIANT} "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
if(VARIANT STREQUAL "native")
  list(APPEND options "-DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}"
    "-DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}")
endif()
configure("${consumer}" "${consumer}/build" ${gpuopt} ${options})
run("${CMAKE_COMMAND}" --build "${consumer}/build")

execute_process(COMMAND "${consumer}/build/consumer" OUTPUT_VARIABLE output RESULT_VARIABLE result)
message("${output}")
if(NOT output MATCHES "^${VARIANT}: ")
  message(FATAL_ERROR "the consumer is not ${VARIANT}")
endif()
if(VARIANT STREQUAL "native" AND result EQUAL 77)
  message("package: built, and not run: there is no GPU")
elseif(NOT result EQUAL 0)
  message(FATAL_ERROR "the consumer fails: ${result}")
endif()

if(FROM STREQUAL "install" AND VARIANT STREQUAL "emulated")
  run("${CMAKE_COMMAND}" --build "${consumer}/build" --target own_tune)
  run("${consumer}/build/own_tune" --only upload --most 20000 --seconds 0 --output "${WORK}/a tuning file.json")
  file(READ "${WORK}/a tuning file.json" tuning)
  string(JSON name GET "${tuning}" entries 0 name)
  if(NOT name STREQUAL "gpuopt.upload")
    message(FATAL_ERROR "gpuopt-tune has written: ${tuning}")
  endif()
  run("${CMAKE_COMMAND}" --build "${consumer}/build" --target own_device)
  run("${consumer}/build/own_device" --json)
endif()

if(PROFILE)
  configure("${consumer}" "${consumer}/profiled build" ${gpuopt} ${options} -DPROFILE=ON)
  run("${CMAKE_COMMAND}" --build "${consumer}/profiled build")
  set(report "${WORK}/a report.txt")
  run("${CMAKE_COMMAND}" -E env "GPUOPT_PROFILE=${report}" "${consumer}/profiled build/consumer")
  file(READ "${report}" report)
  if(NOT report MATCHES "reduceTileKernel.*vector\\.cuh:[0-9]+ +global load" OR NOT report MATCHES "doubled\\.cuh:[0-9]+ +global")
    message(FATAL_ERROR "the report does not tell of the consumer's kernels: ${report}")
  endif()
endif()
