#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/timed.sh LOG NAME COMMAND...: runs it, and adds "user+system seconds, tab, NAME" to LOG.
log=$1 name=$2
shift 2
TIMEFORMAT="%U %S"$'\t'"$name"
exec 3>&2
{ time "$@" 2>&3; } 2>>"$log"
