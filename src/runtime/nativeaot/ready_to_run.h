// ReadyToRun: the header in which a NativeAOT module lists the tables that its compiler wrote, among them the metadata
// with the names of types. Finding the header costs one pass over the part of the module's memory that holds relocated
// addresses. If the dump lacks the header, a second pass searches the file's copy of that part, which is as good: the
// program never writes to that part.
#pragma once
#include "target/target.h"

#include <map>
#include <optional>

namespace dnheap {

struct ReadyToRun {
  // Numbers of the sections that dnheap reads: internal/Runtime/ModuleHeaders.cs, and 300 + ReflectionMapBlob.
  enum : u32 {
    gc_static_region = 201,
    type_manager_indirection = 204,
    type_map = 301,
    invoke_map = 306,
    common_fixups = 308,
    embedded_metadata = 313,
    stack_trace_methods = 327,
  };
  struct Section {
    Address start = 0, end = 0; // end 0: unknown
  };

  Address header = 0;
  u16 major = 0, minor = 0; // 9.1 (.NET 8), 10.1 (.NET 9), 16.0 (.NET 10), 26.1 (.NET 11)
  std::map<u32, Section> sections;

  Address start_of(u32 section) const;
  // Returns a section whose end is known and that lies in the image; else an empty one.
  Section section(u32 id) const;
};

// Nullopt unless there is exactly one header.
std::optional<ReadyToRun> find_ready_to_run(const Target &target, const Module &module);

} // namespace dnheap
