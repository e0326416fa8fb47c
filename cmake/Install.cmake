# Installs the headers and the package. The emulated cuda_runtime.h lies outside include/, so that no native
# compilation ever finds it.
include(CMakePackageConfigHelpers)

# CMake before 3.23, which may find an installation, does not know file sets.
target_include_directories(gpuopt INTERFACE $<INSTALL_INTERFACE:include>)
target_include_directories(gpuopt_emulation INTERFACE $<INSTALL_INTERFACE:share/gpuopt/emulation/include>)

set(packageFolder share/cmake/gpuopt)
install(TARGETS gpuopt EXPORT gpuopt FILE_SET HEADERS DESTINATION include)
install(TARGETS gpuopt_emulation EXPORT gpuopt FILE_SET HEADERS DESTINATION share/gpuopt/emulation/include)
install(EXPORT gpuopt NAMESPACE gpuopt:: FILE gpuopt-targets.cmake DESTINATION ${packageFolder})

configure_package_config_file(cmake/gpuopt-config.cmake.in gpuopt-config.cmake
  INSTALL_DESTINATION ${packageFolder})
# Before 1.0 a minor version may change the interface.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(gpuopt-config-version.cmake COMPATIBILITY ${compatibility} ARCH_INDEPENDENT)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config-version.cmake"
              cmake/Emulation.cmake cmake/Folders.cmake cmake/Launches.cmake cmake/Nccl.cmake cmake/Profile.cmake cmake/Tune.cmake
        DESTINATION ${packageFolder})
install(PROGRAMS emulation/rewrite_launches.py DESTINATION share/gpuopt/emulation)
install(PROGRAMS emulation/gpuopt-emulate emulation/gpuopt-check DESTINATION bin)
install(DIRECTORY emulation/check emulation/profile DESTINATION share/gpuopt/emulation)
install(DIRECTORY tune/ DESTINATION share/gpuopt/tune FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh")
install(FILES LICENSE DESTINATION share/doc/gpuopt)

foreach(name gpuopt gpuopt-emulation)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION share/pkgconfig)
endforeach()

# `cpack` in the build folder: the same files as archives.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ ZIP)
  set(CPACK_PACKAGE_FILE_NAME "${PROJECT_NAME}-${PROJECT_VERSION}")
  set(CPACK_VERBATIM_VARIABLES ON)
  include(CPack)
endif()
