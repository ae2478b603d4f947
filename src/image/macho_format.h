// The Mach-O records that images, files and cores have in common: header, load commands, segments, slices of universal
// files. Pure parsing of bytes, nothing trusted: invalid data are nullopt or empty. 64 bit and little-endian only, as
// every Mac that runs .NET is. No state; any folder above target/ may use it from any thread. Names follow
// mach-o/loader.h, without its prefixes.
#pragma once
#include "base/bytes.h"

#include <optional>
#include <string_view>
#include <vector>

namespace dnheap {

namespace macho {

enum : u32 { cpu_x64 = 0x01000007, cpu_arm64 = 0x0100000c };
enum : u32 { type_executable = 2, type_core = 4, type_library = 6, type_linker = 7, type_bundle = 8 };
enum : u32 { flag_in_cache = 0x80000000 }; // MH_DYLIB_IN_CACHE
enum : u32 { protection_read = 1, protection_write = 2, protection_execute = 4 };
enum : u32 { segment_read_only = 0x10 }; // SG_READ_ONLY: written by the loader alone
enum : u32 {
  command_symbols = 0x2,
  command_thread = 0x4,
  command_dynamic_symbols = 0xb,
  command_library_name = 0xd,
  command_linker_name = 0xf,
  command_segment = 0x19,
  command_uuid = 0x1b,
  command_dyld_info = 0x22,
  command_note = 0x31,
  command_dyld_info_only = 0x80000022,
  command_exports = 0x80000033,
  command_chained_fixups = 0x80000034,
};

} // namespace macho

struct MachoHeader {
  static constexpr u64 size = 32;
  u32 cpu = 0, type = 0, command_count = 0, commands_size = 0, flags = 0;

  // Nullopt unless complete.
  static std::optional<MachoHeader> parse(Bytes file);
};

bool has_macho_magic(Bytes file);
// True for a Mach-O file, and for a universal one that holds several.
bool is_macho_file(Bytes file);

// Returns the files inside a universal one; a file that is not universal is its own and only slice. At most 64.
std::vector<Bytes> macho_slices(Bytes file);

struct MachoCommand {
  u32 kind = 0;
  Bytes content; // with the command's first 8 bytes, so that offsets are those of the structures

  // Returns 0 if the command is shorter.
  u32 word(u64 at) const { return load_at<u32>(content, at, ByteOrder::little).value_or(0); }
};

// Removes the first command from `commands` and returns it; nullopt at the end or if the next one is incomplete.
std::optional<MachoCommand> next_command(Bytes &commands);

struct MachoSegment {
  std::string_view name; // points into the command
  u64 address = 0, memory_size = 0, offset = 0, file_size = 0;
  u32 protection = 0, flags = 0;
  Bytes sections; // 80 bytes each

  bool is_writable() const { return protection & macho::protection_write; }
  // True if the loader alone writes there, such as __DATA_CONST.
  bool is_constant() const { return !is_writable() || (flags & macho::segment_read_only); }
};

std::optional<MachoSegment> parse_macho_segment(Bytes command);
// Returns the 16 bytes of LC_UUID.
std::vector<u8> parse_macho_uuid(Bytes command);

} // namespace dnheap
