// Writes small Windows minidumps for tests: fill the struct, call write(). Always little-endian.
// Source: the structures MINIDUMP_… of the Windows SDK (minidumpapiset.h).
#pragma once
#include "support/elf_writer.h"
#include "support/heap_builder.h"

#include <array>
#include <optional>

namespace dnheap::test {

struct MinidumpWriter {
  enum class List : u8 { memory64, memory };
  struct Piece {
    Address address = 0;
    std::vector<std::byte> bytes = {};
  };
  struct Module {
    std::string path = {}; // ASCII
    Address base = 0;
    u32 size = 0, time_date_stamp = 0;
    std::optional<std::array<u8, 16>> guid = {};
    std::optional<std::array<u16, 4>> file_version = {};
  };
  struct Thread {
    u32 id = 0;
    Piece stack = {};
    std::vector<std::byte> context = {};
    u32 dump_flags = 0;              // of ThreadInfoList
    bool stack_is_elsewhere = false; // in the lists of memory: its place in the file is 0
  };
  struct Region {
    Address start = 0;
    u64 size = 0;
    u32 state = 0x1000; // MEM_COMMIT
  };
  struct Exception {
    u32 thread = 0;
    std::vector<std::byte> context = {};
    u32 code = 0, flags = 0;
    Address address = 0;
    std::vector<u64> parameters = {}; // 15 at most
  };
  struct Stream {
    u32 type = 0;
    std::vector<std::byte> content = {};
  };

  u16 processor = 9; // PROCESSOR_ARCHITECTURE_AMD64
  u32 platform = 2;  // VER_PLATFORM_WIN32_NT
  u64 flags = 0x2;   // MiniDumpWithFullMemory
  u32 pid = 0;
  List list = List::memory64;
  bool aligned_rows = false; // four bytes between a list's number and its rows, as Breakpad writes them
  std::vector<Piece> pieces = {};
  std::vector<Module> modules = {};
  std::vector<Thread> threads = {};
  std::vector<Region> regions = {};
  std::optional<Exception> exception = {};
  std::vector<Stream> more_streams = {};

  std::vector<std::byte> write() const;
};

// A HeapBuilder's process, as Windows would have dumped it. Its module is called coreclr.dll, but is no PE image.
MinidumpWriter minidump_writer(HeapBuilder &heap);

// The bytes of a CONTEXT: `size` of them, words of `word` bytes at these offsets.
std::vector<std::byte> context_bytes(u64 size, u64 word, const std::map<u64, u64> &values);

} // namespace dnheap::test
