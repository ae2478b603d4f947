// Target: one process seen from outside, whatever it came from: memory, format, modules, threads, and the record of
// where each part came from. Openers (dump/) fill it; nothing above knows which container it was.
#pragma once
#include "target/mapping.h"
#include "target/memory.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dnheap {

enum class Architecture : u8 { unknown, x64, x86, arm64, arm, riscv64, loongarch64, s390x, ppc64 };
enum class OperatingSystem : u8 { unknown, linux_os, windows, macos };

const char *name_of(Architecture architecture); // "x64"
const char *name_of(OperatingSystem os);        // "linux"

// A piece of a file that was mapped: [start, end) shows the file from `file_offset` on.
struct Extent {
  Address start = 0, end = 0;
  u64 file_offset = 0;
};

// What tells a Windows image from another of the same name, as the process's loader recorded it.
struct PeIdentity {
  u32 time_date_stamp = 0, size_of_image = 0;
  std::optional<std::array<u8, 16>> guid = {};         // of its CodeView record: which .pdb belongs to it
  std::optional<std::array<u16, 4>> file_version = {}; // 10.0.1426.52326
};

// A file that was mapped into the process: native library, program, managed assembly, data.
struct Module {
  std::string path;            // as the target named it
  Address base = 0;            // lowest extent
  std::vector<Extent> extents; // sorted by start
  // Part of its bytes come from a file that nothing in the dump names beyond doubt: whoever reads them has to check
  // them against what the process says of the module.
  bool inferred = false;
  std::optional<PeIdentity> pe = {}; // where the container has it
  Address end() const { return extents.empty() ? base : extents.back().end; }
  // "libcoreclr.so" of "/usr/share/…/libcoreclr.so"; understands both kinds of slash.
  std::string_view file_name() const;
};

struct Thread {
  u64 id = 0; // as the operating system numbers it
  Address instruction_pointer = 0, stack_pointer = 0;
  std::vector<u64> registers; // general registers in the order of the container's record
};

// What is promised by the container but has no bytes, and why: explains gaps later.
struct AbsentRange {
  Address start = 0, end = 0;
  std::string reason;
};

// One line of `info`: a module file that was looked for, and what came of it.
struct Provenance {
  enum class Outcome : u8 { used, rejected, missing };
  std::string module; // path as the target named it
  std::string file;   // file examined; empty if none was found
  Outcome outcome = Outcome::missing;
  std::string identity; // of a used one: what it was told by: "build id", "time stamp and size", "inferred"
  std::string reason;   // "build id 4f…: 15.6 MiB that the dump lacks", "build id 12… is not the core's 4f…"
};

// What the container says that the process was dumped for: a signal that ends processes or, of Windows, an exception.
struct CrashSignal {
  u64 thread = 0; // that got it, as Thread::id
  u32 number = 0; // of the signal; the exception's code
  // si_code, which says why; of an access violation of Windows what was tried: 0 reading, 1 writing, 8 running it.
  std::optional<i32> code = {};
  std::optional<Address> address = {}; // that could not be accessed; else of the instruction
};

// What an extracted core (dump/extracted.h) says of itself.
struct Extraction {
  std::string from;            // file name of the dump
  bool values_blanked = false; // strings, numbers and the like are zeros
};

// When the process was as it is here.
struct TakenAt {
  enum class Clock : u8 { dump, file, now }; // the dump says so; when its file was written last, which copying changes
  u64 seconds = 0;                           // since 1970, UTC
  Clock clock = Clock::dump;
};
const char *name_of(TakenAt::Clock clock); // "dump", "file", "now"

struct Target {
  // Contents of objects are zeros, as the core was extracted so.
  bool has_blanked_values() const { return extraction && extraction->values_blanked; }

  std::string path;      // what the user named
  std::string container; // "elf-core", "minidump", "macho-core", "process"
  std::string
      dump_kind; // what the container says of itself, or empty: who wrote an ELF core, of what kind a minidump is
  OperatingSystem os = OperatingSystem::unknown;
  Architecture architecture = Architecture::unknown;
  u64 pid = 0;           // 0 = unknown
  std::string file_root; // of a live process: the folder that it sees as "/"; else empty
  std::string program;   // command line or program name, where known
  Memory memory;
  // What writable memory held at first, by the module files that the target needed: never part of `memory`. For those
  // who know that a place is never written to.
  Memory initial;
  std::vector<Module> modules; // sorted by base
  std::vector<Thread> threads;
  std::optional<TakenAt> taken;     // nothing: nobody knows
  std::optional<CrashSignal> crash; // nothing: it went on, or the container does not say
  std::map<u64, u64> auxv;          // ELF auxiliary vector, empty elsewhere
  std::vector<AbsentRange> absent;
  // What was mapped, as far as the container tells; sorted by start. Files' mappings of which nothing was written may
  // be in `modules` only. Empty: the container has ranges of bytes, and says no more.
  std::vector<Mapping> mappings;
  std::vector<Provenance> provenance;
  bool is_doubtful = false;             // some bytes may be wrong without showing it: no answer is complete
  std::string advice;                   // what to do when the target proves unreadable, where the opener knows
  std::vector<std::string> notes;       // what the opener found odd: "truncated: 3 of 40 segments end beyond the file"
  std::optional<Extraction> extraction; // all of the above is of the dump that it was extracted from
  std::vector<std::shared_ptr<const void>> storage; // keeps the bytes behind `memory` alive

  Format format() const { return memory.format(); }
  const Module *find_module(Address address) const;
};

} // namespace dnheap
