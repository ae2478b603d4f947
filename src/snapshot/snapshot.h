// Snapshot: what an embedder opens and every analysis receives: a target with its module files laid under it, its
// runtime, its heap, and the results of walks, each built on first use and kept. Not for several threads at once; walks
// use SnapshotOptions::threads threads themselves. Functions throw Error when they cannot go on.
#pragma once
#include "base/watch.h"
#include "heap/tally.h"
#include "runtime/hints.h"
#include "runtime/runtime.h"
#include "target/target.h"

#include <memory>
#include <string>
#include <vector>

namespace dnheap {

class LinuxProcess;
class ObjectIndex;
class References;
class ObjectGraph;
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
  // How long it stood still; nullopt for dumps, and without a pause.
  std::optional<double> pause_seconds() const;
  // Takes out of the target's memory what was lost of its files since it was mapped (base/mapping_faults.h). True: it
  // was something new, and runtime(), heap() and tally() will be built again. Those of before stay valid as long as the
  // Snapshot, but rest on bytes that were not there. Each of the three does this itself when it builds something;
  // whoever reads more than that asks when done, and if it is true, starts again. Throws Error when nothing is left.
  bool forget_lost_memory();
  // How often that was so.
  u64 times_rebuilt() const { return outdated_.size(); }
  unsigned threads() const { return options_.threads; }
  // What was read of the target so far; null unless SnapshotOptions::record_reads.
  const ReadRecord *reads() const { return reads_.get(); }
  const ReadRecord *initial_reads() const { return initial_reads_.get(); }
  // How many rows of Target::provenance are of module files.
  u64 module_file_rows() const { return module_file_rows_; }

  // Of several the one that has a GC heap, with a note that names the others. Throws Error when there is none, or not
  // enough of it in the dump; UsageError when more than one has a heap and SnapshotOptions::runtime does not choose.
  const Runtime &runtime();
  const Heap &heap();
  // Counts of all objects.
  const HeapTally &tally();
  // Counts of those that pass. Walks at every call.
  HeapTally tally(const ObjectFilter &filter);
  // Which addresses are objects, and their numbers. Whoever needs this and tally() asks for this first: one walk gives
  // both.
  const ObjectIndex &index();
  // How objects' references are read.
  const References &references();
  // Everything that keeps objects alive by itself, by name. What could not be read is in RootSet::problems.
  const RootSet &roots();
  // What the roots reach. Throws Error when there are no roots to begin with.
  const LiveObjects &live();
  // All references as arrays; gigabytes for large heaps. Those of RootSet::holders are left out.
  const ObjectGraph &graph();
  // Who owns what its roots reach.
  const RootOwners &owners();
  // The roots as the graph's algorithms want them.
  const Owners &owned_roots();
  // What would be freed with what: some 10 s for 46 million objects.
  const DominatorTree &dominators();

private:
  struct Built; // from the target's memory

  // Calls `build` until nothing was lost while it ran. Builds ask for what they rest on, which is built within them: of
  // these only the outermost looks for losses, so that nothing is exchanged beneath another one, and what was built
  // within it goes with it.
  template <class Build> void build_on_sound_memory(Build build);
  std::unique_ptr<Runtime> choose_runtime();
  std::string explain(const std::string &error) const;
  void add_note(const std::string &note);
  void copy_process();

  std::unique_ptr<ReadRecord> reads_, initial_reads_; // outlive the target
  std::unique_ptr<LinuxProcess> process_;             // null: a dump
  std::unique_ptr<Target> target_;
  SnapshotOptions options_;
  u64 module_file_rows_ = 0;
  std::unique_ptr<Built> built_;
  std::vector<std::unique_ptr<Built>> outdated_; // references to these may still be held
  bool is_building_ = false;
};

} // namespace dnheap
