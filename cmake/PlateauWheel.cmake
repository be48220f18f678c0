# SPDX-License-Identifier: Apache-2.0
# Where things go in a wheel, which scikit-build-core makes (pyproject.toml). PLATEAU_BIN is the folder of programs,
# PLATEAU_ROOT what stands before lib/ and share/: pip puts both under the environment's own folder, so that
# ../lib/plateau is beside bin/ as in any other installation (src/base/installed.h).
if(SKBUILD)
  set(PLATEAU_BIN ${SKBUILD_SCRIPTS_DIR})
  set(PLATEAU_ROOT ${SKBUILD_DATA_DIR}/)
  # `import plateau` and the pytest plugin.
  set(client ${plateau_SOURCE_DIR}/clients/python)
  install(FILES ${client}/plateau.py ${client}/plateau_jupyter.py ${client}/plateau_pytest.py DESTINATION ${SKBUILD_PLATLIB_DIR})
  install(DIRECTORY ${client}/plateau_in_tests DESTINATION ${SKBUILD_PLATLIB_DIR} PATTERN __pycache__ EXCLUDE)
else()
  set(PLATEAU_BIN ${CMAKE_INSTALL_BINDIR})
  set(PLATEAU_ROOT "")
endif()

# install_prebuilt(TREE): an installation as packaging/stage.sh leaves it, with bin/, lib/ and share/.
function(install_prebuilt tree)
  if(NOT SKBUILD)
    message(FATAL_ERROR "PLATEAU_PREBUILT is for wheels: see packaging/wheel.sh")
  endif()
  install(PROGRAMS ${tree}/bin/plateau DESTINATION ${PLATEAU_BIN})
  install(DIRECTORY ${tree}/lib ${tree}/share DESTINATION ${SKBUILD_DATA_DIR} USE_SOURCE_PERMISSIONS)
  # Where tools look for it (PEP 770).
  install(FILES ${tree}/share/doc/plateau/plateau.spdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms)
endfunction()
