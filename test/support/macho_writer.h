// Writes small Mach-O libraries for tests: [0) header, load commands and `read_only` as __TEXT, `writable` and .bss as
// __DATA, what the link editor adds (exports, fixups, symbols) as __LINKEDIT. Addresses are those in the file, counted
// from `preferred`; offsets in the file differ from them. Fill the struct, call write(). Always little-endian.
// Source: mach-o/loader.h, mach-o/nlist.h, mach-o/fixup-chains.h.
#pragma once
#include "image/macho_format.h"
#include "support/elf_writer.h"
#include "target/memory.h"

namespace dnheap::test {

struct MachoLibraryWriter {
  static constexpr u64 read_only_at = 0x10000, writable_at = 0x100000, link_data_at = 0x800000;
  enum class Exports : u8 { trie, trie_of_dyld_info, table };
  struct Symbol {
    std::string name = {}; // without the underscore
    u64 value = 0;
    u8 kind = 0; // of the trie: 1 thread-local, 2 absolute
    bool re_exported = false, exported = true;
  };
  struct Fixup {
    u64 offset = 0; // in `writable`, ascending
    u64 target = 0; // offset from the header
    bool bound = false;
  };

  u32 cpu = macho::cpu_arm64, type = macho::type_library, flags = 0;
  std::string own_name = "@rpath/libtest.dylib";
  std::vector<u8> uuid = {};
  u64 preferred = 0;
  std::vector<std::byte> read_only = {}, writable = {};
  u64 bss = 0;
  u32 writable_flags = 0;   // of __DATA: macho::segment_read_only
  std::string section = {}; // that begins with __DATA
  std::vector<Symbol> symbols = {};
  Exports exports = Exports::trie;
  std::vector<Fixup> fixups = {};
  u16 pointer_format = 6;

  std::vector<std::byte> write() const;
  // The file as the loader puts it into memory, without fixups; `file` is that of write().
  std::vector<Range> mapped(Bytes file, Address base) const;

private:
  FormatWriter link_data(u64 at, FormatWriter &commands, u64 &count) const;
  FormatWriter trie() const;
  FormatWriter chains() const;
  void add_symbols(FormatWriter &out, u64 at, FormatWriter &commands, u64 &count) const;
  void chain(std::vector<std::byte> &words) const;
};

// A universal file with these inside, `wide`: with 64 bits for places.
std::vector<std::byte> universal_file(const std::vector<std::vector<std::byte>> &files, bool wide);

} // namespace dnheap::test
