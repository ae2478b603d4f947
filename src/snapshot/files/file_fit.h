// Is a file on this host the one that a module of the target was mapped from, and what of it can stand in for memory
// that the dump lacks? One function per kind of file. For snapshot/files/module_files.cc alone.
#pragma once
#include "base/host/host.h"
#include "target/target.h"

namespace dnheap {

struct FileFit {
  bool fits = false;
  bool needless = false; // it fits, but holds nothing that anybody asks for
  std::string identity;  // if it fits: what it was told by; see Provenance
  std::string reason;    // if it does not
  // Constants only, placed where the module lies; in front of one another where they overlap.
  std::vector<Range> parts;
  // What the module's writable memory held at first: see Target::initial.
  std::vector<Range> initial;
  std::vector<std::shared_ptr<const void>> storage; // keeps the bytes of both alive
};

using MappedFilePtr = std::shared_ptr<const MappedFile>;

// ELF libraries: by build id; where the dump lacks that, by the places of their segments and the bytes it does hold.
FileFit fit_native_file(const Target &target, const Module &module, const MappedFilePtr &file);

// Managed assemblies: by place and size of every mapped piece and whatever bytes of them the dump holds; if the headers
// are among these, the file is known by time stamp and size.
FileFit fit_managed_file(const Target &target, const Module &module, const MappedFilePtr &file);

// The assemblies inside a single-file program that the process mapped from there: known as those in files of their own
// are. Build ids do not tell such programs apart: all with the same runtime have the same.
FileFit fit_bundle(const Target &target, const Module &program, const MappedFilePtr &file);

// Is the module a piece of that program's file, behind what the program is itself?
bool is_bundled_in(const Module &module, const Module &program);

// Of a module whose loader's record the container has (Module::pe), native or managed: by time stamp, size and GUID.
FileFit fit_pe_file(const Target &target, const Module &module, const MappedFilePtr &file);

// What of a laid-out file its contract descriptor, at that address, takes up: constant, though it may lie among
// variables.
std::vector<Range> descriptor_parts(const Memory &file, Address descriptor);

// What they compare: bytes of a file with what the dump holds at the same place.
struct Agreement {
  u64 compared = 0, equal = 0;
  bool whole() const { return compared == equal; }
};
// At most `limit` bytes are compared, from the start of each range on.
Agreement compare_known(const Memory &memory, std::span<const Range> parts, u64 limit);

} // namespace dnheap
