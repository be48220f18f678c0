# SPDX-License-Identifier: Apache-2.0
# add_room(NAME [DEPENDS room|target ...] [EXCLUDE file ...])
#
# Makes the static library room_NAME from src/NAME/*.cc and, when tests are built, the program
# NAME_test from src/NAME/*_test.cc. A room without test files is an error: it would be a room
# nobody checks. A source whose name ends in a processor's, foo_x86_64.cc or foo_aarch64.cc, is built for that one alone.
# plateau_room() is the same for any directory; the trainer's rooms are made by it.
#
# A sanitizer build looks at memory, not at answers: PLATEAU_SANITIZED_TESTS names the rooms whose
# tests it builds, those that read foreign bytes, trace other processes or share memory with them.
# Room and test are compiled at low optimisation there, and all that a test links is instrumented, but what
# never_sanitized() names (PlateauOptions.cmake).
include(GoogleTest)
# Of binutils; links a test against LibTorch in a sixth of the time. What is shipped is linked as usual.
find_program(PLATEAU_FAST_LINKER ld.gold)
set(PLATEAU_SANITIZED_TESTS base recording symbols heap census inject ptrace ledger import probe session
  page serve fleet push train_quant train_store train_text train_image train_data)

set(PLATEAU_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <fmt/format.h> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <utility> <vector>)
set(PLATEAU_TEST_HEADERS <gmock/gmock.h> <gtest/gtest.h>)

# plateau_room(NAME DIRECTORY PREFIX TEST_NAME [OPTIMISE -O1] [HEADERS header ...] DEPENDS ... EXCLUDE ...): the
# library is PREFIX_NAME; a dependency that is a room is given by its name alone. OPTIMISE is for what is
# released, -O2 if it is left out; HEADERS are dear ones that the room and its tests include.
function(plateau_room name directory prefix test_name)
  cmake_parse_arguments(ROOM "" "OPTIMISE" "DEPENDS;EXCLUDE;HEADERS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${directory}/*.cc)
  set(others x86_64 aarch64)
  list(REMOVE_ITEM others ${CMAKE_SYSTEM_PROCESSOR})
  list(JOIN others "|" others)
  list(FILTER sources EXCLUDE REGEX "_(${others})\\.cc$")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  foreach(file IN LISTS ROOM_EXCLUDE)
    list(REMOVE_ITEM sources ${directory}/${file})
  endforeach()

  add_library(${prefix}_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${prefix}_${name} PRIVATE plateau_options)
  foreach(dependency IN LISTS ROOM_DEPENDS)
    if(TARGET ${prefix}_${dependency})
      target_link_libraries(${prefix}_${name} PUBLIC ${prefix}_${dependency})
    elseif(TARGET room_${dependency})
      target_link_libraries(${prefix}_${name} PUBLIC room_${dependency})
    else()
      target_link_libraries(${prefix}_${name} PUBLIC ${dependency})
    endif()
  endforeach()
  join_sources(${prefix}_${name})
  target_compile_options(${prefix}_${name} PRIVATE $<$<CONFIG:Release>:${ROOM_OPTIMISE}>)
  if(ROOM_HEADERS AND BUILD_TESTING)
    # Half a minute of headers: the room's and its tests' are compiled as one.
    list(APPEND ROOM_HEADERS ${PLATEAU_TEST_HEADERS})
    # As GoogleTest's own target has it, or the headers were another's.
    target_compile_definitions(${prefix}_${name} PRIVATE GTEST_HAS_PTHREAD=1)
  endif()
  precompile(${prefix}_${name} "room" ${PLATEAU_COMMON_HEADERS} ${ROOM_HEADERS})
  if(PLATEAU_FUZZ)
    # With coverage, or the fuzzer would be blind.
    target_compile_options(${prefix}_${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(BUILD_TESTING AND (NOT PLATEAU_SANITIZE OR test_name IN_LIST PLATEAU_SANITIZED_TESTS))
    if(NOT tests)
      message(FATAL_ERROR "${directory} has no *_test.cc")
    endif()
    add_room_test(${test_name} ${prefix}_${name} "${ROOM_HEADERS}" ${tests})
  endif()
endfunction()

# precompile(TARGET WHOSE header ...): most of what a small source compiles are the headers of the standard library and
# fmt. They are compiled once for all targets that ask for the same ones with the same WHOSE, `room` or `tests`: GCC takes a
# precompiled header at another level of optimisation, but not where there is none, as there is for tests in a sanitizer
# build. It takes one that knows fewer definitions, so the first to ask is the one with the fewest. Not where every
# source is compiled by itself, to see that it includes what it needs.
function(precompile target whose)
  if(NOT PLATEAU_UNITY)
    return()
  endif()
  string(MD5 key "${whose} ${ARGN}")
  get_property(first GLOBAL PROPERTY PLATEAU_HEADERS_${key})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY PLATEAU_HEADERS_${key} ${target})
  endif()
  # Behind a precompiled header GCC 12 no longer knows that std::string is a system header and warns
  # of its inside; at -Og, with headers of -O2, also of what std::optional does not hold. With -fpch-preprocess ccache
  # can tell what a source includes.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-maybe-uninitialized
      -fpch-preprocess>)
endfunction()

# add_room_test(NAME LIBRARY HEADERS SOURCE...): the program NAME_test. Tests are not optimised, which
# takes a third of their compile time: what they test is, as users get it.
function(add_room_test name library headers)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  add_executable(${name}_test ${ARGN})
  target_link_libraries(${name}_test PRIVATE ${library} plateau_options GTest::gmock_main rapidcheck)
  target_compile_definitions(${name}_test PRIVATE
    PLATEAU_SOURCE_DIR="${plateau_SOURCE_DIR}")
  target_compile_options(${name}_test PRIVATE $<IF:$<CONFIG:Release>,-Og,-O0>)
  if(PLATEAU_FAST_LINKER AND NOT PLATEAU_SANITIZE)
    target_link_options(${name}_test PRIVATE -fuse-ld=gold)
  endif()
  join_sources(${name}_test)
  if(headers)
    precompile(${name}_test "room" ${PLATEAU_COMMON_HEADERS} ${headers})
  else()
    precompile(${name}_test "tests" ${PLATEAU_TEST_HEADERS} <string> <vector>)
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES)
endfunction()

function(add_room name)
  plateau_room(${name} ${plateau_SOURCE_DIR}/src/${name} room ${name} ${ARGN})
endfunction()
