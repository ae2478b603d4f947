#include "snapshot/snapshot.h"

#include "algorithms/dominator_tree.h"
#include "base/host.h"
#include "base/mapping_faults.h"
#include "base/process.h"
#include "base/text.h"
#include "dump/linux_process.h"
#include "dump/open.h"
#include "objects/live.h"
#include "objects/object_finder.h"
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "runtime/find.h"
#include "snapshot/debug_file.h"
#include "snapshot/module_files.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace dnheap {

namespace {

// A file that fails again and again is given up.
constexpr int most_tries = 4;
// Of one process: no real one has more than two or three.
constexpr std::size_t most_runtimes = 64;

// The host of .NET looks for the runtime and loads it.
std::string host_alone(const Target &target) {
  for (const Module &module : target.modules)
    for (const char *name : {"libhostfxr.so", "libhostpolicy.so", "hostfxr.dll", "hostpolicy.dll"})
      if (module.file_name() == name)
        return "; " + std::string(name) + " is there: the dump was taken before the process had loaded a runtime";
  return "";
}

} // namespace

struct Snapshot::Built {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Heap> heap;
  std::unique_ptr<HeapTally> tally;
  std::unique_ptr<ObjectIndex> index;
  std::unique_ptr<RootSet> roots;
  std::unique_ptr<References> references;
  std::unique_ptr<LiveObjects> live;
  std::unique_ptr<ObjectGraph> graph;
  std::unique_ptr<RootOwners> owners;
  std::vector<OwnedRoot> owned; // what owned_roots points at
  std::unique_ptr<Owners> owned_roots;
  std::unique_ptr<DominatorTree> dominators;
};

Snapshot::~Snapshot() = default;

std::unique_ptr<Snapshot> Snapshot::open(const std::string &path, const SnapshotOptions &options) {
  OpenOptions open_options;
  open_options.temp_dir = options.temp_dir;
  for (int tries = 1;; ++tries) {
    u64 losses = count_losses(), lost_before = find_lost_bytes().size();
    std::unique_ptr<Snapshot> out;
    try {
      out = std::make_unique<Snapshot>(open_dump(path, open_options, options.watch), options);
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &) {
      if (count_losses() == losses || tries == most_tries)
        throw;
      continue;
    }
    std::vector<LostBytes> lost = find_lost_bytes();
    if (lost.size() == lost_before)
      return out;
    // What was read from headers and module files may be wrong. A file that was cut is opened again as it is now.
    if (tries < most_tries)
      continue;
    for (const LostBytes &l : lost)
      out->add_note(l.reason);
    out->forget_lost_memory();
    return out;
  }
}

std::unique_ptr<Snapshot> Snapshot::attach(u64 pid, const SnapshotOptions &options) {
  constexpr int most_attempts = 10;
  constexpr auto longest_wait = std::chrono::seconds(5);
  const auto begin = std::chrono::steady_clock::now();
  for (int attempt = 1;; ++attempt) {
    auto process =
        std::make_unique<LinuxProcess>(pid, LinuxProcessOptions{options.pause, options.temp_dir, options.watch});
    auto out = std::make_unique<Snapshot>(process->take_target(), options);
    out->process_ = std::move(process);
    std::vector<std::string> problems;
    if (!options.pause || out->runtime().gc_structures_valid(problems) != false)
      return out;
    if (attempt == most_attempts || std::chrono::steady_clock::now() - begin > longest_wait) {
      out->add_note("the GC was changing the heap whenever the process was stopped, " + std::to_string(attempt) +
                    " times");
      return out;
    }
    out.reset(); // the process goes on
    options.watch.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * attempt));
  }
}

bool Snapshot::is_pausing() const { return process_ && process_->is_pausing(); }

void Snapshot::release_process() {
  if (process_)
    process_->release();
}

std::optional<double> Snapshot::pause_seconds() const { return process_ ? process_->pause_seconds() : std::nullopt; }

