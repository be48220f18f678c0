// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace plateau {
namespace {

constexpr uint16_t kHiddenVersionBit = 0x8000;
constexpr size_t kMostSegments = 4096;

Error cannot_read(const std::string& path, const std::string& why) {
  return {.kind = Error::Kind::not_found, .message = path + ": " + why};
}

bool begins_as_elf(int fd) {
  char magic[SELFMAG] = {};
  return ::pread(fd, magic, sizeof magic, 0) == sizeof magic &&
         std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

Elf_Scn* section_of_type(Elf* elf, uint32_t type, GElf_Shdr& header) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) return section;
  }
  return nullptr;
}

std::string build_id_in(Elf_Data* data) {
  GElf_Nhdr note;
  size_t name_at = 0;
  size_t desc_at = 0;
  size_t at = 0;
  while (data != nullptr && (at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
    const char* bytes = static_cast<const char*>(data->d_buf);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
        std::memcmp(bytes + name_at, "GNU", sizeof "GNU") == 0) {
      return {bytes + desc_at, note.n_descsz};
    }
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  elf_version(EV_CURRENT);
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return cannot_read(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return cannot_read(path, "not a regular file");
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return cannot_read(path, std::strerror(errno));
  if (!begins_as_elf(fd.get())) {
    return Error{.kind = Error::Kind::bad_input, .message = path + ": not an ELF file"};
  }
  // Mapped, because debug information is hundreds of megabytes of which little is read.
  std::unique_ptr<Elf, End> elf(elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) {
    return Error{.kind = Error::Kind::bad_input, .message = path + ": damaged ELF file"};
  }
  return ElfFile(std::move(fd), std::move(elf));
}

std::vector<ElfSegment> ElfFile::segments() const {
  std::vector<ElfSegment> segments;
  size_t count = 0;
  if (elf_getphdrnum(elf(), &count) != 0) return segments;
  count = std::min(count, kMostSegments);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf(), static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_LOAD) continue;
    segments.push_back({.address = header.p_vaddr,
                        .offset = header.p_offset,
                        .file_bytes = header.p_filesz,
                        .memory_bytes = header.p_memsz});
  }
  return segments;
}

std::string ElfFile::build_id() const {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    std::string id = build_id_in(elf_getdata(section, nullptr));
    if (!id.empty()) return id;
  }
  // A file without sections (sstrip) still has the note that the loader maps.
  size_t count = 0;
  if (elf_getphdrnum(elf(), &count) != 0) return {};
  for (size_t i = 0; i < std::min(count, kMostSegments); ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf(), static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_NOTE) continue;
    std::string id = build_id_in(
        elf_getdata_rawchunk(elf(), static_cast<int64_t>(header.p_offset), header.p_filesz,
                             header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
    if (!id.empty()) return id;
  }
  return {};
}

std::string_view ElfFile::section(std::string_view name) const {
  size_t names = 0;
  if (elf_getshdrstrndx(elf(), &names) != 0) return {};
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* its_name = elf_strptr(elf(), names, header.sh_name);
    if (its_name == nullptr || name != its_name) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

bool ElfFile::each_symbol(uint32_t type,
                          const std::function<bool(const ElfSymbolEntry&)>& visit) const {
  GElf_Shdr header;
  Elf_Scn* section = section_of_type(elf(), type, header);
  if (section == nullptr) return false;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return false;
  Elf_Data* versions = nullptr;
  GElf_Shdr version_header;
  if (type == SHT_DYNSYM) {
    Elf_Scn* version_section = section_of_type(elf(), SHT_GNU_versym, version_header);
    if (version_section != nullptr) versions = elf_getdata(version_section, nullptr);
  }
  const size_t entry_bytes = gelf_fsize(elf(), ELF_T_SYM, 1, EV_CURRENT);
  const size_t count = entry_bytes == 0 ? 0 : data->d_size / entry_bytes;
  for (size_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) continue;
    const char* name = elf_strptr(elf(), header.sh_link, symbol.st_name);
    if (name == nullptr) continue;
    GElf_Versym version = 0;
    if (versions != nullptr) gelf_getversym(versions, static_cast<int>(i), &version);
    const ElfSymbolEntry entry{.name = name,
                               .address = symbol.st_value,
                               .bytes = symbol.st_size,
                               .type = static_cast<uint8_t>(GELF_ST_TYPE(symbol.st_info)),
                               .bind = static_cast<uint8_t>(GELF_ST_BIND(symbol.st_info)),
                               .hidden_version = (version & kHiddenVersionBit) != 0};
    if (!visit(entry)) return true;
  }
  return true;
}

}  // namespace plateau
