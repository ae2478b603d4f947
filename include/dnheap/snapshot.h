// Snapshot: the dump of a .NET process, or a live process, that an embedder has opened. Everything else is asked of it,
// is computed at first use, and stays valid as long as the Snapshot. Not for several threads at once: the Snapshot and
// everything it returns belong to one thread at a time; passes over the heap use OpenOptions::threads threads
// themselves. Every function may throw Error (dnheap/error.h) and std::bad_alloc.
#pragma once
#include "dnheap/error.h"
#include "dnheap/graph.h"

#include <memory>

namespace dnheap::DNHEAP_ABI {

struct PassTime {
  std::string name = {}; // "walk", "dominators", …
  double seconds = 0;
  std::uint64_t bytes = 0; // bytes read by the pass; 0 if not meaningful
};

// Shows how far a long pass is, and stops it. now() and cancel() may be called from any thread, cancel() also from
// signal handlers; times() only from the thread that drives the passes. Must outlive everything it was given to.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  struct Now {
    const char *pass = nullptr;        // null: none runs
    std::uint64_t done = 0, total = 0; // in bytes of the pass; total 0: unknown
    std::uint64_t objects = 0;         // objects seen so far, if the pass sees objects
    bool is_cancelled = false;
  };
  Now now() const noexcept;
  void cancel() noexcept; // passes then throw Interrupted
  std::vector<PassTime> times() const;

private:
  friend class State;
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

struct OpenOptions {
  std::vector<std::string> module_folders = {}; // searched for module files, in addition to the dump's paths
  std::string temp_dir = {};                    // for decompressing; empty: $TMPDIR, /var/tmp, /tmp
  unsigned threads = 0;                         // 0 = one per processor
  std::uint64_t max_memory = 0;                 // limit for the copy of a live process; 0 = none
  bool pause = true;                            // for a live process: stop its threads while it is read
  std::optional<std::uint32_t> runtime = {};    // the runtime to use, counted from 1, if a process has several
  bool record_reads = false;                    // for the verb `extract`
  bool standard_input = false;                  // "-" as a path is the dump that standard input holds
  bool by_port = false; // a live process's GC lists the objects over the diagnostics port, after a full collection
  Progress *progress = nullptr;
};

// Describes what was opened, and how it was interpreted.
struct TargetInfo {
  std::string path = {};             // as the caller named it
  std::string container = {};        // "elf-core", "macho-core", "minidump", "gcdump", "process"
  std::string operating_system = {}; // "linux"
  std::string architecture = {};     // "x64"
  unsigned pointer_size = 8;
  std::uint64_t pid = 0;            // 0 = unknown
  std::string runtime = {};         // "coreclr", "nativeaot", "corert"
  std::string runtime_version = {}; // "10.0.14"; empty: unknown
  bool server_gc = false, regions = false;
  std::uint32_t gc_heaps = 1;
  std::vector<Note> notes = {}; // what is odd about it
};

class Snapshot {
public:
  // Cheap: maps the file and reads its headers; decompresses it if necessary. A folder with one dump, whole or in
  // numbered parts, is searched for module files, too.
  static Snapshot open(const std::string &path, const OpenOptions &options = {});
  // Attaches to a process on this machine (Linux, Windows). The process stands still until release_process(), or until
  // the Snapshot is destroyed. As soon as objects are asked for by address or number, all its memory is copied, and the
  // process goes on.
  // With OpenOptions::by_port no tracer stops it, and nothing is copied: its GC lists objects, types and roots;
  // contents of objects and threads are unknown then.
  static Snapshot attach(std::uint64_t pid, const OpenOptions &options = {});
  Snapshot(Snapshot &&) noexcept;
  Snapshot &operator=(Snapshot &&) noexcept;
  ~Snapshot();

  // With several runtimes, uses the one that has a GC heap. Throws Error if none has, UsageError if more than one has
  // and OpenOptions::runtime does not choose.
  TargetInfo info() const;
  Heap heap() const;
  Roots roots() const;
  // Throws Error if no roots were found.
  Liveness liveness() const;
  Graph graph() const;

  // Returns the object that begins at the address, or the one that it points into; nullopt: neither.
  std::optional<Object> find_object(Address address) const;
  // The same, but throws NotFound that says what lies there instead.
  Object object(Address address) const;
  Type type(TypeId id) const; // `id` must be below type_count()
  std::uint32_t type_count() const;
  // Returns the types with that name: a full name, or one as C# writes it: "byte[]", "List<Timer>". May be none, or
  // several.
  std::vector<Type> types_called(const std::string &name) const;

  // Copies the target's memory from an address on; returns how many bytes could be copied.
  std::uint64_t read(Address address, std::span<std::byte> out) const;

  // True if a live process stands still until we release it.
  bool is_pausing() const;
  // Lets the process go on. Memory that was not read before is unknown from now on.
  void release_process();
  // Returns how long the process stood still; nullopt for dumps, and if it was not stopped.
  std::optional<double> pause_seconds() const;

private:
  friend class State;
  explicit Snapshot(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace dnheap::DNHEAP_ABI