// For questions that look at objects in any order. Never more than there is room for: the process, and whatever shares
// its container, must not pay for it.
void Snapshot::copy_process() {
  if (!process_ || process_->is_copied())
    return;
  const u64 size = std::min(process_->memory()->size(), private_memory(process_->pid()).value_or(~u64{0}));
  const std::optional<u64> left = memory_left();
  const bool limited = options_.max_memory && options_.max_memory < left.value_or(~u64{0});
  const u64 room = limited ? options_.max_memory : left.value_or(~u64{0});
  if (size > room)
    throw Error(explain("this question needs a copy of the process, of " + bytes_text(size) + ", but only " +
                        bytes_text(room) + (limited ? " are allowed (--max-memory)" : " of memory are left here") +
                        ": stat, segments and objects need none; or write a dump, and ask that on another machine"));
  process_->copy(options_.threads, options_.watch);
}

Snapshot::Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options)
    : target_(std::move(target)), options_(options), built_(std::make_unique<Built>()) {
  if (options_.threads == 0)
    options_.threads = processor_count();
  if (options_.record_reads) {
    reads_ = std::make_unique<ReadRecord>();
    initial_reads_ = std::make_unique<ReadRecord>();
    target_->memory.record_reads(reads_.get());
  }
  Timer timer(options_.watch, "module files");
  // An extracted core has what was read of them.
  if (!target_->extraction || !options_.module_folders.empty())
    lay_module_files(*target_, options_.module_folders);
  target_->initial.record_reads(initial_reads_.get());
  module_file_rows_ = target_->provenance.size();
}

std::unique_ptr<Runtime> Snapshot::choose_runtime() {
  std::vector<FoundRuntime> found = find_runtimes(*target_, options_.hints);
  if (found.empty()) {
    std::string needed;
    for (const Provenance &p : target_->provenance)
      if (p.outcome != Provenance::Outcome::used && needed.empty())
        needed = "; if " + p.module + " is a NativeAOT or single-file program, its file is needed: " + p.reason;
    throw Error("no .NET runtime found: looked for libcoreclr.so, coreclr.dll, libcoreclr.dylib, single-file "
                "programs, and for the debug headers of NativeAOT and CoreRT, in " +
                std::to_string(target_->modules.size()) + " modules" +
                (target_->modules.empty() ? ": the dump lists none" : "") + host_alone(*target_) + needed);
  }
  auto open = [&](const FoundRuntime &of) {
    std::unique_ptr<Runtime> out = of.open();
    add_debug_file(*target_, *out, options_.module_folders);
    return out;
  };
  if (options_.runtime) {
    if (*options_.runtime == 0 || *options_.runtime > found.size())
      throw UsageError(target_->path + ": there is no runtime " + std::to_string(*options_.runtime) +
                       ": the process has " + std::to_string(found.size()));
    return open(found[*options_.runtime - 1]);
  }
  if (found.size() == 1)
    return open(found[0]);

  std::vector<std::unique_ptr<Runtime>> with_heap;
  std::string list;
  found.resize(std::min(found.size(), most_runtimes));
  for (u64 i = 0; i < found.size(); ++i) {
    const std::string &version = found[i].version;
    std::string name = (i ? ", " : "") + std::to_string(i + 1) + " = " + found[i].module->path + " (" +
                       (version.empty() ? "version unknown" : version) + ", ";
    try {
      with_heap.push_back(open(found[i]));
      list += name + "with a GC heap)";
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &e) {
      list += name + "no heap found: " + e.what() + ")";
    }
  }
  std::string several = "the process has " + std::to_string(found.size()) + " .NET runtimes: " + list;
  if (with_heap.empty())
    throw Error("no heap was found in any of the process's .NET runtimes: " + list);
  if (with_heap.size() > 1)
    throw UsageError(target_->path + ": choose a runtime with --runtime N: " + several);
  add_note(several + "; this is the one with a heap, --runtime N chooses another");
  return std::move(with_heap[0]);
}

