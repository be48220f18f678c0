# SPDX-License-Identifier: Apache-2.0
# `portable`: plateau and its tracer once more, from the same objects, with everything but the C library inside and for
# glibc 2.28 and later, and plateau with the C library inside too: what the wheel and the archive ship (packaging/). Linked by
# a script instead of a target of CMake's, whose libraries are the shared ones.
set(portable ${CMAKE_BINARY_DIR}/portable)
set(portable_libraries ${plateau_SOURCE_DIR}/build/portable CACHE PATH "What packaging/portable/libraries.sh made")
set(link ${plateau_SOURCE_DIR}/packaging/portable/link.sh)
get_property(rooms DIRECTORY ${plateau_SOURCE_DIR} PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER rooms INCLUDE REGEX "^room_")
list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE room_files)
set(link_sources ${link} ${plateau_SOURCE_DIR}/packaging/portable/shims.c ${plateau_SOURCE_DIR}/packaging/portable/static.c)
add_custom_command(OUTPUT ${portable}/plateau
  COMMAND ${link} program ${portable_libraries} ${portable}/plateau $<TARGET_OBJECTS:plateau> ${room_files}
  DEPENDS plateau ${room_files} ${link_sources} COMMAND_EXPAND_LISTS VERBATIM)
add_custom_command(OUTPUT ${portable}/libplateau_tracer.so
  COMMAND ${link} tracer ${portable_libraries} ${portable}/libplateau_tracer.so $<TARGET_OBJECTS:plateau_tracer>
  DEPENDS plateau_tracer ${link_sources} COMMAND_EXPAND_LISTS VERBATIM)
add_custom_command(OUTPUT ${portable}/static/plateau
  COMMAND ${link} static ${portable_libraries} ${portable}/static/plateau $<TARGET_OBJECTS:plateau> ${room_files}
  DEPENDS plateau ${room_files} ${link_sources} COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(portable
  DEPENDS ${portable}/plateau ${portable}/libplateau_tracer.so ${portable}/static/plateau)
