# gpuopt_tune(<target>): adds the program gpuopt-tune, which measures gpuopt on a machine and writes a tuning file.
# gpuopt_device(<target>): adds the program gpuopt-device, which lists what choices depend on.
# Both are in docs/tuning.md. They are CUDA programs, for a project with the language CUDA; gpuopt_emulate(<target>) makes
# one for the emulated device, whose times mean nothing.
include("${CMAKE_CURRENT_LIST_DIR}/Folders.cmake")

function(gpuopt_tune target)
  gpuopt_folder(folder tune gpuopt_tune.cu)
  add_executable(${target} "${folder}/gpuopt_tune.cu")
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt)
endfunction()

function(gpuopt_device target)
  gpuopt_folder(folder tune gpuopt_device.cu)
  add_executable(${target} "${folder}/gpuopt_device.cu")
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt)
endfunction()