// What is odd about the dump, above all that it is cut off, often explains an error.
std::string Snapshot::explain(const std::string &error) const {
  std::string out = target_->path + ": ";
  for (const std::string &note : target_->notes)
    out += note + "; ";
  return out + error;
}

void Snapshot::add_note(const std::string &note) {
  if (std::find(target_->notes.begin(), target_->notes.end(), note) == target_->notes.end())
    target_->notes.push_back(note);
}

bool Snapshot::forget_lost_memory() {
  std::vector<LostBytes> lost = find_lost_bytes();
  std::vector<LostRange> out = target_->memory.take_out(lost);
  if (out.empty())
    return false;
  for (const LostRange &range : out)
    target_->absent.push_back({range.start, range.end, lost[range.cause].reason});
  std::sort(target_->absent.begin(), target_->absent.end(),
            [](const AbsentRange &a, const AbsentRange &b) { return a.start < b.start; });
  outdated_.push_back(std::exchange(built_, std::make_unique<Built>()));
  for (const LostRange &range : out) {
    const LostBytes &cause = lost[range.cause];
    if (cause.changed)
      throw Error(explain(cause.reason + "; open it again once nothing writes to it"));
    add_note(cause.reason);
  }
  if (target_->memory.ranges().empty())
    throw Error(explain("nothing of it is left"));
  return true;
}

template <class Build> void Snapshot::build_on_sound_memory(Build build) {
  if (is_building_) {
    build();
    return;
  }
  struct Building {
    bool &flag;
    explicit Building(bool &f) : flag(f) { flag = true; }
    ~Building() { flag = false; }
  } building(is_building_);
  for (int tries = 0; tries < most_tries; ++tries) {
    std::exception_ptr failure;
    try {
      build();
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &) {
      failure = std::current_exception(); // perhaps of what could not be read
    }
    if (!forget_lost_memory()) {
      if (failure)
        std::rethrow_exception(failure);
      return;
    }
  }
  throw Error(explain("more and more of the file cannot be read; copy it to a sound disk first"));
}

const Runtime &Snapshot::runtime() {
  if (!built_->runtime)
    build_on_sound_memory([&] {
      Timer timer(options_.watch, "runtime");
      try {
        built_->runtime = choose_runtime();
      } catch (const Interrupted &) {
        throw;
      } catch (const UsageError &) {
        throw;
      } catch (const Error &e) {
        throw Error(explain(e.what()) + (target_->advice.empty() ? "" : "; " + target_->advice));
      }
    });
  return *built_->runtime;
}

const Heap &Snapshot::heap() {
  if (!built_->heap)
    build_on_sound_memory([&] {
      const Runtime &of = runtime();
      Timer timer(options_.watch, "segments");
      built_->heap = std::make_unique<Heap>(of);
    });
  return *built_->heap;
}

const HeapTally &Snapshot::tally() {
  if (!built_->tally)
    build_on_sound_memory([&] {
      const Heap &of = heap();
      built_->tally = std::make_unique<HeapTally>(tally_heap(of, runtime(), options_.threads, options_.watch));
    });
  return *built_->tally;
}

HeapTally Snapshot::tally(const ObjectFilter &filter) {
  HeapTally out;
  build_on_sound_memory([&] {
    const Heap &of = heap();
    out = tally_heap(of, runtime(), options_.threads, options_.watch, filter);
  });
  return out;
}

const ObjectIndex &Snapshot::index() {
  if (!built_->index)
    build_on_sound_memory([&] {
      copy_process();
      const Heap &of = heap();
      HeapBits starts(std::make_shared<HeapPlaces>(of, runtime().memory().format()));
      HeapTally counts = tally_heap(of, runtime(), options_.threads, options_.watch, {}, &starts);
      Timer timer(options_.watch, "index");
      auto index = std::make_unique<ObjectIndex>(std::move(starts));
      if (!built_->tally)
        built_->tally = std::make_unique<HeapTally>(std::move(counts));
      built_->index = std::move(index);
    });
  return *built_->index;
}

