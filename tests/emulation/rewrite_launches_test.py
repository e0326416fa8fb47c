"""What rewrite_launches.py makes of launches, of extern __shared__ arrays and of included headers.
SPDX-License-Identifier: MIT
"""

import io
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "emulation" / "rewrite_launches.py"
sys.path.insert(0, str(SCRIPT.parent))
import rewrite_launches


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name).resolve()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def rewrite(self, text):
        """The text behind the head of the output, and what is said on stderr."""
        source = self.write("program.cu", text)
        said = io.StringIO()
        with redirect_stderr(said):
            out = rewrite_launches.Project([]).rewrite(source)
        return out, said.getvalue()

    def check(self, text, expected):
        out, said = self.rewrite(text)
        self.assertEqual(out, expected)
        self.assertEqual(said, "")


class Launches(Case):
    def test_names_of_kernels(self):
        for name in ("k", "k<3>", "k<T, (a > b)>", "k<A<B<int>>>", "k<1 << 3>", "n::k<T>", "::n::k", "N<T>::k",
                     "N<T>::template k<3>", "p[i + 1]", "(*p)", "(p)", "get(x)", "get(x)[2]", "a.p", "a->b.p[0]"):
            self.check(f"{{ {name}<<<1, 2>>>(x); }}", f"{{ GPUOPT_EMULATED_KERNEL({name}).at(1, 2)(x); }}")

    def test_blanks_within_the_brackets(self):
        self.check("{ k << <1, f<A<2> >(3) >> >(x); }", "{ GPUOPT_EMULATED_KERNEL(k ).at(1, f<A<2> >(3) )(x); }")
        self.check("{ a << (b < c); }", "{ a << (b < c); }")

    def test_what_comes_before_the_name(self):
        for before in ("if (x) ", "else ", "for (;;) ", "while (f(x)) ", "switch (x) { case 2: ", "x ? ", "f(), ",
                       "label: ", "a < b; ", "do ", "#define RUN(k) ", "#define RUN ", "#if X\n", "// text\n", "return "):
            for name in ("k", "(*p)", "(p)"):
                self.check(f"{before}{name}<<<1, 2>>>(x)", f"{before}GPUOPT_EMULATED_KERNEL({name}).at(1, 2)(x)")

    def test_configurations(self):
        for inside in ("(n + 255) / 256, 256", "f<3>(), g<A<int>>(x)", "n >> 4, 1 << 5", "{1, 2}, {3}", "a[i >> 2], b",
                       "1, 2, sizeof(A<B<int>>), s", "dim3(1, 2), /* >>>( */ 3", "1,\n  2", "a > b ? 1 : 2, 3", "1, N<2>"):
            self.check(f"k<<<{inside}>>>(x)", f"GPUOPT_EMULATED_KERNEL(k).at({inside})(x)")
        self.check("k<<<1, 2>>> /* here */\n(x)", "GPUOPT_EMULATED_KERNEL(k).at(1, 2) /* here */\n(x)")

    def test_several_in_a_line(self):
        self.check("a<<<1, 2>>>(x), b<T><<<3, 4>>>(y);",
                   "GPUOPT_EMULATED_KERNEL(a).at(1, 2)(x), GPUOPT_EMULATED_KERNEL(b<T>).at(3, 4)(y);")

    def test_what_is_left_alone(self):
        for text in ('"k<<<1, 2>>>(x)"', "// k<<<1, 2>>>(x)", "/* k<<<1, 2>>>(x) */", 'R"a(k<<<1, 2>>>(x))")a"',
                     "a << b >> c", "A<B<C<int>>> x;", "A<B<C<int>>>(x);", "x >>= 2", "'<' '\\''", "1'000 << 2",
                     "friend void operator<<<T>(A&, B);", "// a line that goes \\\n on k<<<1, 2>>>(x)"):
            self.check(text, text)

    def test_what_is_no_launch_is_reported(self):
        for text, what in (("k<<<1, 2>>>;", ">>>( behind it"), ("x = <<<1, 2>>>(x)", "kernel before it"),
                           ("#define CONFIGURATION <<<1, 2>>>(x)", "kernel before it"), ("k<<<1, 2)", ">>>( behind it")):
            out, said = self.rewrite("\n" + text)
            self.assertEqual(out, "\n" + text)
            self.assertEqual(said, f"{self.root}/program.cu:2: warning: <<< is no launch: there is no {what}\n")

    def test_untyped_launches(self):
        for cast in ("(void*)", "(const void *)", "(void const*)"):
            self.check(f"cudaLaunchKernel({cast}k<3>, g)", "cudaLaunchKernel(k<3>, g)")
        self.check("cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&k), g)",
                   "cudaLaunchCooperativeKernel((&k), g)")
        for call in ("cudaLaunchKernel(k, g)", "cudaLaunchKernel((k), g)", "cudaFuncSetAttribute((void*)k, a)"):
            self.check(call, call)


