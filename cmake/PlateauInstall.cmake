# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where. Manual page and completions are printed by the binary itself, so
# that they cannot disagree with it. In a wheel the same tree stands in the environment's own folder, with the
# Python modules beside others' (PlateauWheel.cmake).
include(PlateauWheel)
install(TARGETS plateau RUNTIME DESTINATION ${PLATEAU_BIN})
# Private: programs are made to load it by its path.
install(TARGETS plateau_tracer LIBRARY DESTINATION ${PLATEAU_ROOT}lib/plateau)
# What learns steps inside the job's Python, found by the same rule (src/base/installed.h). One source for the words:
# the client that users copy is also the one that the module speaks with.
set(PLATEAU_PYTHON ${CMAKE_BINARY_DIR}/python)
file(GLOB auto_modules CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clients/auto/plateau_auto/*.py)
set(auto_sources ${CMAKE_SOURCE_DIR}/clients/auto/sitecustomize.py ${auto_modules}
  ${CMAKE_SOURCE_DIR}/clients/python/plateau.py)
add_custom_command(OUTPUT ${PLATEAU_PYTHON}/plateau_auto/client.py
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PLATEAU_PYTHON}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PLATEAU_PYTHON}/plateau_auto
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/clients/auto/sitecustomize.py ${PLATEAU_PYTHON}
  COMMAND ${CMAKE_COMMAND} -E copy ${auto_modules} ${PLATEAU_PYTHON}/plateau_auto
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/clients/python/plateau.py
    ${PLATEAU_PYTHON}/plateau_auto/client.py
  DEPENDS ${auto_sources} VERBATIM)
add_custom_target(plateau_python ALL DEPENDS ${PLATEAU_PYTHON}/plateau_auto/client.py)
add_dependencies(plateau plateau_python)
install(DIRECTORY ${PLATEAU_PYTHON} DESTINATION ${PLATEAU_ROOT}lib/plateau PATTERN __pycache__ EXCLUDE)
set(PLATEAU_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${PLATEAU_GENERATED})
if(NOT PLATEAU_SANITIZE)
  add_custom_command(OUTPUT ${PLATEAU_GENERATED}/plateau.1 ${PLATEAU_GENERATED}/plateau.bash
      ${PLATEAU_GENERATED}/_plateau ${PLATEAU_GENERATED}/plateau.fish
    COMMAND plateau man > ${PLATEAU_GENERATED}/plateau.1
    COMMAND plateau completion bash > ${PLATEAU_GENERATED}/plateau.bash
    COMMAND plateau completion zsh > ${PLATEAU_GENERATED}/_plateau
    COMMAND plateau completion fish > ${PLATEAU_GENERATED}/plateau.fish
    DEPENDS plateau VERBATIM)
  add_custom_target(plateau_generated ALL DEPENDS ${PLATEAU_GENERATED}/plateau.1)
  install(FILES ${PLATEAU_GENERATED}/plateau.1 DESTINATION ${PLATEAU_ROOT}${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PLATEAU_GENERATED}/plateau.bash
    DESTINATION ${PLATEAU_ROOT}${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME plateau)
  install(FILES ${PLATEAU_GENERATED}/_plateau
    DESTINATION ${PLATEAU_ROOT}${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${PLATEAU_GENERATED}/plateau.fish
    DESTINATION ${PLATEAU_ROOT}${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
