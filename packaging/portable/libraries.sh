#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what the portable programs are linked with and Debian has no static library of, from Debian's own source
# packages, at the versions whose headers are installed: packaging/portable/libraries.sh DIRECTORY
#
# libfmt.a and libsimdjson.a, which Debian ships as shared libraries only; libmicrohttpd.a without TLS, which
# Plateau does not serve and which would bring GnuTLS and seven more libraries; old/, the stand-ins for glibc 2.28
# (old_glibc.py). For the static program alone: static/libcurl.a, which asks over HTTP and nothing else, and resolves names
# by c-ares instead of the C library, whose way loads libraries. zlib, zstd, elfutils, OpenSSL, c-ares and the C++ library are
# Debian's static ones.
# Takes 60 CPU seconds the first time; does nothing if DIRECTORY has what the installed headers ask for. Exit code 75
# where Debian's sources do not answer.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tools/progress.sh"
directory=$(mkdir -p "$1" && cd "$1" && pwd)
log=$directory/libraries.log

# Of the installed headers: "fmtlib 9.1.0+ds1-2".
source_of() { dpkg-query -W -f '${source:Package} ${source:Version}\n' "$1"; }
wanted=$(for package in libfmt-dev libsimdjson-dev libmicrohttpd-dev libcurl4-openssl-dev libssl-dev libc-ares-dev libc6-dev libstdc++-12-dev; do source_of "$package"; done
  sha256sum <"$here/old_glibc.py"; sha256sum <"$0")
# Two at once, a test and `make wheel`, would compile in each other's sources: the second waits, and finds them made.
exec 9>"$directory/lock"
flock 9
if [ "$(cat "$directory/made" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi
rm -f "$directory/made"
: >"$log"
trap '[ $? -eq 0 ] || { tail -20 "$log" >&2; echo "libraries.sh: failed; the whole log is $log" >&2; }' EXIT

# The machine's own sources of Debian packages, asked for sources. Lists and archives stay in here: no root is needed.
apt=$directory/apt
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
for file in /etc/apt/sources.list.d/*.sources; do
  [ ! -e "$file" ] || awk -v RS= -v ORS='\n\n' '/debian-archive|\/debian/ { sub(/Types:[^\n]*/, "Types: deb-src"); print }' "$file" \
    >"$apt/parts/${file##*/}"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -e "$file" ] || sed -n '/\/debian/s/^deb /deb-src /p' "$file" >"$apt/parts/${file##*/}.list"
done
fetch() {
  (cd "$directory/sources" && apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" \
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@") >>"$log" 2>&1 || exit 75
}

progress "portable: fetching Debian's sources"
rm -rf "$directory/sources"
mkdir -p "$directory/sources"
fetch update
unpacked() { # PACKAGE: fetches the sources of its headers, and prints where they are.
  local name version
  read -r name version < <(source_of "$1")
  fetch source "$name=$version"
  find "$directory/sources" -maxdepth 1 -type d -name "$name-*" | head -1
}
# No path of this machine gets into what is shipped.
flags=(-O2 -DNDEBUG -fPIE -ffunction-sections -fdata-sections "-ffile-prefix-map=$directory=.")

progress "portable: compiling libfmt"
fmt=$(unpacked libfmt-dev)
g++ -std=c++20 "${flags[@]}" -I"$fmt/include" -c "$fmt/src/format.cc" -o "$directory/fmt.o" >>"$log" 2>&1
progress "portable: compiling libsimdjson"
simdjson=$(unpacked libsimdjson-dev)
g++ -std=c++17 "${flags[@]}" -I"$simdjson/include" -I"$simdjson/src" -c "$simdjson/src/simdjson.cpp" -o "$directory/simdjson.o" \
  >>"$log" 2>&1
progress "portable: compiling libmicrohttpd"
microhttpd=$(unpacked libmicrohttpd-dev)
(cd "$microhttpd" && ./configure --disable-https --disable-doc --disable-examples --disable-curl --disable-shared \
  CFLAGS="${flags[*]}" && make -s -j2 -C src/microhttpd libmicrohttpd.la) >>"$log" 2>&1
progress "portable: compiling libcurl"
curl=$(unpacked libcurl4-openssl-dev)
(cd "$curl" && ./configure --disable-shared --with-openssl --with-zlib --enable-ares --without-ca-path \
  --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt \
  --without-{zstd,brotli,libpsl,libidn2,nghttp2,librtmp,libssh2,gssapi} \
  --disable-{ldap,ldaps,rtsp,dict,telnet,tftp,pop3,imap,smb,smtp,gopher,mqtt,ftp,file,ntlm,manual,doh,unix-sockets,alt-svc,hsts} \
  --disable-{netrc,tls-srp,cookies,libcurl-option} CFLAGS="${flags[*]}" && make -s -j2 -C lib libcurl.la) >>"$log" 2>&1

rm -f "$directory"/lib*.a "$directory"/static/lib*.a
ar rcsD "$directory/libfmt.a" "$directory/fmt.o"
ar rcsD "$directory/libsimdjson.a" "$directory/simdjson.o"
cp "$microhttpd/src/microhttpd/.libs/libmicrohttpd.a" "$directory/"
mkdir -p "$directory/static"
cp "$curl/lib/.libs/libcurl.a" "$directory/static/"
rm -rf "$directory/old"
python3 -B "$here/old_glibc.py" "$directory/old" >>"$log" 2>&1
rm -rf "$directory/sources" "$directory"/*.o
echo "$wanted" >"$directory/made"
progress_end "portable: libraries made"