class Shared(Case):
    def test_in_a_function(self):
        for before, after in (("extern __shared__ float a[];", "__attribute__((unused))  float (&a)[] = "),
                              ("__shared__ extern float a[];", "__attribute__((unused))  float (&a)[] = "),
                              ("extern volatile __shared__ T a[][N + 1];",
                               "__attribute__((unused)) volatile  T (&a)[][N + 1] = "),
                              ("extern __shared__ __align__(sizeof(T)) A<T> a[];",
                               "__attribute__((unused))  __align__(sizeof(T)) A<T> (&a)[] = ")):
            self.check(f"void f() {{ {before} }}", f"void f() {{ {after}GPUOPT_EMULATED_SHARED; }}")
            self.check(f"namespace n {{ void f() {{ if (x) {{ {before} }} }} }}",
                       f"namespace n {{ void f() {{ if (x) {{ {after}GPUOPT_EMULATED_SHARED; }} }} }}")

    def test_alignments_come_first(self):
        self.check("{ __shared__ alignas(16) int a[3]; }", "{ alignas(16) __shared__  int a[3]; }")
        self.check("{ static __shared__ alignas(T) T a; }", "{ alignas(T) static __shared__  T a; }")
        self.check("{ extern __shared__ alignas(16) char a[]; }",
                   "{ __attribute__((unused))   char (&a)[] = GPUOPT_EMULATED_SHARED; }")

    def test_several_in_a_declaration(self):
        self.check("{ extern __shared__ int a[], b[]; }", "{ __attribute__((unused))  int (&a)[] = GPUOPT_EMULATED_SHARED, "
                   "(&b)[] = GPUOPT_EMULATED_SHARED; }")

    def test_outside_of_functions(self):
        for head in ("", "namespace n {", "inline namespace n::m {", 'extern "C" {', "void f() {} namespace {",
                     "#if A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}\n"):
            self.check(head + " extern __shared__ int a[]; int b;",
                       head + " extern __thread int a[] GPUOPT_EMULATED_SHARED_LABEL; int b;")

    def test_what_is_left_alone(self):
        for text in ("extern __shared__ unsigned char gpuoptDynamicShared[];", "__shared__ int a[3];", "extern int a[];", "{ extern __shared__ int a[; }",
                     'extern "C" void f(); __shared__ int a[2];', "// extern __shared__ int a[];"):
            self.check(text, text)


class TextureReferences(Case):
    def test_they_are_refused(self):
        out, _ = self.rewrite("texture<float, 2, cudaReadModeElementType> picture;\n")
        self.assertEqual(out, 'static_assert(false, "the emulated device has no texture references, which CUDA 12 has '
                              'removed: use cudaCreateTextureObject");\n')

    def test_other_uses_of_the_name(self):
        for text in ("int texture = a < b;", "gl::texture<int> a;", "template <class T> struct texture {};", "texture<int>(3);"):
            self.check(text, text)


class Casts(Case):
    def test_casts_of_kernels(self):
        kernels = "__global__ void __launch_bounds__(256, 2) k(int* a);\ntemplate <class T>\n__global__ void t(T a) {}\n"
        for cast in ("(void*)", "(const void *)"):
            for name, inner in (("k", "k"), ("&k", "&k"), ("t<float>", "t<float>")):
                self.check(f"{kernels}p = {cast}{name};", f"{kernels}p = {cast}GPUOPT_EMULATED_UNTYPED(({inner}));")
        self.check(f"{kernels}p = reinterpret_cast<void*>(k);",
                   f"{kernels}p = reinterpret_cast<void*>(GPUOPT_EMULATED_UNTYPED((k)));")

    def test_other_casts(self):
        for text in ("(void*)other", "(void)k", "(void**)k", "(void*)k(3)", "(void*)n.k", "f(k)", "(int*)k", "(k)"):
            self.check(f"__global__ void k();\n{text};", f"__global__ void k();\n{text};")


