// Decides whether a file on this host is the one that a module of the target was mapped from, and which parts of it can
// replace memory that is not in the dump. One function per kind of file. For snapshot/files/module_files.cc alone.
#pragma once
#include "base/host/host.h"
#include "target/target.h"

namespace dnheap {

struct FileFit {
  bool fits = false;
  bool needless = false; // the file fits, but holds nothing that is needed
  std::string identity;  // if the file fits: how it was identified; see Provenance
  std::string reason;    // if it does not fit: why
  // Constants only, at the module's addresses; where parts overlap the earlier one wins.
  std::vector<Range> parts;
  // The initial contents of the module's writable memory: see Target::initial.
  std::vector<Range> initial;
  std::vector<std::shared_ptr<const void>> storage; // owns the bytes of both
};

using MappedFilePtr = std::shared_ptr<const MappedFile>;

// ELF libraries (Mach-O libraries: fit_macho_file): identified by build id; if that is not in the dump, by the
// addresses of their segments and the bytes that are in the dump.
FileFit fit_native_file(const Target &target, const Module &module, const MappedFilePtr &file);

// The same for Mach-O libraries, which are identified by UUID; of a universal file the slice with that UUID is taken.
FileFit fit_macho_file(const Target &target, const Module &module, const MappedFilePtr &file);

// Managed assemblies: identified by address and size of every mapped piece and the bytes of them in the dump. If the
// headers are in the dump, time stamp and size identify the file.
FileFit fit_managed_file(const Target &target, const Module &module, const MappedFilePtr &file);

// The assemblies inside a single-file program that the process mapped from it: identified like assemblies in files of
// their own. Build ids cannot identify a single-file program, as all programs with the same runtime have the same id.
FileFit fit_bundle(const Target &target, const Module &program, const MappedFilePtr &file);

// True if the module is a piece of that program's file after the program itself.
bool is_bundled_in(const Module &module, const Module &program);

// For a module, native or managed, with a loader record in the dump (Module::pe): identified by time stamp, size and
// GUID.
FileFit fit_pe_file(const Target &target, const Module &module, const MappedFilePtr &file);

// Returns the parts of a laid-out file that belong to the contract descriptor at that address. They are constant,
// though they may lie among variables.
std::vector<Range> descriptor_parts(const Memory &file, Address descriptor);

// The result of comparing a file's bytes with those of the dump at the same addresses.
struct Agreement {
  u64 compared = 0, equal = 0;
  bool whole() const { return compared == equal; }
};
// Compares at most `limit` bytes, from the start of each range on.
Agreement compare_known(const Memory &memory, std::span<const Range> parts, u64 limit);

} // namespace dnheap
