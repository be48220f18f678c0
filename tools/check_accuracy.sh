#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/accuracy.md must hold what the code scores today on all parts of the corpus.
# Usage: tools/check_accuracy.sh PATH_TO_corpus_score
set -euo pipefail
cd "$(dirname "$0")/.."
"$1" corpus/dev corpus/own corpus/lives corpus/heldout corpus/fit corpus/calibrate corpus/test | grep -F '**plateau judge**' | while read -r row; do
  if ! grep -qF -- "$row" docs/accuracy.md; then
    echo "docs/accuracy.md is out of date; the code scores:" >&2
    echo "$row" >&2
    echo "run: make corpus > docs/accuracy.md" >&2
    exit 1
  fi
done
