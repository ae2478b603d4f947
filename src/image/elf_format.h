// The ELF records common to images, files and cores: header, program headers, notes. Pure parsing of bytes, 32 and 64
// bit, both byte orders, nothing trusted: invalid data are nullopt. No state; any folder above target/ may use it from
// any thread. Names follow the System V ABI, without its prefixes.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <string_view>
#include <vector>

namespace dnheap {

namespace elf {

enum : u16 { type_executable = 2, type_shared = 3, type_core = 4 };
enum : u32 { segment_unused = 0, segment_load = 1, segment_dynamic = 2, segment_note = 4 };
enum : u32 { flag_execute = 1, flag_write = 2, flag_read = 4 };
enum : u16 {
  machine_x86 = 3,
  machine_ppc64 = 21,
  machine_s390 = 22,
  machine_arm = 40,
  machine_x64 = 62,
  machine_arm64 = 183,
  machine_riscv = 243,
  machine_loongarch = 258,
};

} // namespace elf

struct ElfHeader {
  static constexpr u64 largest = 64; // bytes: enough to parse any header

  Format format;
  u16 type = 0, machine = 0;
  u64 program_headers = 0, section_headers = 0; // offsets in the file
  u16 program_header_size = 0, program_header_count = 0;

  // Reads the header at the start of `file`. Nullopt unless it is complete and its class and byte order are known ones.
  static std::optional<ElfHeader> parse(Bytes file);
};

bool has_elf_magic(Bytes file);

struct ElfSegment {
  u32 type = 0, flags = 0;
  u64 offset = 0, address = 0, file_size = 0, memory_size = 0, alignment = 0;
};

// Returns how many program headers the file has: the count in the file's header or, if that overflowed (PN_XNUM), the
// one in the header of section 0. Nullopt if that section header is not in the file.
std::optional<u64> program_header_count(const ElfHeader &header, Bytes file);

// Returns the complete program headers in `table`, at most `count`. Empty if an entry's size is too small to hold one.
std::vector<ElfSegment> parse_program_headers(Bytes table, u64 count, const ElfHeader &header);

// Wraps an address to the target's width after arithmetic.
constexpr u64 narrow(u64 address, Format format) { return format.pointer_size == 8 ? address : address & 0xffffffff; }

// Returns the number to add to addresses in the file if the file's start is mapped at `base`, from the segment that
// contains the start, else from the page of the lowest one. Nullopt if there is nothing to load.
std::optional<u64> load_bias(const std::vector<ElfSegment> &segments, Address base, Format format);

struct ElfNote {
  u32 type = 0;
  std::string_view owner; // "GNU", "CORE"
  Bytes content;
};

// Removes the first note from `notes` and returns it; nullopt at the end or if the next one is incomplete. `alignment`
// is that of the segment: 8, or anything else for 4.
std::optional<ElfNote> next_note(Bytes &notes, u64 alignment, ByteOrder order);

// Returns the content of the GNU build-id note, empty if there is none.
std::vector<u8> find_build_id(Bytes notes, u64 alignment, ByteOrder order);

} // namespace dnheap
