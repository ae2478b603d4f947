// DotNetRuntimeDebugHeader: the data that a NativeAOT runtime has for debuggers: a table of (type, field, offset) and
// one of (name, address). Layout: dotnet/runtime src/coreclr/nativeaot/Runtime/DebugHeader.cpp; doc/contracts.md, "The
// debug header of NativeAOT". Finding it costs a hash look-up, or one pass over a module's writable memory; reading it
// some 200 loads. Everything is bounded, and none of its values is trusted: users of a value check it.
#pragma once
#include "target/target.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct DebugHeaderPlace {
  Address header = 0;             // 0: lost, only the tables are in the dump
  Address types = 0, globals = 0; // the two tables; 0 with a header: the runtime has not filled it in
  u16 major = 0, minor = 0;
  std::string how; // "export of zoo", "scan of zoo for its cookie", "its tables in zoo, by their first names"
};

struct FoundDebugHeader {
  const Module *module = nullptr;
  DebugHeaderPlace place;
};

// Returns the modules that have one: by export (if the dump or a module file has the symbol table), else by its cookie,
// which may occur only once in a module.
std::vector<FoundDebugHeader> find_debug_headers(const Target &target);
// If the header itself is lost (createdump --withheap leaves out .data): finds its tables, which lie in .bss, by the
// text that each begins with. Needs the modules' read-only data.
std::vector<FoundDebugHeader> find_debug_tables(const Target &target);

struct DebugHeader {
  DebugHeaderPlace place;
  std::map<std::string, u32, std::less<>> offsets;     // "dac_heap_segment.allocated" → 0
  std::map<std::string, Address, std::less<>> globals; // "g_gcDacGlobals" → the value, not the variable's address

  std::optional<u32> offset(std::string_view type_and_field) const;
  std::optional<Address> global(std::string_view name) const;
};

// Throws Error when the runtime has not started, the version is unknown to this program, or a table is not readable.
DebugHeader read_debug_header(const Target &target, const Module &module, const DebugHeaderPlace &place);

// "9.0" for 4; empty for an unknown version.
std::string net_version(u16 header_major);

} // namespace dnheap
