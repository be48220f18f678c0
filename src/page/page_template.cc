// SPDX-License-Identifier: Apache-2.0
// The built page inside the program: the assembler copies the file into the read-only data.
#include <cstddef>

#include "page/page_file.h"

asm(R"(
  .pushsection .rodata
  .hidden kPlateauPageBegin
  .hidden kPlateauPageEnd
  .globl kPlateauPageBegin
  .globl kPlateauPageEnd
kPlateauPageBegin:
  .incbin ")" PLATEAU_PAGE_FILE R"("
kPlateauPageEnd:
  .byte 0
  .popsection
)");

extern "C" {
extern const char kPlateauPageBegin[];
extern const char kPlateauPageEnd[];
}

namespace plateau {

std::string_view page_template() {
  return {kPlateauPageBegin, static_cast<size_t>(kPlateauPageEnd - kPlateauPageBegin)};
}

}  // namespace plateau
