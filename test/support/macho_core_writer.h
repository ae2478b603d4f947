// Writes small Mach-O cores for tests, as createdump or lldb write them: fill the struct, call write(). Source:
// mach-o/loader.h, mach/thread_status.h, mach-o/dyld_images.h; what the two writers add, by their own sources.
#pragma once
#include "support/heap_builder.h"
#include "support/macho_writer.h"

namespace dnheap::test {

struct MachoCoreWriter {
  enum class By : u8 { createdump, lldb };
  struct Segment {
    Address address = 0;
    std::vector<std::byte> bytes = {};
    u64 memory_size = 0; // where it is more than `bytes`
    u32 protection = 3;
  };
  struct Thread {
    u32 id = 0;
    std::vector<u64> state = {}; // the words of x86_thread_state64_t or arm_thread_state64_t
  };
  struct Image {
    std::string path = {};
    Address base = 0;
  };
  struct Note {
    std::string name = {};
    std::vector<std::byte> content = {};
  };

  By by = By::createdump;
  u32 cpu = macho::cpu_arm64;
  u32 pid = 0; // createdump
  std::vector<Segment> segments = {};
  std::vector<Thread> threads = {};
  // createdump: the dynamic linker is at this place, and has the list; 0: it is not in the core. lldb: in a note.
  Address linker = 0;
  std::vector<Image> images = {};
  std::vector<Note> more_notes = {};
  Address thread_info_at = 0x00007ffffff00000;

  std::vector<std::byte> write() const;

private:
  std::vector<Segment> all_segments() const;
  void add_linker(std::vector<Segment> &to) const;
  std::vector<Note> all_notes(u64 at) const;
  std::vector<std::byte> list_of_images(u64 at) const;
};

// The words of a thread's record with these at places of `order`: {place in the record, value}.
std::vector<u64> macho_state(u32 cpu, const std::map<u64, u64> &values);

// A HeapBuilder's process, as one of macOS: of the 64-bit little-endian format only. Its runtime is a Mach-O image with
// the same exports.
MachoCoreWriter macho_core_writer(HeapBuilder &heap, u32 cpu = macho::cpu_arm64);

} // namespace dnheap::test
