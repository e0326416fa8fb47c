"""The consumer's project as a test of the Conan package: `conan create .` builds it against the package, and runs it
if it can. Where nvcc is, it builds natively, elsewhere for the emulated device; `-o "*:variant=emulated"` says which.

SPDX-License-Identifier: MIT
"""

import os
import shutil

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout

NO_DEVICE = 77


class ConsumerConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    options = {"variant": ["native", "emulated", None]}
    default_options = {"variant": None}
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self, build_folder="../../../build/conan")  # no files among the sources

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        nvcc = shutil.which("nvcc", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))
        variant = str(self.options.variant or ("native" if nvcc else "emulated"))
        toolchain.cache_variables["VARIANT"] = variant
        if variant == "native" and nvcc:
            toolchain.cache_variables["CMAKE_CUDA_COMPILER"] = nvcc
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if not can_run(self):
            return self.output.warning("built, and not run: another architecture")
        status = self.run(os.path.join(self.cpp.build.bindir, "consumer"), env="conanrun", ignore_errors=True)
        if status == NO_DEVICE:
            self.output.warning("built, and not run: there is no GPU")
        elif status != 0:
            raise ConanException(f"the consumer fails: {status}")
