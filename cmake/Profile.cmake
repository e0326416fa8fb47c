# Programs for the emulated device whose every access is seen: PROFILE counts them (docs/profile.md), CHECK looks for races
# (docs/emulation.md).

# gpuopt_instrument_sources(<target> <PROFILE|CHECK> <source>...): compiles the sources of a target so that every access of
# theirs is seen, and adds what sees them.
function(gpuopt_instrument_sources target purpose)
  gpuopt_require_profile(${target} ${purpose})
  get_property(folder GLOBAL PROPERTY GPUOPT_EMULATION_FOLDER)
  string(TOLOWER "${purpose}" name)
  string(APPEND folder "/${name}")
  # The hooks of a sanitizer that is not linked tell of accesses. The other options keep accesses whole and code that the
  # source has once at one place.
  file(STRINGS "${folder}/options" options)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
  # First: what it shares with the other files is taken from it, where nothing is seen. Objects of libraries are first, too:
  # the programs of gpuopt itself, which are compiled alike, have one.
  get_property(once GLOBAL PROPERTY GPUOPT_${purpose}_ONCE)
  if(once)
    target_link_libraries(${target} PRIVATE ${once})
  else()
    set_source_files_properties("${folder}/${name}.cpp" TARGET_DIRECTORY ${target} PROPERTIES
      COMPILE_OPTIONS "-O2" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    get_target_property(sources ${target} SOURCES)
    set_property(TARGET ${target} PROPERTY SOURCES "${folder}/${name}.cpp" ${sources})
  endif()
  target_compile_definitions(${target} PRIVATE GPUOPT_EMULATION_${purpose})
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt)
endfunction()

# Ends the configuration with what a profile or a check lacks.
function(gpuopt_require_profile target purpose)
  gpuopt_profile_lacks(${target} lacks)
  if(lacks)
    message(FATAL_ERROR "gpuopt_emulate(${target} ${purpose}) ${lacks}")
  endif()
endfunction()

# gpuopt_profile_lacks(<target or ""> <result>): why no access of a target, or of any, can be seen; nothing if it
# can.
function(gpuopt_profile_lacks target result)
  set(${result} "" PARENT_SCOPE)
  gpuopt_find_backtrace()
  set(options)
  if(target)
    get_target_property(options ${target} COMPILE_OPTIONS)
  endif()
  if("${CMAKE_CXX_FLAGS} ${options}" MATCHES "-fsanitize=")
    set(${result} "cannot be built with -fsanitize: it uses the hooks of a sanitizer" PARENT_SCOPE)
  elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    set(${result} "needs g++ 12 or later: others take accesses of 16 bytes apart" PARENT_SCOPE)
  elseif(NOT GPUOPT_HAS_BACKTRACE)
    set(${result} "needs libbacktrace, which comes with g++, for the lines of the source" PARENT_SCOPE)
  endif()
endfunction()
