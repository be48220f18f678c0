// SPDX-License-Identifier: Apache-2.0
// What a name costs: our index over libdw beside libdw asked directly, llvm-symbolizer and
// addr2line, on the same addresses of one file, in one run.
//
//   tools/build.sh --bench release symbols_cost
//   build/release/symbols_cost FILE_WITH_DEBUG_INFO [ADDRESSES]
//
// Addresses are spread evenly over the functions of the file, in an order like that of stacks
// (jumping between units). Each tool starts cold and does all of its work: opening, indexing, names
// of inlined calls, lines. The file itself is in the page cache. Also counted: on how many
// addresses we and llvm-symbolizer give the same functions and lines.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "symbols/elf_file.h"
#include "symbols/module_names.h"

namespace plateau {
namespace {

using Chain = std::vector<std::string>;  // "symbol line", innermost first.

// CPU time of this process, or of the processes it has waited for: the machine may be busy.
double cpu_s(int whose) {
  rusage usage{};
  ::getrusage(whose, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<uint64_t> addresses_of(const ElfFile& file, size_t count) {
  std::vector<uint64_t> functions;
  file.each_symbol(SHT_SYMTAB, [&](const ElfSymbolEntry& entry) {
    if (entry.type == STT_FUNC && entry.bytes > 16) {
      for (uint64_t i = 4; i < entry.bytes; i += 64) functions.push_back(entry.address + i);
    }
    return true;
  });
  std::mt19937 random(1);  // NOLINT: the same addresses in every run.
  std::shuffle(functions.begin(), functions.end(), random);
  functions.resize(std::min(functions.size(), count));
  return functions;
}

std::string run(const std::string& command, double& seconds) {
  const double begin = cpu_s(RUSAGE_CHILDREN);
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 65536> chunk{};
  size_t got = 0;
  while (pipe != nullptr && (got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0) {
    text.append(chunk.data(), got);
  }
  const bool worked = pipe != nullptr && ::pclose(pipe) == 0;
  seconds = worked ? cpu_s(RUSAGE_CHILDREN) - begin : -1;
  return text;
}

// llvm-symbolizer writes two lines per frame, "symbol" and "file:line:column", and an empty line
// after each address.
std::vector<Chain> parse_llvm(const std::string& text) {
  std::vector<Chain> chains;
  Chain chain;
  std::istringstream lines(text);
  std::string symbol;
  while (std::getline(lines, symbol)) {
    if (symbol.empty()) {
      chains.push_back(std::move(chain));
      chain.clear();
      continue;
    }
    std::string place;
    std::getline(lines, place);
    const size_t column = place.rfind(':');
    const size_t line = place.rfind(':', column - 1);
    chain.push_back(symbol + " " + place.substr(line + 1, column - line - 1));
  }
  return chains;
}

// llvm-symbolizer takes the outermost name from the symbol table: that of a clone ("f.part.0") or
// of any of several functions that the compiler made one. Its line is the same all the same.
Chain comparable(Chain chain) {
  if (!chain.empty()) chain.back().erase(0, chain.back().rfind(' '));
  return chain;
}

// What libdw offers: walks the unit for every address.
double libdw_s(const std::string& path, const std::vector<uint64_t>& addresses) {
  const double begin = cpu_s(RUSAGE_SELF);
  const auto file = ElfFile::open(path);
  Dwarf* dwarf = dwarf_begin_elf(file.value().elf(), DWARF_C_READ, nullptr);
  size_t found = 0;
  for (const uint64_t address : addresses) {
    Dwarf_Die unit;
    if (dwarf_addrdie(dwarf, address, &unit) == nullptr) continue;
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(&unit, address, &scopes);
    for (int i = 0; i < count; ++i) found += dwarf_diename(&scopes[i]) != nullptr ? 1 : 0;
    std::free(scopes);
    dwarf_getsrc_die(&unit, address);
  }
  dwarf_end(dwarf);
  return found > 0 ? cpu_s(RUSAGE_SELF) - begin : -1;
}

void row(const char* name, double seconds, size_t count, double ours_us) {
  if (seconds < 0) {
    std::printf("%-26s %s\n", name, "not there");
    return;
  }
  const double each_us = seconds * 1e6 / static_cast<double>(count);
  std::printf("%-26s %8zu addresses %9.3f s CPU %10.1f us each %8.2fx\n", name, count, seconds,
              each_us, each_us / ours_us);
}

int bench(const std::string& path, size_t count) {
  const auto file = ElfFile::open(path);
  if (!file.ok()) return std::fprintf(stderr, "%s\n", file.error().message.c_str()), 1;
  const std::vector<uint64_t> addresses = addresses_of(file.value(), count);
  const auto list = std::filesystem::temp_directory_path() / "plateau-symbols-cost.txt";
  {
    std::ofstream out(list);
    for (const uint64_t address : addresses) out << "0x" << std::hex << address << "\n";
  }

  double begin = cpu_s(RUSAGE_SELF);
  ModuleNames names(path, file.value().build_id());
  size_t frames = 0;
  for (const uint64_t address : addresses) frames += names.at(address).frames.size();
  const double ours_s = cpu_s(RUSAGE_SELF) - begin;
  const double ours_us = ours_s * 1e6 / static_cast<double>(addresses.size());
  begin = cpu_s(RUSAGE_SELF);
  for (const uint64_t address : addresses) frames += names.at(address).frames.size();
  const double again_s = cpu_s(RUSAGE_SELF) - begin;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);

  std::printf("%s: %zu frames, peak %ld MB\n", path.c_str(), frames / 2, usage.ru_maxrss / 1024);
  row("plateau, cold", ours_s, addresses.size(), ours_us);
  row("plateau, index built", again_s, addresses.size(), ours_us);
  const std::vector<uint64_t> few(
      addresses.begin(),
      addresses.begin() + static_cast<ptrdiff_t>(std::min<size_t>(addresses.size(), 200)));
  row("libdw dwarf_getscopes", libdw_s(path, few), few.size(), ours_us);
  double seconds = 0;
  const auto llvm =
      parse_llvm(run("llvm-symbolizer --functions=linkage --no-demangle --obj=" + path + " < " +
                         list.string() + " 2>/dev/null",
                     seconds));
  row("llvm-symbolizer", seconds, addresses.size(), ours_us);
  run("addr2line -f -i -C -e " + path + " < " + list.string() + " 2>/dev/null", seconds);
  row("addr2line", seconds, addresses.size(), ours_us);

  size_t same = 0;
  for (size_t i = 0; i < addresses.size() && i < llvm.size(); ++i) {
    Chain ours;
    const NativeNames found = names.at(addresses[i]);
    for (size_t k = 0; k < found.frames.size(); ++k) {
      ours.push_back(found.symbols[k] + " " + std::to_string(found.frames[k].line));
    }
    if (comparable(ours) == comparable(llvm[i])) ++same;
  }
  std::printf("same inlined functions and lines as llvm-symbolizer: %zu of %zu\n", same,
              llvm.size());
  std::filesystem::remove(list);
  return 0;
}

}  // namespace
}  // namespace plateau

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: symbols_cost FILE [ADDRESSES]\n"), 2;
  return plateau::bench(argv[1], argc > 2 ? std::stoul(argv[2]) : 20000);
}
