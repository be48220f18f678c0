#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures in docs/pictures anew: the first screen of real reports, in Chromium at 1280 x 800, with few
# colours so that they stay small.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/page.sh deps
plateau=build/release/plateau
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
logs=corpus/model-garden

"$plateau" report "$logs/run2.log" --examples 663 --batch 8 -o "$scratch/plateau.html"
"$plateau" report "$logs/run1.log" --examples 663 --batch 8 --limit 20GB -o "$scratch/undecided.html"
"$plateau" report corpus/dev/tree_leak_child-1.csv.gz --limit 2GB -o "$scratch/leak.html"
"$plateau" report corpus/dev/leak_arrays-1.csv.gz corpus/dev/flat-1.csv.gz -o "$scratch/comparison.html"

node web/pictures.mjs "$scratch" plateau undecided leak comparison
mkdir -p docs/pictures
for name in plateau undecided leak comparison; do
  /usr/bin/python3 -c 'import sys; from PIL import Image
Image.open(sys.argv[1]).convert("RGB").quantize(48).save(sys.argv[2], optimize=True)' "$scratch/$name.png" "docs/pictures/$name.png"
done
du -b docs/pictures/*.png
