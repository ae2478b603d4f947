// ReadyToRun: the header by which a NativeAOT module lists the tables that its compiler left in it, among them the
// metadata that names types. Finding it costs one pass over the module's memory that holds addresses, or what a file
// says that memory held at first: it is never written to.
#pragma once
#include "target/target.h"

#include <map>
#include <optional>

namespace dnheap {

struct ReadyToRun {
  // Of the sections that dnheap reads: internal/Runtime/ModuleHeaders.cs, and 300 + ReflectionMapBlob.
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
    Address start = 0, end = 0; // end 0: not said
  };

  Address header = 0;
  u16 major = 0, minor = 0; // 9.1 (.NET 8), 10.1 (.NET 9), 16.0 (.NET 10), 26.1 (.NET 11)
  std::map<u32, Section> sections;

  Address start_of(u32 section) const;
  // A section whose end is told and that lies in the image; else an empty one.
  Section section(u32 id) const;
};

// Nullopt unless there is exactly one.
std::optional<ReadyToRun> find_ready_to_run(const Target &target, const Module &module);

} // namespace dnheap
