#include "snapshot/snapshot.h"

#include "algorithms/dominator_tree.h"
#include "base/count_bits.h"
#include "base/host/control_group.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/host/process.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dump/live/linux_process.h"
#include "dump/open.h"
#include "objects/live.h"
#include "objects/object_finder.h"
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "runtime/find.h"
#include "runtime/library_names.h"
#include "snapshot/files/debug_file.h"
#include "snapshot/files/module_files.h"
#include "snapshot/other_programs.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace dnheap {

namespace {

// Limits the attempts on a file that fails again and again.
constexpr int most_tries = 4;
// In one process: no real one has more than two or three.
constexpr std::size_t most_runtimes = 64;

// Returns the name of .NET's host, which looks for the runtime and loads it, if only the host is loaded.
std::string host_alone(const Target &target) {
  for (const Module &module : target.modules)
    if (is_host_library(module.file_name()))
      return "; " + std::string(module.file_name()) +
             " is there: the dump was taken before the process had loaded a runtime";
  return "";
}

// Sets words[i] to word(i); returns how many bits are set afterwards.
template <class Word> u64 set_words(LargeArray<u64> &words, unsigned threads, Word word) {
  std::atomic<u64> bits = 0;
  parallel_for_parts(words.size(), u64{1} << 16, threads, [&](u64 begin, u64 end, unsigned) {
    u64 count = 0;
    for (u64 i = begin; i < end; ++i)
      count += count_bits(words[i] = word(i));
    bits += count;
  });
  return bits;
}

} // namespace

struct Snapshot::Results {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Heap> heap;
  std::unique_ptr<HeapTally> tally;
  std::unique_ptr<ObjectIndex> index;
  std::unique_ptr<RootSet> roots;
  std::unique_ptr<References> references;
  std::unique_ptr<LiveObjects> live;
  std::unique_ptr<ObjectGraph> graph;
  std::unique_ptr<ObjectSizeColumn> sizes;
  std::unique_ptr<std::vector<LoadedAssembly>> assemblies;
  std::unique_ptr<RootOwners> owners;
  std::vector<OwnedRoot> owned; // the data that owned_roots points at
  std::unique_ptr<Owners> owned_roots;
  std::unique_ptr<DominatorTree> dominators;
  std::map<std::type_index, std::shared_ptr<const void>> kept; // must be last: these may refer to the members above
};

Snapshot::~Snapshot() = default;

std::unique_ptr<Snapshot> Snapshot::open(const std::string &path, const SnapshotOptions &options) {
  OpenOptions open_options;
  open_options.temp_dir = options.temp_dir;
  open_options.threads = options.threads ? options.threads : processor_count();
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
    // Headers and module files read so far may be wrong. A file that was cut is opened again as it is now.
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
    Notes notes;
    if (!options.pause || out->runtime().gc_structures_valid(notes) != false)
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

void Snapshot::look_at_resident() {
  if (process_ && (is_pausing() || !options_.pause))
    resident_ = process_->resident();
}

std::optional<double> Snapshot::pause_seconds() const { return process_ ? process_->pause_seconds() : std::nullopt; }

// Copies the process for questions that read objects in any order. The copy never takes more memory than is free, since
// the process, and others in its container, must not suffer. If the user names a folder, the copy takes disk space
// instead.
void Snapshot::copy_process() {
  if (!process_ || process_->is_copied())
    return;
  if (!options_.temp_dir.empty() && !options_.max_memory) {
    process_->copy(options_.threads, options_.watch);
    return;
  }
  const u64 size = std::min(process_->memory()->size(), private_memory(process_->pid()).value_or(~u64{0}));
  const std::optional<u64> left = memory_left();
  const bool limited = options_.max_memory && options_.max_memory < left.value_or(~u64{0});
  const u64 room = limited ? options_.max_memory : left.value_or(~u64{0});
  if (size > room)
    throw Error(explain("this question needs a copy of the process, of " + bytes_text(size) + ", but only " +
                        bytes_text(room) + (limited ? " are allowed (--max-memory)" : " of memory are left here") +
                        ": stat, segments and objects need no copy; --temp-dir puts the copy on disk; or write a dump, "
                        "and open it on another machine"));
  process_->copy(options_.threads, options_.watch);
}

Snapshot::Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options)
    : target_(std::move(target)), options_(options), results_(std::make_unique<Results>()) {
  if (options_.threads == 0)
    options_.threads = processor_count();
  if (options_.record_reads) {
    reads_ = std::make_unique<ReadRecord>();
    searches_ = std::make_unique<ReadRecord>();
    initial_reads_ = std::make_unique<ReadRecord>();
    target_->memory.record_reads(reads_.get(), searches_.get());
  }
  Timer timer(options_.watch, "module files");
  // An extracted core already has everything that was read of them.
  if (!target_->extraction || !options_.module_folders.empty())
    lay_module_files(*target_, options_.module_folders);
  target_->initial.record_reads(initial_reads_.get());
  module_file_rows_ = target_->provenance.size();
}

