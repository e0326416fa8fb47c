# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -DFROM=<install|subdirectory> -DOPTIONS=<-D...> -P run.cmake
# Builds the consumer outside of gpuopt's tree, in a folder with blanks in its name, and runs it where it can.
set(consumer "${WORK}/a consumer")
file(REMOVE_RECURSE "${WORK}")
file(COPY "${SOURCE}/tests/package/consumer/" DESTINATION "${consumer}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(cmake "${CMAKE_COMMAND}" -G Ninja)
if(FROM STREQUAL "install")
  # No language is needed to install headers.
  run(${cmake} -S "${SOURCE}" -B "${WORK}/install build" -DGPUOPT_BUILD_TESTS=OFF -DGPUOPT_BUILD_EXAMPLES=OFF
    -DGPUOPT_BUILD_BENCHMARKS=OFF)
  run("${CMAKE_COMMAND}" --install "${WORK}/install build" --prefix "${WORK}/an installation")
  set(gpuopt "-DCMAKE_PREFIX_PATH=${WORK}/an installation")
else()
  set(gpuopt "-DGPUOPT_SOURCE=${SOURCE}")
endif()

run(${cmake} -S "${consumer}" -B "${consumer}/build" ${gpuopt} ${OPTIONS})
run("${CMAKE_COMMAND}" --build "${consumer}/build")
if(NOT OPTIONS MATCHES "NATIVE=ON")
  run("${consumer}/build/consumer")
endif()
