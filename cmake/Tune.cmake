# gpuopt_tune(<target>): adds the program gpuopt-tune, which measures gpuopt on a machine and writes a tuning file:
# docs/tuning.md. It is a CUDA program, for a project with the language CUDA; gpuopt_emulate(<target>) makes it one for the
# emulated device, whose times mean nothing.
include("${CMAKE_CURRENT_LIST_DIR}/Folders.cmake")

function(gpuopt_tune target)
  gpuopt_folder(folder tune gpuopt_tune.cu)
  add_executable(${target} "${folder}/gpuopt_tune.cu")
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt)
endfunction()