std::unique_ptr<Runtime> Snapshot::choose_runtime() {
  std::vector<FoundRuntime> found = find_runtimes(*target_, options_.hints);
  if (found.empty()) {
    const std::string host = host_alone(*target_);
    if (const std::string other = host.empty() ? what_other_program(*target_) : ""; !other.empty())
      throw Error(other);
    std::string needed;
    for (const Provenance &p : target_->provenance)
      if (p.outcome != Provenance::Outcome::used && needed.empty())
        needed = "; if " + p.module + " is a NativeAOT or single-file program, its file is needed: " + p.reason;
    throw Error("no .NET runtime found: looked for " + core_clr_library_names() +
                ", single-file programs, and for the debug headers of NativeAOT and CoreRT, in " +
                std::to_string(target_->modules.size()) + " modules" +
                (target_->modules.empty() ? ": the dump lists none" : "") + host + needed);
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

  std::vector<std::unique_ptr<Runtime>> with_heap, without_heap;
  std::vector<std::string_view> paths_with_heap; // the same path twice is one runtime, in a damaged list of modules
  std::string list;
  found.resize(std::min(found.size(), most_runtimes));
  for (u64 i = 0; i < found.size(); ++i) {
    const std::string &version = found[i].version;
    std::string name = (i ? ", " : "") + std::to_string(i + 1) + " = " + found[i].module->path + " (" +
                       (version.empty() ? "version unknown" : version) + ", ";
    if (std::ranges::find(paths_with_heap, found[i].module->path) != paths_with_heap.end())
      continue;
    try {
      std::unique_ptr<Runtime> opened = open(found[i]);
      if (!opened->why_no_heap().empty()) {
        list += name + "no heap in this dump)";
        without_heap.push_back(std::move(opened));
        continue;
      }
      with_heap.push_back(std::move(opened));
      paths_with_heap.push_back(found[i].module->path);
      list += name + "with a GC heap)";
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &e) {
      list += name + "no heap found: " + e.what() + ")";
    }
  }
  std::string several = "the process has " + std::to_string(found.size()) + " .NET runtimes: " + list;
  if (with_heap.empty() && without_heap.size() == 1) // a mini dump
    return std::move(without_heap[0]);
  if (with_heap.empty())
    throw Error("no heap was found in any of the process's .NET runtimes: " + list);
  if (with_heap.size() > 1)
    throw UsageError(target_->path + ": choose a runtime with --runtime N: " + several);
  add_note(several + "; this is the one with a heap, --runtime N chooses another");
  return std::move(with_heap[0]);
}

// Adds what is odd about the dump, above all that it is cut off: that often explains the error.
std::string Snapshot::explain(const std::string &error) const {
  std::string out = target_->path + ": ";
  for (const Note &note : target_->notes)
    out += note.sentence() + "; ";
  return out + error;
}

void Snapshot::add_note(const std::string &note) { target_->notes.add(Subject::dump, Effect::none, note); }

bool Snapshot::forget_lost_memory() {
  if (process_ && process_->memory()->process_has_ended())
    throw Error("process " + std::to_string(process_->pid()) + " ended while it was read");
  std::vector<LostBytes> lost = find_lost_bytes();
  std::vector<LostRange> out = target_->memory.take_out(lost);
  if (out.empty())
    return false;
  for (const LostRange &range : out)
    target_->absent.push_back({range.start, range.end, lost[range.cause].reason});
  std::sort(target_->absent.begin(), target_->absent.end(),
            [](const AbsentRange &a, const AbsentRange &b) { return a.start < b.start; });
  results_ = std::make_unique<Results>();
  target_->provenance.resize(module_file_rows_); // debug files are searched for again
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

bool Snapshot::has_lost_memory() const {
  const std::vector<LostBytes> lost = find_lost_bytes();
  if (lost.empty())
    return false;
  Memory without = target_->memory;
  return !without.take_out(lost).empty();
}

// Returns what `make` returns. If part of the memory was lost meanwhile, throws Error instead: the result, or an error,
// may be wrong then.
template <class Make> auto Snapshot::made_of_sound_memory(Make make) {
  try {
    auto made = make();
    if (!has_lost_memory())
      return made;
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &) {
    if (!has_lost_memory())
      throw;
  }
  throw Error(target_->path + ": part of it was lost while it was read; open it again");
}

template <class Make> auto Snapshot::work_out(Pass pass, Make make) {
  if (!foreseen_.has(pass))
    unforeseen_ |= pass;
  return made_of_sound_memory(make);
}

void Snapshot::prepare(Passes passes) {
  passes = with_foundations(passes);
  if (passes.has(Pass::index))
    index(); // copies a live process before anything else of it is read
  if (passes.has(Pass::runtime))
    runtime();
  if (passes.has(Pass::heap))
    heap();
  if (passes.has(Pass::tally))
    tally();
  if (passes.has(Pass::roots))
    roots();
  if (passes.has(Pass::references))
    references();
  if (passes.has(Pass::live))
    live();
  if (passes.has(Pass::graph))
    graph();
  if (passes.has(Pass::owners))
    owners();
  if (passes.has(Pass::owned_roots))
    owned_roots();
  if (passes.has(Pass::dominators))
    dominators();
}

const Runtime &Snapshot::runtime() {
  if (!results_->runtime)
    results_->runtime = work_out(Pass::runtime, [&] {
      Timer timer(options_.watch, "runtime");
      try {
        return choose_runtime();
      } catch (const Interrupted &) {
        throw;
      } catch (const UsageError &) {
        throw;
      } catch (const Error &e) {
        throw Error(explain(e.what()) + (target_->advice.empty() ? "" : "; " + target_->advice));
      }
    });
  return *results_->runtime;
}

void Snapshot::require_heap() {
  if (const std::string &why = runtime().why_no_heap(); !why.empty() && !accepts_pieces_)
    throw Error(explain(why) + (target_->advice.empty() ? "" : "; " + target_->advice));
}

const Heap &Snapshot::heap() {
  require_heap();
  if (!results_->heap)
    results_->heap = work_out(Pass::heap, [&] {
      const Runtime &of = runtime();
      Timer timer(options_.watch, "segments");
      return std::make_unique<Heap>(of);
    });
  return *results_->heap;
}

const HeapTally &Snapshot::tally() {
  require_heap();
  if (!results_->tally)
    results_->tally = work_out(Pass::tally, [&] {
      const Heap &of = heap();
      return std::make_unique<HeapTally>(tally_heap(of, runtime(), options_.threads, options_.watch));
    });
  return *results_->tally;
}

HeapTally Snapshot::tally(const ObjectFilter &filter) {
  const Heap &of = heap();
  if (!filter.among)
    return made_of_sound_memory([&] { return tally_heap(of, runtime(), options_.threads, options_.watch, filter); });
  HeapBits objects(index().starts().shared_places());
  LargeArray<u64> &words = objects.words();
  const u64 chosen = set_words(words, options_.threads, [&](u64 i) {
    return filter.among->words()[i] & ~(filter.without ? filter.without->words()[i] : 0);
  });
  ObjectFilter rest = filter;
  rest.among = rest.without = nullptr;
  // If most objects pass, it is cheaper to read the others and subtract their counts from those of all objects.
  const bool are_most = rest.everything() && chosen > index().count() / 2;
  if (are_most)
    set_words(words, options_.threads, [&](u64 i) { return index().starts().words()[i] & ~words[i]; });
  HeapTally out = made_of_sound_memory([&] {
    return tally_objects(of, runtime(), references().bytes(), objects, rest, options_.threads, options_.watch);
  });
  if (are_most)
    out = without(tally(), out, runtime().types().free_object_method_table());
  out.walk = tally().walk;
  return out;
}

const ObjectIndex &Snapshot::index() {
  if (!process_) // a process has its heap, and is copied before anything is read
    require_heap();
  if (results_->index)
    return *results_->index;
  std::unique_ptr<HeapTally> counts;
  results_->index = work_out(Pass::index, [&] {
    copy_process();
    const Heap &of = heap();
    HeapBits starts(std::make_shared<HeapPlaces>(of, runtime().memory().format()));
    counts = std::make_unique<HeapTally>(tally_heap(of, runtime(), options_.threads, options_.watch, {}, &starts));
    Timer timer(options_.watch, "index");
    return std::make_unique<ObjectIndex>(std::move(starts));
  });
  if (!results_->tally)
    results_->tally = std::move(counts);
  return *results_->index;
}

const RootSet &Snapshot::roots() {
  if (!process_)
    require_heap();
  if (!results_->roots)
    results_->roots = work_out(Pass::roots, [&] {
      ObjectFinder objects(index(), heap(), runtime());
      Timer timer(options_.watch, "roots");
      return std::make_unique<RootSet>(find_roots(runtime(), [&](Address at) { return objects.find(at); },
                                                  {.is_frozen = [&](Address at) { return heap().is_frozen(at); },
                                                   .is_object = [&](Address at) { return index().is_object(at); }}));
    });
  return *results_->roots;
}

const References &Snapshot::references() {
  if (!results_->references)
    results_->references = work_out(Pass::references, [&] {
      index();
      std::vector<Address> method_tables;
      for (const TypeTally &type : tally().types)
        if (type.method_table != runtime().types().free_object_method_table())
          method_tables.push_back(type.method_table);
      std::vector<Dependent> dependents;
      for (const DependentHandle &handle : roots().dependent)
        dependents.push_back({handle.key, handle.value});
      return std::make_unique<References>(heap(), runtime(), method_tables, std::move(dependents));
    });
  return *results_->references;
}

const LiveObjects &Snapshot::live() {
  if (!results_->live)
    results_->live = work_out(Pass::live, [&] {
      const RootSet &from = roots();
      if (from.roots.empty())
        throw Error(explain("live objects are unknown without roots: " +
                            (from.notes.empty() ? "it has none" : from.notes.front().text)));
      return std::make_unique<LiveObjects>(
          mark_live(index(), references(), root_stages(from), options_.threads, options_.watch));
    });
  return *results_->live;
}

bool Snapshot::has_graph() const { return results_->graph != nullptr; }

const ObjectGraph &Snapshot::graph() {
  if (results_->graph)
    return *results_->graph;
  std::unique_ptr<ObjectSizeColumn> sizes;
  results_->graph = work_out(Pass::graph, [&] {
    const ObjectIndex &of = index();
    sizes = std::make_unique<ObjectSizeColumn>(of.count());
    return std::make_unique<ObjectGraph>(of, references(), heap(), options_.threads, options_.watch, roots().holders,
                                         sizes.get());
  });
  results_->sizes = std::move(sizes);
  return *results_->graph;
}

ObjectSizes Snapshot::sizes() {
  graph();
  if (!results_->sizes)
    results_->sizes = made_of_sound_memory([&] {
      return std::make_unique<ObjectSizeColumn>(index(), references(), heap(), options_.threads, options_.watch);
    });
  return results_->sizes->sizes();
}

bool Snapshot::has_sizes() const { return results_->sizes != nullptr; }

void Snapshot::forget_sizes() { results_->sizes.reset(); }

const std::vector<LoadedAssembly> &Snapshot::assemblies() {
  if (!results_->assemblies) {
    Notes ignored; // static fields come from the same list and report these
    results_->assemblies = std::make_unique<std::vector<LoadedAssembly>>(runtime().assemblies(ignored));
  }
  return *results_->assemblies;
}

const RootOwners &Snapshot::owners() {
  if (!results_->owners)
    results_->owners = work_out(Pass::owners, [&] {
      const RootSet &from = roots();
      const ObjectIndex &objects = index();
      // An object's type is its MethodTable; 0 if it is no object.
      ReferenceReader reader(references());
      auto type_of = [&](Address object) -> u64 {
        OpenedObject opened;
        return objects.is_object(object) && reader.open(object, opened) ? opened.type->method_table : 0;
      };
      auto type_name = [&](u64 type) { return type ? runtime().types().name(type) : std::string("(no object)"); };
      return std::make_unique<RootOwners>(group_roots(from, type_of, type_name));
    });
  return *results_->owners;
}

const Owners &Snapshot::owned_roots() {
  if (results_->owned_roots)
    return *results_->owned_roots;
  std::vector<OwnedRoot> owned;
  results_->owned_roots = work_out(Pass::owned_roots, [&] {
    const RootOwners &of = owners();
    const RootSet &from = roots();
    for (u64 i = 0; i < from.roots.size(); ++i) {
      ObjectId object = index().find(from.roots[i].object);
      if (object != no_object)
        owned.push_back({object, OwnerId(of.owner_of[i])});
    }
    u32 precise = 0;
    while (precise < of.owners.size() && !of.owners[precise].conservative)
      ++precise;
    return std::make_unique<Owners>(Owners{static_cast<u32>(of.owners.size()), precise, owned});
  });
  results_->owned = std::move(owned);
  return *results_->owned_roots;
}

const DominatorTree &Snapshot::dominators() {
  if (!results_->dominators)
    results_->dominators = work_out(Pass::dominators, [&] {
      const ObjectGraph &of = graph();
      return std::make_unique<DominatorTree>(of.edges(), sizes(), owned_roots(), options_.threads, options_.watch);
    });
  return *results_->dominators;
}

std::shared_ptr<const void> Snapshot::find_kept(std::type_index type) const {
  const auto at = results_->kept.find(type);
  return at == results_->kept.end() ? nullptr : at->second;
}

void Snapshot::keep(std::type_index type, std::shared_ptr<const void> made) {
  results_->kept[type] = made_of_sound_memory([&] { return std::move(made); });
}

} // namespace dnheap
