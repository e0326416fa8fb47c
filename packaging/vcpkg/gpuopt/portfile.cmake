# Installs gpuopt from the repository that this port lies in. In a registry, vcpkg_from_github() sets SOURCE_PATH
# instead: see docs/packaging.md.
# SPDX-License-Identifier: MIT
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")

set(VCPKG_BUILD_TYPE release)  # headers have no debug version

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DGPUOPT_BUILD_TESTS=OFF
    -DGPUOPT_BUILD_EXAMPLES=OFF
    -DGPUOPT_BUILD_BENCHMARKS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/gpuopt)
# The license has its own place here, and vcpkg's users have CMake.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc" "${CURRENT_PACKAGES_DIR}/share/pkgconfig"
  "${CURRENT_PACKAGES_DIR}/bin")

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
