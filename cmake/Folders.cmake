# gpuopt_folder(<variable> <name> <file>): the folder of gpuopt's files that are no headers, such as emulation, which holds
# <file>: in the sources, where it is installed, and where vcpkg puts it.
function(gpuopt_folder variable name file)
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  foreach(folder "${here}/../${name}" "${here}/../../gpuopt/${name}" "${here}/${name}")
    if(EXISTS "${folder}/${file}")
      cmake_path(NORMAL_PATH folder)
      set(${variable} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "gpuopt: ${file} was not found near ${here}: the copy or installation of gpuopt is incomplete")
endfunction()

# gpuopt_glob(<variable> <GLOB|GLOB_RECURSE> <folder> <pattern>...): file(GLOB) in a folder whose path may have brackets.
function(gpuopt_glob variable mode folder)
  string(REPLACE "[" "[[]" folder "${folder}")
  list(TRANSFORM ARGN PREPEND "${folder}/")
  file(${mode} files CONFIGURE_DEPENDS ${ARGN})
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()
