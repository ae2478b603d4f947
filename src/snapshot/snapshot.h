// Snapshot: the open target that every analysis receives: a target with its module files laid under it, its runtime,
// its heap, and the results of passes. Each result is computed once and kept until part of the target's memory is lost
// (forget_lost_memory). Code with a const Snapshot asks for results. Code that may change it decides which passes are
// expected (foresee()), and when results are freed. Asking for a pass that is not expected is an error in dnheap:
// builds with _GLIBCXX_ASSERTIONS throw std::logic_error, all others compute the pass. Not for several threads at once;
// passes use SnapshotOptions::threads threads themselves. Functions throw Error when they cannot go on.
#pragma once
#include "algorithms/object_sizes.h"
#include "base/watch.h"
#include "heap/tally.h"
#include "runtime/hints.h"
#include "runtime/runtime.h"
#include "snapshot/pass.h"
#include "target/target.h"

#include <memory>
#include <string>
#include <typeindex>
#include <vector>

namespace dnheap {

class AttachedProcess;
class ObjectIndex;
class References;
class ObjectGraph;
class ObjectSizeColumn;
struct RootSet;
struct RootOwners;
struct Owners;
class DominatorTree;
struct LiveObjects;

struct SnapshotOptions {
  std::vector<std::string> module_folders; // searched for module files before the target's own paths
  std::string temp_dir;                    // for decompressing; empty: see TemporaryFile
  unsigned threads = 0;                    // 0 = one per processor
  bool pause = true;                       // for a live process: stop its threads while it is read
  u64 max_memory = 0;                      // limit for the copy of a live process; 0 = none
  std::optional<u32> runtime;              // the runtime to use, counted from 1, if a process has several
  bool record_reads = false;               // for extract_core(): see snapshot/extract.h
  bool standard_input = false;             // the path "-" is the dump that standard input holds
  bool by_port = false;                    // a live process's GC lists the objects over the diagnostics port
  RuntimeHints hints;
  Watch watch;
};

class Snapshot {
public:
  // Opens a dump. Cheap: maps the file and reads its headers; decompresses it if necessary.
  static std::unique_ptr<Snapshot> open(const std::string &path, const SnapshotOptions &options = {});
  // Attaches to a process on this machine (Linux). The process stands still until AttachedProcess::release(), or until
  // the Snapshot is destroyed. As soon as the objects' numbers are asked for (index), all its memory is copied and it
  // goes on. If the GC is at work, the process is released and stopped again, for a few seconds at most. From then on
  // use the Snapshot from this thread only. With options.by_port the process makes a full collection instead, lists its
  // objects, and goes on before this returns; nothing is attached.
  static std::unique_ptr<Snapshot> attach(u64 pid, const SnapshotOptions &options = {});
  // Attaches to a process that stands still only while its registers, the used ends of its stacks, and the memory in
  // `needed` are copied. The rest is read later, as it is then: for questions about stacks.
  static std::unique_ptr<Snapshot> attach_briefly(u64 pid, const SnapshotOptions &options,
                                                  std::span<const std::pair<Address, Address>> needed);
  // For targets made in other ways (tests).
  Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options);
  ~Snapshot();

  const Target &target() const { return *target_; }
  const Watch &watch() const { return options_.watch; }
  const SnapshotOptions &options() const { return options_; }
  // Returns the running process that this reads; null for a dump.
  AttachedProcess *process() { return process_.get(); }
  const AttachedProcess *process() const { return process_.get(); }
  // True if any of the target's memory was lost since it was mapped (base/host/mapping_faults.h). Passes throw Error
  // then, since their results would depend on lost bytes; earlier results are still valid. A system call per mapped
  // file.
  bool has_lost_memory() const;
  // If memory was lost, takes it out, throws away all results (references to them become invalid), and begins again as
  // after open(). on_sound_memory() calls this for callers that can ask again, as ask() (verb.h) does. Throws Error if
  // nothing is left, if a file has been replaced, or if a process ended while it was read.
  bool forget_lost_memory();
  unsigned threads() const { return options_.threads; }
  // Returns the target's words read so far, except by searches; null unless SnapshotOptions::record_reads.
  const ReadRecord *reads() const { return reads_.get(); }
  // Returns the words read by searches (Memory::as_searched), which try many candidates, most of them wrong.
  const ReadRecord *searches() const { return searches_.get(); }
  const ReadRecord *initial_reads() const { return initial_reads_.get(); }
  // Returns how many rows of Target::provenance are about module files.
  u64 module_file_rows() const { return module_file_rows_; }

