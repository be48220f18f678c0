#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts the command it is given and stays above it: `sh -c`, a launch script, a container's entry
# point. The shell is level; verdict and cause are the child's, and so is the process to name.
"$@"
exit $?
