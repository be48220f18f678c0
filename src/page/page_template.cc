// SPDX-License-Identifier: Apache-2.0
// The built page inside the program: the assembler copies the file into the read-only data.
#include <cstddef>

#include "page/page_file.h"

asm(R"(
  .pushsection .rodata
  .hidden plateau_page_begin
  .hidden plateau_page_end
  .globl plateau_page_begin
  .globl plateau_page_end
plateau_page_begin:
  .incbin ")" PLATEAU_PAGE_FILE R"("
plateau_page_end:
  .byte 0
  .popsection
)");

extern "C" {
extern const char plateau_page_begin[];
extern const char plateau_page_end[];
}

namespace plateau {

std::string_view page_template() {
  return {plateau_page_begin, static_cast<size_t>(plateau_page_end - plateau_page_begin)};
}

}  // namespace plateau
