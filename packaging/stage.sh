#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out what the wheel or the archive ships, from the portable programs of a build:
#   packaging/stage.sh wheel|archive BUILD TREE
# The archive's bin/plateau is the static program, and bin/plateau-glibc the wheel's. TREE gets bin/, lib/plateau/ (tracer, Python module), share/ (manual page, completions, systemd unit, licences,
# the list of parts). What was there before is gone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=$1 build=$2 tree=$3
rm -rf "$tree"
cmake --install "$build" --prefix "$tree" >/dev/null
maps=("$build/portable/plateau.map" "$build/portable/libplateau_tracer.so.map")
if [ "$kind" = archive ]; then
  maps+=("$build/portable/static/plateau.map")
  install -m 0755 "$build/portable/static/plateau" "$tree/bin/plateau"
  install -m 0755 "$build/portable/plateau" "$tree/bin/plateau-glibc"
else
  install -m 0755 "$build/portable/plateau" "$tree/bin/plateau"
fi
install -m 0755 "$build/portable/libplateau_tracer.so" "$tree/lib/plateau/libplateau_tracer.so"
rm -f "$tree/bin/plateau-train" "$tree"/lib/plateau/plateau-train-libtorch*
doc=$tree/share/doc/plateau
mkdir -p "$doc/systemd"
cp "$here/../integrations/systemd/plateau-watch.service" "$doc/systemd/"
cp "$here/../LICENSE" "$doc/"
python3 -B "$here/sbom.py" --version "$("$build/plateau" --version | cut -d' ' -f2)" --lock "$here/../web/package-lock.json" \
  --licences "$doc/third-party-licences.txt" --output "$doc/plateau.spdx.json" "${maps[@]}"
find "$tree" -name __pycache__ -prune -exec rm -rf {} +
chmod -R u=rwX,go=rX "$tree"
