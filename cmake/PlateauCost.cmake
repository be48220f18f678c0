# SPDX-License-Identifier: Apache-2.0
# Every command of the build writes the CPU seconds that it took to cpu_seconds.log;
# tools/build_cost.py adds them up by room.
set(timed "${plateau_SOURCE_DIR}/tools/timed.sh ${CMAKE_BINARY_DIR}/cpu_seconds.log")
set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${timed} <OBJECT>")
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${timed} <TARGET>")
