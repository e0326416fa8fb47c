# gpuopt_use_nccl(<target>): NCCL for a native program that includes <gpuopt/distributed.cuh>. On the emulated device it
# is not needed. NCCL_HOME, of CMake or the environment, says where it is if that is no usual place: a folder with
# include/nccl.h and lib/libnccl.so.2, such as that of PyPI's nvidia-nccl wheels.
function(gpuopt_find_nccl)
  set(homes "${NCCL_HOME}" "$ENV{NCCL_HOME}" "${CUDAToolkit_LIBRARY_ROOT}" /usr/local/cuda)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${homes} PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${homes} PATH_SUFFIXES lib lib64)
endfunction()

function(gpuopt_use_nccl target)
  gpuopt_find_nccl()
  if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
    message(FATAL_ERROR "gpuopt_use_nccl: NCCL was not found (Debian: libnccl-dev); NCCL_HOME may name its folder")
  endif()
  # Not what comes with the compiler: it would come first.
  if(NOT NCCL_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(${target} SYSTEM PRIVATE "${NCCL_INCLUDE_DIR}")
  endif()
  target_link_libraries(${target} PRIVATE gpuopt::gpuopt "${NCCL_LIBRARY}")
endfunction()
