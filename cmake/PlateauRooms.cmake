# SPDX-License-Identifier: Apache-2.0
# add_room(NAME [DEPENDS room|target ...] [EXCLUDE file ...])
#
# Makes the static library room_NAME from src/NAME/*.cc and, when tests are built, the program
# NAME_test from src/NAME/*_test.cc. A room without test files is an error: it would be a room
# nobody checks.
#
# A sanitizer build compiles what is compiled already, so there it is compiled as cheaply as the
# checks allow: the rooms, optimised a little because tests and fuzzers spend their time in them,
# behind a precompiled header; the tests at -O0. Everything stays instrumented. That each file
# includes what it needs, which a precompiled header hides, the release build has checked.
include(GoogleTest)
set(room_headers <algorithm> <array> <cmath> <filesystem> <fstream> <functional> <map> <memory>
  <optional> <span> <sstream> <string> <string_view> <vector> <fmt/format.h>)

function(add_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;EXCLUDE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  foreach(file IN LISTS ROOM_EXCLUDE)
    list(REMOVE_ITEM sources ${CMAKE_SOURCE_DIR}/src/${name}/${file})
  endforeach()

  add_library(room_${name} STATIC ${sources})
  target_link_libraries(room_${name} PRIVATE plateau_options)
  foreach(dependency IN LISTS ROOM_DEPENDS)
    if(TARGET room_${dependency})
      target_link_libraries(room_${name} PUBLIC room_${dependency})
    else()
      target_link_libraries(room_${name} PUBLIC ${dependency})
    endif()
  endforeach()

  # GCC 12 takes half as long again behind such a header as without it.
  if(PLATEAU_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(room_${name} PRIVATE -fpch-instantiate-templates)
    if(name STREQUAL "base")
      target_precompile_headers(room_base PRIVATE ${room_headers})
    else()
      target_precompile_headers(room_${name} REUSE_FROM room_base)
    endif()
  endif()
  if(PLATEAU_FUZZ)
    # With coverage, or the fuzzer would be blind.
    target_compile_options(room_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()

  if(BUILD_TESTING)
    if(NOT tests)
      message(FATAL_ERROR "room ${name} has no *_test.cc")
    endif()
    find_package(GTest REQUIRED)
    find_package(rapidcheck REQUIRED)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE room_${name} plateau_options GTest::gmock_main
      rapidcheck)
    target_compile_definitions(${name}_test PRIVATE
      PLATEAU_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PLATEAU_BINARY="$<TARGET_FILE_DIR:plateau>/plateau")
    # gtest and gmock are most of what a test file compiles: once for all rooms. Behind a precompiled
    # header GCC 12 no longer knows that std::string is a system header and warns of its inside.
    # Tests are compiled at -O1: what they test is optimised as users get it, they are not.
    set(optimise -O1)
    if(PLATEAU_SANITIZE)
      set(optimise -O0)
    endif()
    target_compile_options(${name}_test PRIVATE ${optimise}
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
    if(name STREQUAL "base")
      target_precompile_headers(base_test PRIVATE <gmock/gmock.h> <gtest/gtest.h> <string> <vector>)
    else()
      target_precompile_headers(${name}_test REUSE_FROM base_test)
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES)
  endif()
endfunction()
