# gpuopt_tune(<target>): adds the program gpuopt-tune, which measures gpuopt on a machine and writes a tuning file:
# docs/tuning.md. It is a CUDA program, for a project with the language CUDA; gpuopt_emulate(<target>) makes it one for the
# emulated device, whose times mean nothing.

# The folder of its sources: in this repository, where it is installed, and where vcpkg puts it.
function(gpuopt_tune target)
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  file(GLOB source "${here}/../tune/gpuopt_tune.cu" "${here}/../../gpuopt/tune/gpuopt_tune.cu"
    "${here}/tune/gpuopt_tune.cu")
  add_executable(${target} "${source}")
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt)
endfunction()
