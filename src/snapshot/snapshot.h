// Snapshot: what an embedder opens and every analysis receives: a target with its module files laid under it, its
// runtime, its heap, and the results of passes, each worked out once and kept until part of the target's memory is lost
// (forget_lost_memory). Not for several threads at once; passes use SnapshotOptions::threads threads themselves.
// Functions throw Error when they cannot go on.
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

class LinuxProcess;
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
  std::vector<std::string> module_folders; // where to look for module files, besides the paths that the target names
  std::string temp_dir;                    // for decompressing; empty: see TemporaryFile
  unsigned threads = 0;                    // 0 = as many as there are processors
  bool pause = true;                       // of a live process: stop its threads while it is read
  u64 max_memory = 0;                      // that the copy of a live process may take; 0 = no limit
  std::optional<u32> runtime;              // which runtime, counted from 1, when a process has several
  bool record_reads = false;               // for extract_core(): see snapshot/extract.h
  RuntimeHints hints;
  Watch watch;
};

class Snapshot {
public:
  // Opens a dump. Cheap: maps the file and reads its headers; decompresses it if need be.
  static std::unique_ptr<Snapshot> open(const std::string &path, const SnapshotOptions &options = {});
  // Looks into a process that runs on this machine (Linux). It stands still from here on until release_process(), or
  // until the Snapshot goes away; as soon as the graph is asked for, all its memory is copied and it goes on. Should
  // the GC be at work, the process is let go and stopped again, for a few seconds at most. From then on use the
  // Snapshot from this thread only.
  static std::unique_ptr<Snapshot> attach(u64 pid, const SnapshotOptions &options = {});
  // For targets that were made otherwise (tests).
  Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options);
  ~Snapshot();

  const Target &target() const { return *target_; }
  const Watch &watch() const { return options_.watch; }
  const SnapshotOptions &options() const { return options_; }
  // Does a process wait for us?
  bool is_pausing() const;
  // Lets it go on. What was not read of it until then is unknown from now on.
  void release_process();
  // Which pages of a live process have memory, swapped out or not: as long as it waits, since what works on all of its
  // memory copies that and lets it go on. Reads 8 bytes per page that is mapped.
  void look_at_resident();
  // What that found, as [start, end) by address. Nullopt for dumps, and where nobody looked in time.
  const std::optional<std::vector<std::pair<Address, Address>>> &resident() const { return resident_; }
  // How long it stood still; nullopt for dumps, and without a pause.
  std::optional<double> pause_seconds() const;
  // Was any of the target's memory lost since it was mapped (base/host/mapping_faults.h)? Then nothing is worked out
  // any more: that would rest on bytes that were not there, and is an Error. What was worked out before is still sound.
  // A system call per mapped file.
  bool has_lost_memory() const;
  // If so, takes out what was lost, throws away all that was worked out, so that no reference to it may be used any
  // more, and begins again as after open(). on_sound_memory() calls this for whoever can ask again, as ask() (verb.h)
  // does. Throws Error when nothing is left, a file is another one by now, or a process ended while it was read.
  bool forget_lost_memory();
  unsigned threads() const { return options_.threads; }
  // The words of the target that were read so far, but by searches; null unless SnapshotOptions::record_reads.
  const ReadRecord *reads() const { return reads_.get(); }
  // Those that searches read (Memory::as_searched): candidates for this and that, most of which are something else.
  const ReadRecord *searches() const { return searches_.get(); }
  const ReadRecord *initial_reads() const { return initial_reads_.get(); }
  // How many rows of Target::provenance are of module files.
  u64 module_file_rows() const { return module_file_rows_; }

  // Works these out, and what they rest on, in the best order.
  void prepare(Passes passes);
  // Is the graph there already? Who can ask it or the heap's memory chooses by that.
  bool has_graph() const;
  // From now on these are expected to be worked out, and no others; at first all are.
  void foresee(Passes passes) { foreseen_ = passes; }
  // Of a dump without heap (Runtime::why_no_heap) nothing that rests on objects is worked out; that is an Error, unless
  // whoever asks says here that pieces of the heap will do.
  void accept_pieces_of_heap(bool accepts) { accepts_pieces_ = accepts; }
  // What had to be worked out all the same, for tests.
  Passes unforeseen() const { return unforeseen_; }

  // Of several the one that has a GC heap, with a note that names the others. Throws Error when there is none;
  // UsageError when more than one has a heap and SnapshotOptions::runtime does not choose.
  const Runtime &runtime();
  const Heap &heap();
  // Counts of all objects.
  const HeapTally &tally();
  // Counts of those that pass. Walks at every call; looks at objects one by one where the filter names them, at the
  // others where most are named.
  HeapTally tally(const ObjectFilter &filter);
  // Which addresses are objects, and their numbers. One walk gives this and tally(), if this is asked for first.
  const ObjectIndex &index();
  // How objects' references are read.
  const References &references();
  // Everything that keeps objects alive by itself, by name. What could not be read is in RootSet::problems.
  const RootSet &roots();
  // What the roots reach. Throws Error when there are no roots to begin with.
  const LiveObjects &live();
  // All references as arrays; gigabytes for large heaps. Those of RootSet::holders are left out.
  const ObjectGraph &graph();
  // What each object takes in the heap; worked out with the graph.
  ObjectSizes sizes();
  bool has_sizes() const;
  // Gives back their 4 bytes per object: of what is alive a dominator tree has them, too. Who asks for them again has
  // them read again, by a walk.
  void forget_sizes();
  // What the program has loaded, and whose it is. What could not be read of the list is left out.
  const std::vector<LoadedAssembly> &assemblies();
  // Who owns what its roots reach.
  const RootOwners &owners();
  // The roots as the graph's algorithms want them.
  const Owners &owned_roots();
  // What would be freed with what: some 4 s for 46 million objects.
  const DominatorTree &dominators();
  // What an analysis worked out of all this, and others want to find again: one of each type, kept like a pass. `make`
  // gives a shared pointer to it; it may ask for passes and for other kept ones.
  template <class T, class Make> std::shared_ptr<const T> kept(Make make) {
    const std::type_index type(typeid(T));
    if (std::shared_ptr<const void> known = find_kept(type))
      return std::static_pointer_cast<const T>(known);
    std::shared_ptr<const T> made = make();
    keep(type, made);
    return made;
  }

private:
  std::shared_ptr<const void> find_kept(std::type_index type) const;
  // Throws Error if part of the memory was lost meanwhile: what was made may be wrong then.
  void keep(std::type_index type, std::shared_ptr<const void> made);
  std::unique_ptr<Runtime> choose_runtime();
  std::string explain(const std::string &error) const;
  void add_note(const std::string &note);
  void copy_process();
  void require_heap();
  template <class Make> auto made_of_sound_memory(Make make);
  template <class Make> auto work_out(Pass pass, Make make);

  std::unique_ptr<ReadRecord> reads_, searches_, initial_reads_; // outlive the target
  std::unique_ptr<LinuxProcess> process_;                        // null: a dump
  std::optional<std::vector<std::pair<Address, Address>>> resident_;
  std::unique_ptr<Target> target_;
  SnapshotOptions options_;
  u64 module_file_rows_ = 0;
  bool accepts_pieces_ = false;
  Passes foreseen_ = all_passes, unforeseen_;

  struct Results;
  std::unique_ptr<Results> results_;
};

// What `use` gives for the snapshot. If part of its memory was lost meanwhile, that, or the error, is thrown away, and
// `use` is called again; four times, then it is an Error. What `use` gives may refer to the snapshot's results.
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
