# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where. Manual page and completions are printed by the binary itself, so
# that they cannot disagree with it.
install(TARGETS plateau RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Private: programs are made to load it by its path.
install(TARGETS plateau_tracer LIBRARY DESTINATION lib/plateau)
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
  install(FILES ${PLATEAU_GENERATED}/plateau.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PLATEAU_GENERATED}/plateau.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME plateau)
  install(FILES ${PLATEAU_GENERATED}/_plateau
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${PLATEAU_GENERATED}/plateau.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
