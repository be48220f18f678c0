#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command that README.md and docs/ show in a block is run (tests/docs/run_commands.py), and every verb and option
# that they name in a line of text exists (tests/docs/check_names.py).
# shellcheck disable=SC2016  # Pages are written with backticks.
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -B "$SOURCE_DIR/tests/docs/check_names.py" "$PLATEAU"
/usr/bin/python3 -B "$SOURCE_DIR/tests/docs/run_commands.py" "$PLATEAU"

# A command that nobody marked is found, and so is one that does not work.
printf '# Page\n\n```\nplateau judge x\n```\n' >unmarked.md
run /usr/bin/python3 -B "$SOURCE_DIR/tests/docs/run_commands.py" "$PLATEAU" "$PWD/unmarked.md"
expect_code 1
expect_in err "without the mark"
printf '# Page\n\n```sh\nplateau judge --no-such-option train.log\n```\n' >wrong.md
run /usr/bin/python3 -B "$SOURCE_DIR/tests/docs/run_commands.py" "$PLATEAU" "$PWD/wrong.md"
expect_code 1
expect_in err "no-such-option"
printf '# Page\n\nSay `plateau judge --no-such-option`.\n' >named.md
run /usr/bin/python3 -B "$SOURCE_DIR/tests/docs/check_names.py" "$PLATEAU" "$PWD/named.md"
expect_code 1
expect_in err "no-such-option"
