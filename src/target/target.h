// Target: one process seen from outside, whatever it was opened from: memory, format, modules, threads, and the source
// of each part. Openers (dump/) fill it; nothing above depends on the container.
#pragma once
#include "base/notes.h"
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

// A mapped piece of a file: [start, end) shows the file from `file_offset` on.
struct Extent {
  Address start = 0, end = 0;
  u64 file_offset = 0;
};

// Distinguishes Windows images of the same name, as recorded by the process's loader.
struct PeIdentity {
  u32 time_date_stamp = 0, size_of_image = 0;
  std::optional<std::array<u8, 16>> guid = {};         // from its CodeView record: identifies its .pdb
  std::optional<std::array<u16, 4>> file_version = {}; // 10.0.1426.52326
};

// Returns "libcoreclr.so" for "/usr/share/…/libcoreclr.so"; understands both kinds of slash.
std::string_view name_in_path(std::string_view path);

// A file mapped into the process: native library, program, managed assembly, data.
struct Module {
  std::string path;            // as named by the target
  Address base = 0;            // lowest extent
  std::vector<Extent> extents; // sorted by start
  // Some of its bytes come from a file that could not be identified beyond doubt: readers must check them against the
  // process's own data about the module.
  bool inferred = false;
  std::optional<PeIdentity> pe = {}; // if the container has it
  Address end() const { return extents.empty() ? base : extents.back().end; }
  std::string_view file_name() const { return name_in_path(path); }
};

struct Thread {
  u64 id = 0; // the operating system's number
  Address instruction_pointer = 0, stack_pointer = 0;
  std::vector<u64> registers; // general registers, in the order of the container's record
};

// A range that the container promises but has no bytes for, and why: explains gaps later.
struct AbsentRange {
  Address start = 0, end = 0;
  std::string reason;
};

// One line of `info`: a module file that was searched for, and the result.
struct Provenance {
  enum class Outcome : u8 { used, rejected, missing };
  std::string module; // path as named by the target
  std::string file;   // file examined; empty if none was found
  Outcome outcome = Outcome::missing;
  std::string identity; // how the file was identified, if it is used: "build id", "time stamp and size", "inferred"
  std::string reason;   // "build id 4f…: 15.6 MiB that the dump lacks", "build id 12… is not the core's 4f…"
};

// The reason for the dump according to the container: a signal that ends processes or, on Windows, an exception.
struct CrashSignal {
  u64 thread = 0; // the thread that got it, as Thread::id
  u32 number = 0; // the signal, or the exception's code
  // si_code, which says why. For an access violation on Windows the kind of access: 0 read, 1 write, 8 execute.
  std::optional<i32> code = {};
  u32 sender = 0;                      // the process that sent the signal; 0: none did, or it is unknown
  std::optional<Address> address = {}; // the address that could not be accessed; else the instruction's
};

// An extracted core's (dump/extracted.h) statement about itself.
struct Extraction {
  std::string from;            // file name of the dump
  bool values_blanked = false; // strings, numbers and the like are zeros
};

// The time at which the process was in the state that the target shows.
struct TakenAt {
  // dump: the dump states it; file: the file's modification time, which copying changes; now: a live process.
  enum class Clock : u8 { dump, file, now };
  u64 seconds = 0; // since 1970, UTC
  Clock clock = Clock::dump;
  // The same moment in milliseconds since the system's start, on the clock of the process's own counts of ticks.
  // Nullopt: unknown, as for all dumps.
  std::optional<u64> ticks = {};
};
const char *name_of(TakenAt::Clock clock); // "dump", "file", "now"

struct HeapRecord;

// What the system has written down about a process beside its core.
struct CoreRecord {
  bool by_attributes = false;      // false: by the file's name
  std::optional<u64> seconds = {}; // when the process ended, since 1970, UTC
  std::optional<u64> pid = {}, user = {}, signal = {};
  std::string name = {}, executable = {}, host = {}; // empty: unknown; `name`: of the process, or of its thread
};

struct Target {
  // True if contents of objects are zeros: the core was extracted in that way, or nothing but a listing of objects was
  // opened.
  bool has_blanked_values() const { return record || (extraction && extraction->values_blanked); }

  // Why there are no contents of objects, in words: "this core was extracted with --no-values". Empty: there are.
  std::string why_no_values() const;

  std::string path;       // as the user named it
  bool is_stream = false; // it came through standard input: no command can name it again
  std::string container;  // "elf-core", "minidump", "gcdump", "process"
  std::string dump_kind;  // from the container, may be empty: the writer of an ELF core, the kind of a minidump
  OperatingSystem os = OperatingSystem::unknown;
  Architecture architecture = Architecture::unknown;
  u64 pid = 0;           // 0 = unknown
  std::string file_root; // live process: the folder that it sees as "/"; else empty
  std::string program;   // command line or program name, if known
  Memory memory;
  // Initial contents of writable memory, from the module files that the target needed; never part of `memory`. Only for
  // places that are known never to be written to.
  Memory initial;
  std::vector<Module> modules; // sorted by base
  std::vector<Thread> threads;
  std::optional<TakenAt> taken;     // nullopt: unknown
  std::optional<CrashSignal> crash; // nullopt: the process was still running, or the container does not say
  std::map<u64, u64> auxv;          // ELF auxiliary vector, empty elsewhere
  std::vector<AbsentRange> absent;
  // The mapped stretches, as far as the container lists them; sorted by start. Mappings of files that were never
  // written may be in `modules` only. Empty: the container has only ranges of bytes.
  std::vector<Mapping> mappings;
  std::vector<Provenance> provenance;
  std::string advice; // what to do if the target is unreadable, if the opener knows
  // Oddities found by the opener: "truncated: 3 of 40 segments end beyond the file". A note here has an effect only if
  // bytes may be silently wrong; missing bytes get a note where they are needed.
  Notes notes;
  std::optional<Extraction> extraction; // everything above describes the original dump
  // If the source is no memory, but a listing of the heap: `memory` is made of it, and holds references alone.
  std::shared_ptr<const HeapRecord> record;
  std::vector<std::shared_ptr<const void>> storage; // keeps the bytes behind `memory` alive
  std::optional<CoreRecord> stored;                 // nullopt: the system has stored no record
  // If the user named a folder: that one, where module files are searched for, too, but no link out of it is followed.
  std::string folder;

  Format format() const { return memory.format(); }
  const Module *find_module(Address address) const;
};

} // namespace dnheap
