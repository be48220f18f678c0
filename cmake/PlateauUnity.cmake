# SPDX-License-Identifier: Apache-2.0
# join_sources(TARGET): compiles the target's sources in the groups that tools/unity_groups.py found,
# several as one: a small source costs its headers most of all. A source with options or definitions
# of its own stays alone, as CMake's unity builds have it.
#
# An error "redefinition of" that names two sources of one room is a file-local name that both have:
# `make` sorts them apart; a build by plain ninja does after tools/unity_groups.py has run.
# -DPLATEAU_UNITY=OFF compiles every source by itself, which also checks that each includes what it
# needs; lint does that check with what changed (tools/compile_alone.py).
option(PLATEAU_UNITY "Compile several sources of a room as one" ON)
if(PLATEAU_UNITY)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(groups_file ${CMAKE_BINARY_DIR}/unity_groups.cmake)
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${plateau_SOURCE_DIR}/tools/unity_groups.py ${groups_file}
    COMMAND_ERROR_IS_FATAL ANY)
  include(${groups_file})
endif()

function(join_sources target)
  if(NOT PLATEAU_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${plateau_SOURCE_DIR} OUTPUT_VARIABLE name)
    if(DEFINED PLATEAU_GROUP_${name})
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${PLATEAU_GROUP_${name}})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes the sources, which the group includes, for headers that others include too.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
