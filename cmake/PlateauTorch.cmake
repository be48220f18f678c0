# SPDX-License-Identifier: Apache-2.0
# The target plateau_torch: LibTorch as it lies in the user's own PyTorch. `tools/stack.sh --torch` finds it: the torch of
# PLATEAU_TORCH_PYTHON, else of python3 on the PATH, else the one that tools/setup.sh installed.
#
# Its own TorchConfig.cmake is not asked: that of a build for GPUs fails where no CUDA toolkit is installed, which only
# those need who compile kernels. Headers and libraries are all that is used here.
set(PLATEAU_TORCH_PYTHON "" CACHE FILEPATH "A Python that has torch, to build plateau-train with; empty: looked for")

if(PLATEAU_TORCH_PYTHON)
  set(ENV{PLATEAU_TORCH_PYTHON} ${PLATEAU_TORCH_PYTHON})
endif()
execute_process(COMMAND ${plateau_SOURCE_DIR}/tools/stack.sh --torch
  OUTPUT_VARIABLE found ERROR_VARIABLE problem RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "${problem}")
endif()
string(REPLACE "\t" ";" found "${found}")
list(POP_FRONT found PLATEAU_TORCH_DIR PLATEAU_TORCH_VERSION torch_python)
set(PLATEAU_TORCH_LIB ${PLATEAU_TORCH_DIR}/lib)
message(STATUS "LibTorch: torch ${PLATEAU_TORCH_VERSION} of ${torch_python}, in ${PLATEAU_TORCH_DIR}")

add_library(plateau_torch INTERFACE IMPORTED GLOBAL)
# PyTorch ships headers of its own fmt, which is not the one that Plateau is linked with: that one comes before.
get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
set(before_torch ${CMAKE_BINARY_DIR}/before_torch)
file(MAKE_DIRECTORY ${before_torch})
file(CREATE_LINK ${fmt_headers}/fmt ${before_torch}/fmt SYMBOLIC)
# As a system's: warnings inside are nobody's here.
target_include_directories(plateau_torch SYSTEM INTERFACE
  ${before_torch} ${PLATEAU_TORCH_DIR}/include ${PLATEAU_TORCH_DIR}/include/torch/csrc/api/include)
# libtorch.so holds nothing; with it come the libraries for GPUs, where the build has them. -fopenmp: without it
# at::parallel_for is one thread. USE_C10D_GLOO: the processes of one training talk by it.
target_compile_options(plateau_torch INTERFACE -fopenmp)
target_compile_definitions(plateau_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_libraries(plateau_torch INTERFACE -Wl,--no-as-needed
  ${PLATEAU_TORCH_LIB}/libtorch.so ${PLATEAU_TORCH_LIB}/libtorch_cpu.so ${PLATEAU_TORCH_LIB}/libc10.so gomp)
