# Installs the headers and the package. The emulated cuda_runtime.h lies outside include/, so that no native
# compilation ever finds it.
include(CMakePackageConfigHelpers)

set(packageFolder share/cmake/gpuopt)
install(TARGETS gpuopt EXPORT gpuopt FILE_SET HEADERS DESTINATION include)
install(TARGETS gpuopt_emulation EXPORT gpuopt FILE_SET HEADERS DESTINATION share/gpuopt/emulation/include)
install(EXPORT gpuopt NAMESPACE gpuopt:: FILE gpuopt-targets.cmake DESTINATION ${packageFolder})

configure_package_config_file(cmake/gpuopt-config.cmake.in gpuopt-config.cmake
  INSTALL_DESTINATION ${packageFolder})
write_basic_package_version_file(gpuopt-config-version.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/gpuopt-config-version.cmake"
              cmake/Emulation.cmake
        DESTINATION ${packageFolder})
install(FILES LICENSE DESTINATION share/doc/gpuopt)
