// SPDX-License-Identifier: Apache-2.0
#include "tracer/objects.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tracer/at_address.h"
#include "tracer/lane_writer.h"
#include "tracer/mix.h"
#include "tracer/process.h"
#include "tracer/sent_objects.h"
#include "tracer/system_calls.h"

namespace plateau::trace {
namespace {

// Which objects were sent: a hash of each in the place the hash names. Two objects that share a
// place push each other out and are sent more than once, which the recorder bears.
constexpr uint64_t kAnnouncedPlaces = 1024;
std::atomic<uint64_t> g_announced[kAnnouncedPlaces];
std::atomic<uint64_t> g_announced_round{1};

// _dl_find_object, which glibc has since 2.35; looked up once, because even a weak reference would
// make an older loader refuse the whole library. Null where there is none.
using FindObject = int (*)(void*, dl_find_object*) noexcept;
std::atomic<FindObject> g_find_object{nullptr};
std::atomic<bool> g_find_object_known{false};

FindObject loader_lookup() {
  if (!g_find_object_known.load(std::memory_order_acquire)) {
    g_find_object.store(reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object")),
                        std::memory_order_relaxed);
    g_find_object_known.store(true, std::memory_order_release);
  }
  return g_find_object.load(std::memory_order_relaxed);
}

// The program's own path, read once.
char g_program_path[kMaxTextBytes];
std::atomic<uint32_t> g_program_path_bytes{0};

bool inside(const LoadedObject& object, uint64_t address, uint64_t bytes) {
  return address >= object.begin && address <= object.end && bytes <= object.end - address;
}

// The program headers, through the ELF header that the first segment begins with.
void find_segments(LoadedObject& object) {
  const auto* header = at_address<Elf64_Ehdr>(object.begin);
  if (object.end - object.begin < sizeof(Elf64_Ehdr)) return;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return;
  const uint64_t bytes = uint64_t{header->e_phnum} * sizeof(Elf64_Phdr);
  // The headers stand in the first page as good as always; further away could be in a hole.
  if (header->e_phoff > 4096 || bytes > 4096 - header->e_phoff) return;
  if (!inside(object, object.begin + header->e_phoff, bytes)) return;
  object.segments = at_address<Elf64_Phdr>(object.begin + header->e_phoff);
  object.segment_count = header->e_phnum;
}

struct ObjectSearch {
  uint64_t address = 0;
  LoadedObject* out = nullptr;
};

LoadedObject object_of(const dl_phdr_info& info) {
  LoadedObject object;
  object.begin = UINT64_MAX;
  for (uint32_t i = 0; i < info.dlpi_phnum; ++i) {
    const Elf64_Phdr& segment = info.dlpi_phdr[i];
    const uint64_t start = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      if (start < object.begin) object.begin = start & ~uint64_t{4095};
      if (start + segment.p_memsz > object.end) object.end = start + segment.p_memsz;
    } else if (segment.p_type == PT_GNU_EH_FRAME) {
      object.cfi_index = at_address<uint8_t>(start);
    }
  }
  object.bias = info.dlpi_addr;
  object.path = info.dlpi_name;
  object.segments = info.dlpi_phdr;
  object.segment_count = info.dlpi_phnum;
  return object;
}

int visit_object(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<ObjectSearch*>(data);
  const LoadedObject object = object_of(*info);
  if (search.address < object.begin || search.address >= object.end) return 0;
  *search.out = object;
  return 1;
}

// The readable loaded segment that holds these bytes.
const Elf64_Phdr* segment_around(const LoadedObject& object, uint64_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    const uint64_t start = object.bias + segment.p_vaddr;
    if (address >= start && address - start <= segment.p_filesz &&
        bytes <= segment.p_filesz - (address - start)) {
      return &segment;
    }
  }
  return nullptr;
}

// The GNU build id among the notes; empty if there is none.
Piece find_build_id(const LoadedObject& object) {
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    const uint64_t start = object.bias + segment.p_vaddr;
    if (segment.p_type != PT_NOTE) continue;
    if (segment_around(object, start, segment.p_filesz) == nullptr) continue;
    uint64_t at = 0;
    while (segment.p_filesz - at >= sizeof(Elf64_Nhdr)) {
      const auto* note = at_address<Elf64_Nhdr>(start + at);
      const uint64_t name = at + sizeof(Elf64_Nhdr);
      const uint64_t text = name + ((uint64_t{note->n_namesz} + 3) & ~uint64_t{3});
      const uint64_t next = text + ((uint64_t{note->n_descsz} + 3) & ~uint64_t{3});
      if (next > segment.p_filesz) break;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= 64 &&
          memcmp(at_address<void>(start + name), "GNU", 4) == 0) {
        return {at_address<void>(start + text), note->n_descsz};
      }
      at = next;
    }
  }
  return {};
}

