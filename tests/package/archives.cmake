# cmake -DSOURCE=<gpuopt> -DWORK=<folder> -P archives.cmake
# An installation, one staged for a distribution's package, and both archives hold the same files, the headers among
# them are those of the sources, and a project finds what was unpacked.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
file(REMOVE_RECURSE "${WORK}")
set(build "${WORK}/a build")
configure("${SOURCE}" "${build}" ${headersOnly})

run("${CMAKE_COMMAND}" --install "${build}" --prefix "${WORK}/a prefix")
filesOf(installed "${WORK}/a prefix")
foreach(file share/cmake/gpuopt/gpuopt-config.cmake share/doc/gpuopt/LICENSE)
  if(NOT EXISTS "${WORK}/a prefix/${file}")
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()
foreach(folder include emulation/include)
  string(REPLACE "emulation/" "share/gpuopt/emulation/" place "${folder}")
  filesOf(sources "${SOURCE}/${folder}")
  filesOf(headers "${WORK}/a prefix/${place}")
  requireSame("${folder}" sources headers)
endforeach()

run("${CMAKE_COMMAND}" -E env "DESTDIR=${WORK}/a stage" "${CMAKE_COMMAND}" --install "${build}" --prefix /usr)
filesOf(staged "${WORK}/a stage/usr")
requireSame("DESTDIR" installed staged)

cmake_path(REPLACE_FILENAME CMAKE_COMMAND cpack OUTPUT_VARIABLE cpack)
string(REGEX REPLACE "[][]" "" archived "${WORK}/archives")  # in a folder with brackets, CPack's archives are empty
file(REMOVE_RECURSE "${archived}")
run("${cpack}" --config "${build}/CPackConfig.cmake" -B "${archived}")
file(GLOB archives RELATIVE "${archived}" "${archived}/*.*")
if(NOT "${archives}" MATCHES "^gpuopt-([0-9.]+)\\.tar\\.gz;gpuopt-[0-9.]+\\.zip$")
  message(FATAL_ERROR "archives: ${archives}")
endif()
set(version "${CMAKE_MATCH_1}")
set(name "gpuopt-${version}")
foreach(archive IN LISTS archives)
  file(ARCHIVE_EXTRACT INPUT "${archived}/${archive}" DESTINATION "${WORK}/from ${archive}")
  filesOf(unpacked "${WORK}/from ${archive}/${name}")
  requireSame("${archive}" installed unpacked)
endforeach()

configure("${SOURCE}/tests/package/bare" "${WORK}/bare build" -DFROM=installed -DINSTALLED=${version}
  "-DCMAKE_PREFIX_PATH=${WORK}/from ${name}.zip/${name}")
