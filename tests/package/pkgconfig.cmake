# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -DCMAKE_CXX_COMPILER=<c++> -DEMULATED=<ON|OFF> -P pkgconfig.cmake
# pkg-config finds an installation that was moved, and its words compile a program for the emulated device.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
find_program(pkgConfig NAMES pkg-config pkgconf)
if(NOT pkgConfig)
  message("SKIPPED: pkg-config not found")
  return()
endif()
file(REMOVE_RECURSE "${WORK}")
configure("${SOURCE}" "${WORK}/a build" ${headersOnly})
run("${CMAKE_COMMAND}" --install "${WORK}/a build" --prefix "${WORK}/a prefix")
file(RENAME "${WORK}/a prefix" "${WORK}/a moved prefix")
set(ENV{PKG_CONFIG_PATH} "${WORK}/a moved prefix/share/pkgconfig")

# ask(<variable> <argument>...): what pkg-config says, as a list.
function(ask variable)
  execute_process(COMMAND "${pkgConfig}" ${ARGN} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(said UNIX_COMMAND "${said}")
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()

ask(version --modversion gpuopt)
file(STRINGS "${WORK}/a build/CMakeCache.txt" expected REGEX "^CMAKE_PROJECT_VERSION:")
if(NOT "CMAKE_PROJECT_VERSION:STATIC=${version}" STREQUAL "${expected}")
  message(FATAL_ERROR "pkg-config says version ${version}, the project ${expected}")
endif()
ask(flags --cflags gpuopt)
string(REGEX REPLACE "^-I" "" include "${flags}")
if(NOT EXISTS "${include}/gpuopt/gpuopt.cuh")
  message(FATAL_ERROR "pkg-config says ${flags}, and there is no gpuopt/gpuopt.cuh")
endif()
if(NOT EMULATED)
  return()
endif()

ask(flags --cflags gpuopt-emulation)
ask(libraries --libs gpuopt-emulation)
set(consumer "${SOURCE}/tests/package/consumer")
ask(script --variable=rewrite_launches gpuopt-emulation)
run(python3 "${script}" -o "${WORK}/doubled.cpp" "${consumer}/doubled.cu")
run("${CMAKE_CXX_COMPILER}" -std=c++17 ${flags} -x c++ "${consumer}/main.cu" "${consumer}/total.cu" "${consumer}/host.cpp"
  "${WORK}/doubled.cpp" -o "${WORK}/consumer" ${libraries})
run("${WORK}/consumer")

# The command of the installation compiles one of its launches, too.
file(WRITE "${WORK}/a program.cu" "#include <gpuopt/launch.cuh>\n__global__ void nothing() {}\n"
  "int main() { nothing<<<1, 32>>>(); return cudaDeviceSynchronize(); }\n")
run("${WORK}/a moved prefix/bin/gpuopt-emulate" -arch sm_90 -ccbin "${CMAKE_CXX_COMPILER}" "${WORK}/a program.cu"
  -o "${WORK}/a program")
run("${WORK}/a program")
run("${WORK}/a moved prefix/bin/gpuopt-check" --help)