Piece program_path() {
  uint32_t bytes = g_program_path_bytes.load(std::memory_order_acquire);
  if (bytes == 0) {
    // Two threads at once write the same text.
    const long got = may_call(MayCall::anything)
                         ? system_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", g_program_path,
                                       sizeof g_program_path)
                         : 0;
    bytes = got > 0 ? static_cast<uint32_t>(got) : 0;
    g_program_path_bytes.store(bytes, std::memory_order_release);
  }
  return {g_program_path, bytes};
}

Piece path_of(const LoadedObject& object) {
  if (object.path == nullptr || object.path[0] == '\0') return program_path();
  return {object.path, strnlen(object.path, kMaxTextBytes)};
}

// The parts of the dynamic section that name what an object exports.
struct ExportTable {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  uint64_t name_bytes = 0;
  const uint32_t* hash = nullptr;  // DT_GNU_HASH
  uint64_t hash_words = 0;         // To the end of its segment.
};

// The loader has put addresses where the file had offsets, except in the kernel's own object.
uint64_t dynamic_address(const LoadedObject& object, uint64_t value) {
  return inside(object, value, 0) ? value : value + object.bias;
}

bool read_export_table(const LoadedObject& object, ExportTable& out) {
  const Elf64_Dyn* entry = nullptr;
  uint64_t count = 0;
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const uint64_t start = object.bias + segment.p_vaddr;
    if (segment_around(object, start, segment.p_filesz) == nullptr) return false;
    entry = at_address<Elf64_Dyn>(start);
    count = segment.p_filesz / sizeof(Elf64_Dyn);
  }
  uint64_t hash = 0;
  for (; count > 0 && entry->d_tag != DT_NULL; ++entry, --count) {
    const uint64_t address = dynamic_address(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) out.symbols = at_address<Elf64_Sym>(address);
    if (entry->d_tag == DT_STRTAB) out.names = at_address<char>(address);
    if (entry->d_tag == DT_STRSZ) out.name_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_GNU_HASH) hash = address;
  }
  const Elf64_Phdr* segment = segment_around(object, hash, 16);
  if (hash == 0 || segment == nullptr || out.symbols == nullptr || out.names == nullptr) {
    return false;
  }
  if (segment_around(object, reinterpret_cast<uint64_t>(out.names), out.name_bytes) == nullptr) {
    return false;
  }
  out.hash = at_address<uint32_t>(hash);
  out.hash_words = (object.bias + segment->p_vaddr + segment->p_filesz - hash) / 4;
  return true;
}

bool is_named(const ExportTable& table, const Elf64_Sym& symbol, const char* name, size_t bytes) {
  return symbol.st_shndx != SHN_UNDEF && symbol.st_name < table.name_bytes &&
         table.name_bytes - symbol.st_name > bytes &&
         memcmp(table.names + symbol.st_name, name, bytes + 1) == 0;
}

// Header words: buckets, first symbol, filter words, filter shift; then the filter (64-bit words),
// the buckets, and one hash per symbol whose lowest bit ends a bucket's run.
uint64_t look_up(const LoadedObject& object, const ExportTable& table, const char* name) {
  uint32_t wanted = 5381;
  for (const char* at = name; *at != '\0'; ++at) {
    wanted = wanted * 33 + static_cast<unsigned char>(*at);
  }
  const uint64_t buckets = table.hash[0];
  const uint64_t first = table.hash[1];
  const uint64_t bucket_place = 4 + uint64_t{table.hash[2]} * 2;
  const uint64_t chain_place = bucket_place + buckets;
  if (buckets == 0 || chain_place > table.hash_words) return 0;
  const size_t bytes = strlen(name);
  for (uint64_t i = table.hash[bucket_place + wanted % buckets]; i >= first && i != 0; ++i) {
    const uint64_t place = chain_place + i - first;
    if (place >= table.hash_words) return 0;
    const uint32_t hash = table.hash[place];
    const Elf64_Sym* symbol = table.symbols + i;
    if ((hash | 1) == (wanted | 1) &&
        segment_around(object, reinterpret_cast<uint64_t>(symbol), sizeof *symbol) != nullptr &&
        is_named(table, *symbol, name, bytes)) {
      return object.bias + symbol->st_value;
    }
    if ((hash & 1) != 0) return 0;
  }
  return 0;
}

}  // namespace

namespace {

// All loaded segments of an object, not only the one that holds an address.
void span_all_segments(LoadedObject& object) {
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD) continue;
    const uint64_t start = (object.bias + segment.p_vaddr) & ~uint64_t{4095};
    const uint64_t end = object.bias + segment.p_vaddr + segment.p_memsz;
    if (start < object.begin) object.begin = start;
    if (end > object.end) object.end = end;
  }
}

