// Snapshot: what an embedder opens: the dump of a .NET process, or a live one. All else is asked of it, built when it
// is first asked for, and kept as long as the Snapshot. Not for several threads at once: it, and what it hands out,
// belongs to one thread at a time; passes over the heap use OpenOptions::threads threads themselves. Every function may
// throw Error (dnheap/error.h) and std::bad_alloc.
#pragma once
#include "dnheap/error.h"
#include "dnheap/graph.h"

#include <memory>

namespace dnheap::DNHEAP_ABI {

struct PassTime {
  std::string name = {}; // "walk", "dominators", …
  double seconds = 0;
  std::uint64_t bytes = 0; // read by the pass; 0 where that says nothing
};

// How far a long pass is, and the way to stop it. now() and cancel() may be called from any thread, cancel() from
// signal handlers, too; times() from the thread that drives the passes. Must outlive whatever it was given to.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  struct Now {
    const char *pass = nullptr;        // null: none runs
    std::uint64_t done = 0, total = 0; // in bytes of the pass; a total of 0: not known
    std::uint64_t objects = 0;         // seen so far, where the pass sees objects
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
  std::vector<std::string> module_folders = {}; // where to look for module files, besides the paths that the dump names
  std::string temp_dir = {};                    // for decompressing; empty: $TMPDIR, /var/tmp, /tmp
  unsigned threads = 0;                         // 0 = as many as there are processors
  std::uint64_t max_memory = 0;                 // that the copy of a live process may take; 0 = no limit
  bool pause = true;                            // of a live process: stop its threads while it is read
  std::optional<std::uint32_t> runtime = {};    // which runtime, counted from 1, when a process has several
  bool record_reads = false;                    // for the verb `extract`
  Progress *progress = nullptr;
};

// What was opened, and how it was understood.
struct TargetInfo {
  std::string path = {};             // as it was named
  std::string container = {};        // "elf-core", "minidump", "process"
  std::string operating_system = {}; // "linux"
  std::string architecture = {};     // "x64"
  unsigned pointer_size = 8;
  std::uint64_t pid = 0;            // 0 = unknown
  std::string runtime = {};         // "coreclr", "nativeaot", "corert"
  std::string runtime_version = {}; // "10.0.14"; empty: not known
  bool server_gc = false, regions = false;
  std::uint32_t gc_heaps = 1;
  std::vector<std::string> notes = {}; // what was odd
};

class Snapshot {
public:
  // Cheap: maps the file and reads its headers; decompresses it if need be.
  static Snapshot open(const std::string &path, const OpenOptions &options = {});
  // Looks into a process that runs on this machine (Linux). It stands still from here on until release_process(), or
  // until the Snapshot goes away; as soon as objects are asked for by address or number, all its memory is copied and
  // it goes on.
  static Snapshot attach(std::uint64_t pid, const OpenOptions &options = {});
  Snapshot(Snapshot &&) noexcept;
  Snapshot &operator=(Snapshot &&) noexcept;
  ~Snapshot();

  // Of several runtimes the one that has a GC heap. Throws Error when there is none, UsageError when more than one has
  // a heap and OpenOptions::runtime does not choose.
  TargetInfo info() const;
  Heap heap() const;
  Roots roots() const;
  // Throws Error when there are no roots to begin with.
  Liveness liveness() const;
  Graph graph() const;

  // The object that begins at the address, or the one that it points into; nothing: neither.
  std::optional<Object> find_object(Address address) const;
  // The same; throws NotFound that says what lies there instead.
  Object object(Address address) const;
  Type type(TypeId id) const; // of one below type_count()
  std::uint32_t type_count() const;
  // The types that a name means: a full name, or one as C# writes it: "byte[]", "List<Timer>". May be none, or several.
  std::vector<Type> types_called(const std::string &name) const;

  // The target's memory from an address on; returns how many bytes were there to be copied.
  std::uint64_t read(Address address, std::span<std::byte> out) const;

  // Of a live process: does it wait for us?
  bool is_pausing() const;
  // Lets it go on. What was not read of it until then is unknown from now on.
  void release_process();
  // How long it stood still; nothing for dumps, and without a pause.
  std::optional<double> pause_seconds() const;

private:
  friend class State;
  explicit Snapshot(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace dnheap::DNHEAP_ABI
