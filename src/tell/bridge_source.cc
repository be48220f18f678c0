// SPDX-License-Identifier: Apache-2.0
// The companion's program inside this one: the assembler copies the file into the read-only data.
#include <cstddef>

#include "tell/bridge.h"

asm(R"(
  .pushsection .rodata
  .hidden kPlateauBridgeBegin
  .hidden kPlateauBridgeEnd
  .globl kPlateauBridgeBegin
  .globl kPlateauBridgeEnd
kPlateauBridgeBegin:
  .incbin ")" PLATEAU_BRIDGE_FILE R"("
kPlateauBridgeEnd:
  .byte 0
  .popsection
)");

extern "C" {
extern const char kPlateauBridgeBegin[];
extern const char kPlateauBridgeEnd[];
}

namespace plateau {

std::string_view bridge_source() {
  return {kPlateauBridgeBegin, static_cast<size_t>(kPlateauBridgeEnd - kPlateauBridgeBegin)};
}

}  // namespace plateau
