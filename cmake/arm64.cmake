# SPDX-License-Identifier: Apache-2.0
# Toolchain for arm64 from an x86-64 Debian: its cross compiler, and Debian's own arm64 libraries in a directory by
# themselves, which tools/arm64.sh fills and names in PLATEAU_ARM64_ROOT. Programs run here under qemu's user mode.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(root $ENV{PLATEAU_ARM64_ROOT})
if(NOT IS_DIRECTORY "${root}")
  message(FATAL_ERROR "PLATEAU_ARM64_ROOT is no directory; 'make arm64' makes it and sets it")
endif()
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)  # How pairs are passed changed in GCC 10; nothing here was compiled by an older one.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${root})
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${root})
