#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One round of tests/chaos.sh: what is killed, stopped or full hurts no job and no recording.
exec bash "$SOURCE_DIR/tests/chaos.sh" 1
