# gpuopt_emulated_source(<target> <source> <wrapper>): makes the C++ source <wrapper> of the CUDA source <source>.
#
# Where the source has launches, kernel<<<grid, block>>>(arguments), or extern __shared__ arrays, a script rewrites it
# when the target is built, with the headers of the project that it includes. A project's headers can have launches, too,
# so the script looks at all of its sources; of gpuopt's own, at those that have launches themselves.
function(gpuopt_emulated_source target source wrapper)
  set(syntax "<<<|extern.*__shared__|cudaLaunch(Cooperative)?Kernel *[(]")
  file(STRINGS "${source}" launches REGEX "${syntax}" LIMIT_COUNT 1)
  find_program(GPUOPT_PYTHON NAMES python3 python DOC "Python 3, which rewrites kernel<<<...>>>(...)")
  get_target_property(folder ${target} SOURCE_DIR)
  set(isHere OFF)  # a command belongs to the folder of the target
  if(folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    set(isHere ON)
  endif()
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH repository)
  if(launches STREQUAL "" AND (PROJECT_SOURCE_DIR STREQUAL repository OR NOT GPUOPT_PYTHON OR NOT isHere))
    file(CONFIGURE OUTPUT "${wrapper}" CONTENT "#include \"@source@\"\n" @ONLY)  # a path may have an @, too
    return()
  endif()
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
  if(NOT GPUOPT_PYTHON)
    message(FATAL_ERROR "gpuopt_emulate(${target}) needs Python 3, which rewrites the launches in ${name}")
  endif()
  if(NOT isHere)
    message(FATAL_ERROR "gpuopt_emulate(${target}) has to be called in the folder of ${target}: ${name} has launches")
  endif()
  get_property(script GLOBAL PROPERTY GPUOPT_EMULATION_FOLDER)
  string(APPEND script "/rewrite_launches.py")
  set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  add_custom_command(OUTPUT "${wrapper}"
    COMMAND "${GPUOPT_PYTHON}" "${script}" "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>" -o "${wrapper}"
      --depfile "${wrapper}.d" "${source}"
    DEPENDS "${source}" "${script}" DEPFILE "${wrapper}.d" COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Making C++ of ${source} for the emulated device")
endfunction()
