"""The Conan 2 package of gpuopt: headers, with the CMake package that `cmake --install` makes.

SPDX-License-Identifier: MIT
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class GpuoptConan(ConanFile):
    name = "gpuopt"
    description = "Tuned, memory-bound CUDA primitives"
    license = "MIT"
    topics = ("cuda", "gpu", "reduction", "transpose", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain"
    no_copy_source = True
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "emulation/*", "tune/*"
    test_package_folder = "tests/package/consumer"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "gpuopt", "version.cuh"))
        self.version = ".".join(re.findall(r"#define GPUOPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def layout(self):
        basic_layout(self)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} has been tried on Linux only, not on {self.settings.os}")
        if self.settings.get_safe("compiler.cppstd"):
            check_min_cppstd(self, 17)

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={f"GPUOPT_BUILD_{what}": "OFF" for what in ("TESTS", "EXAMPLES", "BENCHMARKS")})

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()  # one package for all settings

    def package_info(self):
        # find_package() reads the installed package, so its targets are the same whichever way gpuopt comes.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "gpuopt")]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
