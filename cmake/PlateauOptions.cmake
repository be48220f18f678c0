# SPDX-License-Identifier: Apache-2.0
# Compiler flags that every target shares, carried by the interface library plateau_options.
option(BUILD_TESTING "Build the tests" OFF)
option(PLATEAU_TRAINER "Build plateau-train, which needs LibTorch" OFF)
option(PLATEAU_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(PLATEAU_BENCH "Build the benchmarks" OFF)
set(PLATEAU_SANITIZE "" CACHE STRING "Value for -fsanitize=, e.g. address,undefined")

add_library(plateau_options INTERFACE)
target_include_directories(plateau_options INTERFACE ${plateau_SOURCE_DIR}/src ${plateau_SOURCE_DIR})
target_compile_options(plateau_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Werror
  # Of a group of sources it would compare names of one with those of another; lint looks at each alone.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  # Designated initialisers leave fields out on purpose; every field has a default.
  -Wno-missing-field-initializers
  # GCC 12 warns of overlapping copies inside its own std::string (its bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang warns of a deprecated helper inside the standard library's own stable_sort.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # Floating-point contraction differs between compilers and CPUs; a verdict must not.
  -ffp-contract=off)
if(PLATEAU_SANITIZE)
  target_compile_options(plateau_options INTERFACE
    -fsanitize=${PLATEAU_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(plateau_options INTERFACE -fsanitize=${PLATEAU_SANITIZE})
  if(PLATEAU_SANITIZE MATCHES "address.*undefined")
    # What the address sanitizer stops at by itself, and its checks as calls: part of the compile time.
    target_compile_options(plateau_options INTERFACE
      -fno-sanitize=null,object-size,vptr,function,pointer-overflow -fsanitize-address-outline-instrumentation)
  endif()
endif()

# never_sanitized(TARGET...): what a sanitizer would change. The tracer is what users get; the programs that it traces keep
# their own allocator. A sanitizer build takes them from build/release, where tools/build.sh makes them first: NAME is
# PLATEAU_NEVER_SANITIZED_DIR/NAME in every build, and a test says which it needs by needs_never_sanitized(TEST TARGET...).
set(PLATEAU_NEVER_SANITIZED_DIR ${CMAKE_BINARY_DIR})
if(PLATEAU_SANITIZE)
  set(PLATEAU_NEVER_SANITIZED_DIR ${plateau_SOURCE_DIR}/build/release)
endif()
add_custom_target(never_sanitized)

function(never_sanitized)
  if(PLATEAU_SANITIZE)
    set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  else()
    add_dependencies(never_sanitized ${ARGN})
  endif()
endfunction()

function(needs_never_sanitized test)
  if(NOT PLATEAU_SANITIZE)
    add_dependencies(${test} ${ARGN})
  endif()
endfunction()
