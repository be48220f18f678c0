# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Source it after e2e/lib.sh: "${as_user[@]}" runs a command as an ordinary user, in a directory where
# such a user can write and reach ../plateau.
as_user=()
if [ "$(id -u)" -eq 0 ]; then
  command -v setpriv >/dev/null || skip "no setpriv to leave root with"
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${as_user[@]}" true 2>/dev/null || skip "setpriv may not change the user"
fi
# The user must be able to reach the program and a python; a copy does that for the former.
chmod 711 "$SCRATCH"
install -m 755 "$PLATEAU" ./plateau
mkdir -m 777 open
cd open || fail "no directory to write in"