class Assembly(Case):
    def test_special_registers_are_read(self):
        for head in ("asm", "asm volatile", "__asm__ __volatile__"):
            self.check(f'{{ {head}("mov.u32 %0, %laneid;" : "=r"(a[0])); }}', "{ GPUOPT_EMULATED_REGISTER(a[0], laneid); }")
        self.check('{ asm("mov.u64 %0, %%globaltimer;" : "=l"(t)); }', "{ GPUOPT_EMULATED_REGISTER(t, globaltimer); }")

    def test_other_instructions_are_refused(self):
        out, said = self.rewrite('__device__ void f() {\n  asm("ret;"\n      :: "r"(a));\n}\n')
        self.assertEqual(out, '__device__ void f() {\n  GPUOPT_EMULATED_PTX("ret;")\n;\n}\n')
        self.assertIn("program.cu:2: warning: inline PTX: the emulated device refuses it", said)
        out, _ = self.rewrite('void f() { asm("add.u32 %0, %1, 1;" : "=r"(a) : "r"(a)); }')
        self.assertEqual(out, 'void f() { GPUOPT_EMULATED_PTX("add.u32 %0, %1, 1;"); }')

    def test_assembly_of_the_host_is_left_alone(self):
        for text in ('void f() { asm volatile("rdtsc" : "=a"(low), "=d"(high)); }', 'void f() { asm("" ::: "memory"); }',
                     "int asm_count;"):
            self.check(text, text)


class Architecture(Case):
    def test_the_device_has_one(self):
        self.check("__device__ int f() {\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700\n  a;\n#endif\n}\n",
                   "__device__ int f() {\n#if 1 && GPUOPT_EMULATED_ARCHITECTURE >= 700\n  a;\n#endif\n}\n")
        self.check("__global__ void f() {\n#ifdef __CUDA_ARCH__\n  a;\n#else\n  b;\n#endif\n}\n",
                   "__global__ void f() {\n#if 1\n  a;\n#else\n  b;\n#endif\n}\n")

    def test_assembly_gives_way_to_another_path(self):
        text = '__device__ void f() {\n#if __CUDA_ARCH__ >= 700\n#else\n  b;\n#endif\n}\n'
        with_assembly = text.replace("#else", 'asm("x.u32;");\n#else')
        out, _ = self.rewrite(with_assembly)
        self.assertIn("#if __CUDA_ARCH__ >= 700", out)
        self.assertIn("#if GPUOPT_EMULATED_ARCHITECTURE >= 700", self.rewrite(text)[0])

    def test_what_is_left_out_is_told(self):
        out, _ = self.rewrite("__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n  a;\n#endif\n  b;\n}\n")
        self.assertEqual(out, '__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n  a;\n#else\n#line 4\n#pragma GCC warning '
                         '"gpuopt: __CUDA_ARCH__ is not defined here, so the code above is left out, in kernels, too"\n'
                         "#endif\n#line 5\n  b;\n}\n")

    def test_the_code_of_the_host_is_told_of(self):
        text = "__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n  a;\n#else\n  b;\n#endif\n}\n"
        out, said = self.rewrite(text)
        self.assertEqual(out, text)
        self.assertIn("program.cu:2: warning: __CUDA_ARCH__ is not defined here: the host's code is taken in kernels", said)

    def test_functions_of_the_device_may_depend_on_it(self):
        self.check("#if __CUDA_ARCH__ >= 700\n__device__ int f() { return 1; }\n#endif\n",
                   "#if GPUOPT_EMULATED_ARCHITECTURE >= 700\n__device__ int f() { return 1; }\n#endif\n")

    def test_its_value_is_one_in_code_of_the_device(self):
        self.check("__global__ void f(int* a) { *a = __CUDA_ARCH__; }",
                   "__global__ void f(int* a) { *a = GPUOPT_EMULATED_ARCHITECTURE; }")
        for text in ("__host__ __device__ int f() { return __CUDA_ARCH__; }", "int a = __CUDA_ARCH__;"):
            self.check(text, text)

    def test_outside_of_functions_it_does_not_exist(self):
        for text in ("#if __CUDA_ARCH__ >= 700\n__host__ __device__ int f() { return 1; }\n#endif\n",
                     "#ifdef __CUDA_ARCH__\n__device__ int f();\n#else\nint f();\n#endif\n",
                     "#if __CUDA_ARCH__ >= 700\nint a;\n#endif\n"):
            self.check(text, text)