// The loader answers with a single segment where there are gaps between them (programs that were
// linked for large pages). The headers then stand elsewhere: a program's where the kernel says, a
// library's where its address 0 is.
void find_segments_across_gaps(FindObject lookup, const dl_find_object& found,
                               LoadedObject& object) {
  if (object.path == nullptr || object.path[0] == '\0') {
    object.segments = at_address<Elf64_Phdr>(getauxval(AT_PHDR));
    object.segment_count = static_cast<uint32_t>(getauxval(AT_PHNUM));
    if (object.segments == nullptr) object.segment_count = 0;
  } else {
    dl_find_object first;
    if (lookup(const_cast<void*>(at_address<void>(object.bias)), &first) != 0 ||
        first.dlfo_link_map != found.dlfo_link_map) {
      return;
    }
    LoadedObject head = object;
    head.begin = reinterpret_cast<uint64_t>(first.dlfo_map_start);
    head.end = reinterpret_cast<uint64_t>(first.dlfo_map_end);
    find_segments(head);
    object.segments = head.segments;
    object.segment_count = head.segment_count;
  }
  span_all_segments(object);
}

}  // namespace

bool find_object(uint64_t address, LoadedObject& out) noexcept {
  const FindObject lookup = loader_lookup();
  if (lookup == nullptr) {
    ObjectSearch search{address, &out};
    return dl_iterate_phdr(visit_object, &search) == 1;
  }
  dl_find_object found;
  if (lookup(const_cast<void*>(at_address<void>(address)), &found) != 0) return false;
  out.begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  out.end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  out.bias = found.dlfo_link_map->l_addr;
  out.path = found.dlfo_link_map->l_name;
  out.cfi_index = static_cast<const uint8_t*>(found.dlfo_eh_frame);
  out.segments = nullptr;
  out.segment_count = 0;
  find_segments(out);
  if (out.segment_count == 0) find_segments_across_gaps(lookup, found, out);
  return true;
}

CfiWindow cfi_window(const LoadedObject& object) noexcept {
  const auto index = reinterpret_cast<uint64_t>(object.cfi_index);
  if (index == 0) return {};
  const Elf64_Phdr* segment = segment_around(object, index, 1);
  if (segment == nullptr) return {};
  const auto* begin = at_address<uint8_t>(object.bias + segment->p_vaddr);
  return {begin, begin + segment->p_filesz, object.cfi_index};
}

Announced announce_object(const LoadedObject& object) noexcept {
  uint64_t key = mix(g_announced_round.load(std::memory_order_relaxed), object.begin);
  key = mix(mix(key, object.end), object.bias) | 1;
  std::atomic<uint64_t>& place = g_announced[(key >> 32) % kAnnouncedPlaces];
  if (place.load(std::memory_order_relaxed) == key) return Announced::before;

  const Piece build_id = find_build_id(object);
  const Piece path = path_of(object);
  ModuleRecord record;
  record.head.type = RecordType::module;
  record.begin = object.begin;
  record.end = object.end;
  record.bias = object.bias;
  record.build_id_bytes = static_cast<uint16_t>(build_id.count);
  record.path_bytes = static_cast<uint16_t>(path.count);
  const Piece pieces[] = {{&record, sizeof record}, build_id, path};
  if (!put_record(pieces, 3)) return Announced::failed;
  keep_sent(pieces, 3);
  place.store(key, std::memory_order_relaxed);
  return Announced::now;
}

uint64_t find_export(const LoadedObject& object, const char* name) noexcept {
  ExportTable table;
  return read_export_table(object, table) ? look_up(object, table, name) : 0;
}

namespace {

struct DefinitionSearch {
  const char* name = nullptr;
  uint64_t found = 0;
};

int visit_definition(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<DefinitionSearch*>(data);
  const LoadedObject object = object_of(*info);
  const auto own = reinterpret_cast<uint64_t>(&visit_definition);
  if (own >= object.begin && own < object.end) return 0;
  search.found = find_export(object, search.name);
  return search.found != 0 ? 1 : 0;
}

}  // namespace

void* true_definition(const char* name, void* found) noexcept {
  LoadedObject object;
  const auto address = reinterpret_cast<uint64_t>(found);
  if (found == nullptr || !find_object(address, object)) return found;
  const bool is_program = object.path == nullptr || object.path[0] == '\0';
  if (!is_program || find_export(object, name) == address) return found;
  DefinitionSearch search{.name = name};
  dl_iterate_phdr(visit_definition, &search);
  return search.found != 0 ? writable_at<void>(search.found) : found;
}

void forget_announced_objects() noexcept {
  g_announced_round.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace plateau::trace