  // Sets the folders in which symbols are searched for, besides inside modules and beside them.
  void search_symbols_in(std::vector<std::string> folders) { symbol_folders_ = std::move(folders); }
  const std::vector<std::string> &symbol_folders() const { return symbol_folders_; }

  // Computes these passes and all that they depend on, in the best order.
  void prepare(Passes passes);
  // True if the graph exists already. Callers that can use either the graph or the heap's memory choose by this.
  bool has_graph() const;
  // Sets the passes expected from now on; at first all are expected.
  void foresee(Passes passes) { foreseen_ = passes; }
  // For a dump without heap (Runtime::why_no_heap), passes over objects throw Error, unless the caller states here that
  // pieces of the heap suffice.
  void accept_pieces_of_heap(bool accepts) { accepts_pieces_ = accepts; }
  // With several runtimes, returns the one that has a GC heap, with a note that names the others. Throws Error if none
  // has; UsageError if more than one has and SnapshotOptions::runtime does not choose.
  const Runtime &runtime() const;
  const Heap &heap() const;
  // Returns counts of all objects.
  const HeapTally &tally() const;
  // Returns counts of the objects that pass. Walks at every call. If the filter names objects, it reads only these, or
  // only the others if most are named.
  HeapTally tally(const ObjectFilter &filter) const;
  // Returns which addresses are objects, and their numbers. If this is asked for first, one walk computes this and
  // tally().
  const ObjectIndex &index() const;
  // Returns how objects' references are read.
  const References &references() const;
  // Returns the roots, with their names. RootSet::notes says what could not be read.
  const RootSet &roots() const;
  // Returns the objects that roots reach. Throws Error if no roots were found.
  const LiveObjects &live() const;
  // Returns all references as arrays; gigabytes for large heaps. References of RootSet::holders are left out.
  const ObjectGraph &graph() const;
  // Returns the size of each object in the heap; computed with the graph.
  ObjectSizes sizes() const;
  bool has_sizes() const;
  // Frees the sizes, 4 bytes per object: a dominator tree has the sizes of reachable objects, too. If sizes() is called
  // again, a walk reads the sizes again.
  void forget_sizes();
  // Returns the loaded assemblies, and their owners. Leaves out those that could not be read.
  const std::vector<LoadedAssembly> &assemblies() const;
  // Returns the owners of the objects that the roots reach.
  const RootOwners &owners() const;
  // Returns the roots in the form that graph algorithms take.
  const Owners &owned_roots() const;
  // Returns the dominator tree: some 4 s for 46 million objects.
  const DominatorTree &dominators() const;
  // Returns a value that an analysis computed from all this and that others reuse: one of each type, kept like a pass.
  // `make` returns a shared pointer to it; it may ask for passes and for other kept values.
  template <class T, class Make> std::shared_ptr<const T> kept(Make make) const {
    const std::type_index type(typeid(T));
    if (std::shared_ptr<const void> known = find_kept(type))
      return std::static_pointer_cast<const T>(known);
    std::shared_ptr<const T> made = make();
    keep(type, made);
    return made;
  }

private:
  std::shared_ptr<const void> find_kept(std::type_index type) const;
  // Throws Error if part of the memory was lost meanwhile, as the new value may be wrong then.
  void keep(std::type_index type, std::shared_ptr<const void> made) const;
  std::string explain(const std::string &error) const;
  void add_note(const std::string &note);
  void require_heap() const;
  template <class Make> auto made_of_sound_memory(Make make) const;
  template <class Make> auto work_out(Pass pass, Make make) const;

  std::unique_ptr<ReadRecord> reads_, searches_, initial_reads_; // outlive the target
  std::unique_ptr<AttachedProcess> process_;                     // null: a dump
  std::unique_ptr<Target> target_;
  SnapshotOptions options_;
  u64 module_file_rows_ = 0;
  std::vector<std::string> symbol_folders_;
  bool accepts_pieces_ = false;
  Passes foreseen_ = all_passes;

  struct Results;
  std::unique_ptr<Results> results_;
};

// Returns what `use` returns for the snapshot. If part of its memory was lost meanwhile, discards the result or error
// and calls `use` again; after four tries it is an Error. The result of `use` may refer to the snapshot's results.
template <class Use> auto on_sound_memory(Snapshot &snapshot, Use use) {
  constexpr int most_tries = 4;
  for (int tries = 0; tries < most_tries; ++tries) {
    try {
      auto out = use(snapshot);
      if (!snapshot.forget_lost_memory())
        return out;
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &) {
      if (!snapshot.forget_lost_memory())
        throw;
    }
  }
  throw Error(snapshot.target().path + ": more and more of it cannot be read; copy it to a sound disk first");
}

} // namespace dnheap