class Templates(Case):
    def test_member_templates_are_named(self):
        self.check("template <int N> void f() { Cast<T, U>::cast<N>(a); space::Cast<T>::cast<N, float*>(b); }",
                   "template <int N> void f() { Cast<T, U>::template cast<N>(a); space::Cast<T>::template cast<N, float*>(b); }")

    def test_what_else_has_brackets_is_left_alone(self):
        for text in ("void f() { Cast<T>::template cast<N>(a); }", "void f() { Cast<T>::size < N && M > (a); }",
                     "void f() { if (Cast<T>::size < 3) g(); }", "template <> void Cast<int>::cast<3>(int a) {}",
                     "void f() { using A = Cast<T>::Type<N>; }", "void f() { space::cast<N>(a); }"):
            self.check(text, text)


class Includes(Case):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True)

    def test_a_source_without_launches_is_included(self):
        source = self.write("plain.cu", "int a = 1 << 2;\n")
        self.assertEqual(self.run_script(source).stdout, f'#include <gpuopt_emulation/cuda_source.hpp>\n#include "{source}"\n')

    def test_headers_with_launches_become_part_of_the_source(self):
        kernels = self.write("kernels.cuh", "#pragma once\nk<<<1, 2>>>(x);")
        plain = self.write("plain.h", "int a;\n")
        between = self.write("sub/between.h", '#include "../kernels.cuh"\n#include "../plain.h"\n#include <vector>\n')
        source = self.write("program.cu", 'int a;\n  #include "sub/between.h" // why\nint b;\n')
        out = self.run_script(source).stdout.split("\n")
        guard = out[4].split()[1]
        self.assertEqual(out, [
            "#include <gpuopt_emulation/cuda_source.hpp>", f'#line 1 "{source}"', "int a;", f'  #line 1 "{between}"',
            f"#ifndef {guard}", f"#define {guard}", f'#line 1 "{kernels}"', "",
            "GPUOPT_EMULATED_KERNEL(k).at(1, 2)(x);", "#endif", f'#line 2 "{between}"', f'#include "{plain}"',
            "#include <vector>", "", f'#line 3 "{source}" // why', "int b;", ""])

    def test_folders_of_the_project_are_searched(self):
        self.write("include/p/kernels.cuh", "k<<<1, 2>>>(x);\n")
        source = self.write("program.cu", "#include <p/kernels.cuh>\n")
        self.assertIn(f'#include "{source}"', self.run_script(source).stdout)
        self.assertIn("GPUOPT_EMULATED_KERNEL", self.run_script("-I", self.root / "include", source).stdout)

    def test_headers_that_include_each_other(self):
        self.write("a.h", '#ifndef A\n#define A\n#include "b.h"\nk<<<1, 2>>>(x);\n#endif\n')
        self.write("b.h", '#ifndef B\n#define B\n#include "a.h"\nint b;\n#endif\n')
        out = self.run_script(self.write("program.cu", '#include "b.h"\n')).stdout
        self.assertEqual(out.count("GPUOPT_EMULATED_KERNEL"), 1)
        self.assertEqual(out.count("int b;"), 1)

    def test_the_files_that_the_output_depends_on(self):
        header = self.write("a folder/kernels.cuh", "k<<<1, 2>>>(x);\n")
        source = self.write("program.cu", '#include "a folder/kernels.cuh"\n')
        done = self.run_script("-o", self.root / "out/x.cpp", "--depfile", self.root / "out.d", source)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("GPUOPT_EMULATED_KERNEL(k)", (self.root / "out/x.cpp").read_text())
        names = " ".join(str(name).replace(" ", "\\ ") for name in (source, header))
        self.assertEqual((self.root / "out.d").read_text(), f"{self.root}/out/x.cpp: {names}\n")

    def test_a_source_that_does_not_exist(self):
        done = self.run_script("missing.cu")
        self.assertEqual((done.returncode, done.stderr), (1, "rewrite_launches.py: missing.cu is not a file\n"))


if __name__ == "__main__":
    unittest.main()