const RootSet &Snapshot::roots() {
  if (!built_->roots)
    build_on_sound_memory([&] {
      ObjectFinder objects(index(), heap(), runtime());
      Timer timer(options_.watch, "roots");
      built_->roots =
          std::make_unique<RootSet>(find_roots(runtime(), [&](Address at) { return objects.find(at); },
                                               {.is_frozen = [&](Address at) { return heap().is_frozen(at); }}));
    });
  return *built_->roots;
}

const References &Snapshot::references() {
  if (!built_->references)
    build_on_sound_memory([&] {
      index();
      std::vector<Address> method_tables;
      for (const TypeTally &type : tally().types)
        if (type.method_table != runtime().types().free_object_method_table())
          method_tables.push_back(type.method_table);
      std::vector<Dependent> dependents;
      for (const DependentHandle &handle : roots().dependent)
        dependents.push_back({handle.key, handle.value});
      built_->references = std::make_unique<References>(heap(), runtime(), method_tables, std::move(dependents));
    });
  return *built_->references;
}

const LiveObjects &Snapshot::live() {
  if (!built_->live)
    build_on_sound_memory([&] {
      const RootSet &from = roots();
      if (from.roots.empty())
        throw Error(explain("what is alive cannot be told without roots: " +
                            (from.problems.empty() ? "it has none" : from.problems.front())));
      built_->live = std::make_unique<LiveObjects>(
          mark_live(index(), references(), root_stages(from), options_.threads, options_.watch));
    });
  return *built_->live;
}

const ObjectGraph &Snapshot::graph() {
  if (!built_->graph)
    build_on_sound_memory([&] {
      built_->graph = std::make_unique<ObjectGraph>(index(), references(), heap(), options_.threads, options_.watch,
                                                    roots().holders);
    });
  return *built_->graph;
}

const RootOwners &Snapshot::owners() {
  if (!built_->owners)
    build_on_sound_memory([&] {
      const RootSet &from = roots();
      const ObjectIndex &objects = index();
      // Types by their MethodTable; what is no object has none.
      ReferenceReader reader(references());
      auto type_of = [&](Address object) -> u64 {
        OpenedObject opened;
        return objects.is_object(object) && reader.open(object, opened) ? opened.type->method_table : 0;
      };
      auto type_name = [&](u64 type) { return type ? runtime().types().name(type) : std::string("(no object)"); };
      built_->owners = std::make_unique<RootOwners>(group_roots(from, type_of, type_name));
    });
  return *built_->owners;
}

const Owners &Snapshot::owned_roots() {
  if (!built_->owned_roots)
    build_on_sound_memory([&] {
      const RootOwners &of = owners();
      const RootSet &from = roots();
      std::vector<OwnedRoot> owned;
      for (u64 i = 0; i < from.roots.size(); ++i) {
        ObjectId object = index().find(from.roots[i].object);
        if (object != no_object)
          owned.push_back({object, OwnerId(of.owner_of[i])});
      }
      u32 precise = 0;
      while (precise < of.owners.size() && !of.owners[precise].conservative)
        ++precise;
      built_->owned = std::move(owned);
      built_->owned_roots =
          std::make_unique<Owners>(Owners{static_cast<u32>(of.owners.size()), precise, built_->owned});
    });
  return *built_->owned_roots;
}

const DominatorTree &Snapshot::dominators() {
  if (!built_->dominators)
    build_on_sound_memory([&] {
      const ObjectGraph &of = graph();
      built_->dominators =
          std::make_unique<DominatorTree>(of.edges(), of.sizes(), owned_roots(), options_.threads, options_.watch);
    });
  return *built_->dominators;
}

} // namespace dnheap
