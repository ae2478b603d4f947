// Writes small ELF cores and ELF libraries for tests, in all four formats (32/64 bit, little/big endian). Fill the
// struct, call write(); the numbers in the result are exact, nothing is random.
#pragma once
#include "base/bytes.h"

#include <map>
#include <string>
#include <vector>

namespace dnheap::test {

inline constexpr Format all_formats[] = {
    {8, ByteOrder::little}, {8, ByteOrder::big}, {4, ByteOrder::little}, {4, ByteOrder::big}};

std::string name_of(Format format); // "64le", for SCOPED_TRACE

// Appends integers in a format. Offsets returned by size() can be patched later with put_at().
class FormatWriter {
public:
  explicit FormatWriter(Format format) : format_(format) {}

  void put(u64 value, u64 size) {
    bytes_.resize(bytes_.size() + size);
    put_at(bytes_.size() - size, value, size);
  }
  void put_at(u64 offset, u64 value, u64 size);
  void half(u64 value) { put(value, 2); }
  void word(u64 value) { put(value, 4); }
  void pointer(u64 value) { put(value, format_.pointer_size); }
  void text(std::string_view text) { append({reinterpret_cast<const std::byte *>(text.data()), text.size()}); }
  void text_with_nul(std::string_view text) {
    this->text(text);
    put(0, 1);
  }
  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void fill_to(u64 size) { bytes_.resize(std::max<u64>(bytes_.size(), size)); }
  void align(u64 alignment) { fill_to(align_up(bytes_.size(), alignment)); }
  u64 size() const { return bytes_.size(); }
  Format format() const { return format_; }
  const std::vector<std::byte> &bytes() const { return bytes_; }

private:
  Format format_;
  std::vector<std::byte> bytes_;
};

// A machine number whose registers and relocations dnheap knows, of that format: x64, s390x, x86, arm.
u16 machine_of(Format format);

struct ElfCoreWriter {
  struct Segment {
    Address address = 0;
    std::vector<std::byte> bytes = {};
    u64 memory_size = 0; // where it is more than `bytes`
    u32 flags = 6;
  };
  struct File {
    std::string path = {};
    Address start = 0, end = 0;
    u64 file_offset = 0;
  };
  struct Thread {
    u32 id = 0;
    std::vector<u64> registers = {}; // as many as the machine has, or fewer
    u32 signal = 0;                  // that ended the process, or stopped it
    std::vector<std::byte> siginfo = {};
  };
  struct Note {
    u32 type = 0;
    std::vector<std::byte> content = {};
    std::string owner = "CORE";
  };

  Format format;
  u16 machine = machine_of(format);
  u16 type = 4; // ET_CORE
  std::vector<Segment> segments = {};
  std::vector<File> files = {};
  std::vector<Thread> threads = {};
  std::map<u64, u64> auxv = {};
  u32 pid = 0;
  std::string name = {}, arguments = {};
  std::vector<Note> more_notes = {};
  u64 page_size = 4096;        // unit of the file offsets in NT_FILE
  bool extended_count = false; // the number of segments in section header 0 (PN_XNUM)
  bool notes_at_end = false;   // behind the memory, as gdb does it
  bool split_notes = false;    // one PT_NOTE per note

  std::vector<std::byte> write() const;

private:
  std::vector<Note> all_notes() const;
};

// A shared library: [0) headers and tables, [read_only_at) `read_only`, [writable_at) `writable`, then the dynamic
// section, then .bss. Addresses are those in the file; offsets differ from them.
struct ElfLibraryWriter {
  static constexpr u64 read_only_at = 0x10000, writable_at = 0x100000;

  struct Symbol {
    std::string name = {};
    u64 value = 0;
    u16 section = 1; // 0: undefined, 0xfff1: absolute
    u8 type = 1;     // 6: thread-local
  };
  struct Relocation {
    enum Kind { relative, compact, symbolic };
    u64 address = 0, addend = 0;
    Kind kind = relative;
  };

  Format format;
  u16 machine = machine_of(format);
  u16 type = 3; // ET_DYN
  std::vector<u8> build_id = {};
  std::vector<std::byte> read_only = {}, writable = {};
  u64 bss = 0;
  std::vector<Symbol> symbols = {};
  std::vector<Relocation> relocations = {}; // the addend is stored where the format wants it
  bool gnu_hash = true, sysv_hash = false;
  u64 pointer_bias = 0; // added to the pointers in the dynamic section, as glibc does it in memory

  std::vector<std::byte> write() const;
  // Where the segments end in memory.
  u64 end() const;

private:
  struct Tables;
  Tables write_tables() const;
  std::vector<std::byte> write_gnu_hash(const std::vector<Symbol> &sorted, u64 first) const;
  std::vector<std::byte> write_sysv_hash(const std::vector<Symbol> &sorted) const;
  std::vector<std::byte> write_dynamic(const Tables &tables) const;
};

} // namespace dnheap::test
