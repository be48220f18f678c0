#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Links a program or the tracer with everything but the C library inside, for glibc 2.28 and later; or the program with the
# C library and libcurl inside too, for any Linux:
#   link.sh program|tracer|static LIBRARIES OUTPUT OBJECT-OR-ARCHIVE...
# LIBRARIES is what libraries.sh made. Beside OUTPUT is left OUTPUT.map, the linker's own list of what went in, which
# the list of parts (packaging/sbom.py) is made from.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=$1 libraries=$2 output=$3
shift 3
mkdir -p "$(dirname "$output")"
shims=$output.shims.o
# The same program from the same sources, wherever they are: no debug information, and no date. The tracer keeps its table of
# names: whoever takes it out of a running process looks in there for what the process may still hold (inject/attach.cc).
# shellcheck disable=SC2054  # The commas are the linker's.
common=(-Wl,--build-id=sha1 -Wl,-z,now -Wl,-z,relro -Wl,--as-needed -Wl,--hash-style=gnu "-Wl,-Map=$output.map")
portable=("${common[@]}" -nodefaultlibs -static-libgcc)
# libc first and the loader last: until 2.31 the loader had a malloc of its own for the time before libc is there, which
# whoever looks there first gets for good.
glibc=("$libraries"/old/lib*.so "$libraries/old/ld.so" "$(gcc -print-file-name=libc_nonshared.a)")
compile_shims() { gcc -O2 -fPIC -fno-stack-protector -Wall -Wextra -Werror "$@" -c "$here/shims.c" -o "$shims"; }

case $kind in
  program)
    compile_shims
    g++ "${portable[@]}" -s -pie -o "$output" "$shims" -Wl,--gc-sections -Wl,--start-group "$@" "$libraries"/lib*.a \
      -Wl,-Bstatic -ldw -lelf -lzstd -lz -lstdc++ -lgcc -lgcc_eh -Wl,-Bdynamic "${glibc[@]}" -Wl,--end-group
    ;;
  tracer)
    compile_shims -DPLATEAU_SHIMS_OF_THE_TRACER
    gcc "${portable[@]}" -Wl,--strip-debug -shared -o "$output" "$shims" "-Wl,--version-script=$here/../../tracer/exports.map" -Wl,-z,defs \
      "$@" -Wl,-Bstatic -lgcc -Wl,-Bdynamic "${glibc[@]}" -Wl,-Bstatic -lgcc
    ;;
  static)
    gcc -O2 -fPIE -Wall -Wextra -Werror -c "$here/static.c" -o "$shims"
    # The C library warns of each function that would load a library; none is to come in.
    g++ "${common[@]}" -s -static-pie -o "$output" "$shims" -Wl,--fatal-warnings -Wl,--gc-sections \
      -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose,--wrap=dlerror,--wrap=dladdr -Wl,--start-group "$@" "$libraries"/lib*.a \
      "$libraries/static/libcurl.a" -lcares -lssl -lcrypto -ldw -lelf -lzstd -lz -Wl,--end-group
    ;;
  *)
    echo "usage: link.sh program|tracer|static LIBRARIES OUTPUT OBJECT..." >&2
    exit 2
    ;;
esac
rm -f "$shims"
