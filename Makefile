# Thin over the presets of CMakePresets.json: `cmake --workflow --preset demo` does what `make demo` does, once the
# packages are there.
.DEFAULT_GOAL := help
RACES_SAMPLE = tests/block/histogram tests/block/reduce tests/block/transpose device/reduce/combine device/transpose/tiles \
  warp/struct_tile
.PHONY: help demo ladders tune test bench bench-pages sanitize check-native check-compilers check-packages amalgamate docs format tidy

help:  ## this list
	@echo "gpuopt: make <target>"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 18

demo:  ## build and run the demo, natively or on the emulated device
	@scripts/device.sh
	@scripts/install-deps.sh examples ninja?
	@scripts/workflow.sh demo

ladders:  ## the classical steps and experiments, checked; on a GPU also timed, into build/ladders
	@scripts/device.sh
	@scripts/install-deps.sh examples ninja?
	@scripts/workflow.sh ladders
	@if scripts/device.sh | grep -q native; then \
	  if python3 -c 'import matplotlib' 2>/dev/null; then \
	    scripts/plot_ladders.py build/ladders/*_ladder.csv; scripts/plot_experiments.py build/ladders/experiments.csv; \
	    scripts/plot_limits.py build/ladders/experiments.csv --out build/ladders; \
	  else echo "no plots: matplotlib not found"; fi; fi

tune:  ## measure this machine, two minutes, into build/gpuopt_tuning.json; needs nvcc and a GPU
	@scripts/device.sh
	@scripts/install-deps.sh examples ninja?
	@scripts/workflow.sh tune

test:  ## build and run all tests
	@scripts/device.sh
	@scripts/install-deps.sh tests examples doxygen? clang?
	@scripts/workflow.sh test

bench:  ## build and run the benchmarks; needs nvcc and a GPU
	@scripts/device.sh
	@scripts/install-deps.sh benchmarks venv?
	@scripts/gpu-check.sh bench

bench-pages:  ## takes the results of make bench into benchmarks/results, and writes the tables and the chart of the pages
	@scripts/bench_pages.py build/bench
	@if python3 -c 'import matplotlib' 2>/dev/null; then scripts/plot_overview.py; else echo "no chart: matplotlib not found"; fi

sanitize:  ## the tests under ASan and UBSan, some also checked for races, all under compute-sanitizer on a GPU
	@scripts/device.sh
	@scripts/install-deps.sh tests examples
	@scripts/workflow.sh sanitize
	@scripts/sanitize-threads.sh & threads=$$!; scripts/check_races.py --all $(RACES_SAMPLE); races=$$?; wait $$threads && exit $$races
	@if scripts/device.sh | grep -q native; then scripts/gpu-check.sh sanitize; fi

check-native:  ## what can be checked without a GPU: a sample built with nvcc, the generated code, a sample of check-compilers
	@PATH="$$PATH:/usr/local/cuda/bin" command -v nvcc >/dev/null || { echo "nvcc not found: nothing checked"; exit 2; }
	@echo "gpuopt: native, compiled and not run"
	@scripts/install-deps.sh tests examples benchmarks compilers? venv?
	@scripts/workflow.sh check-native
	@scripts/check_compilers.py change

check-compilers:  ## compile with every compiler and toolkit of tests/compilers/matrix.txt (from PyPI and apt); WORDS="change nvcc": some
	@scripts/install-deps.sh compilers? venv?
	@scripts/check_compilers.py $(WORDS)
	@if [ -z "$(WORDS)" ] && PATH="$$PATH:/usr/local/cuda/bin" command -v nvcc >/dev/null; then \
	  cmake --preset check-native && ctest --preset release; fi

check-packages:  ## create the Conan package (Conan comes from PyPI) and build a consumer against it
	@scripts/install-deps.sh venv
	@scripts/check-packages.sh

amalgamate:  ## all headers in one file, build/gpuopt_all.cuh
	@scripts/amalgamate.py

docs:  ## the site of guides and reference, in build/docs (Sphinx comes from PyPI); VERSIONS="v0.1.0 HEAD" of these
	@scripts/install-deps.sh doxygen venv
	@scripts/make-docs.sh $(VERSIONS)

format:  ## clang-format every source, and samples of the pages that are too wide
	@git ls-files --cached --others --exclude-standard '*.cuh' '*.cu' '*.hpp' '*.cpp' '*.h' | xargs clang-format -i
	@scripts/format_samples.py

tidy:  ## clang-tidy over every source, as compiled for the emulated device
	@scripts/tidy.sh
