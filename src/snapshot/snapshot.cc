#include "snapshot/snapshot.h"

#include "algorithms/dominator_tree.h"
#include "base/count_bits.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/parallel.h"
#include "base/text.h"
#include "dump/live/port_heap.h"
#include "dump/open.h"
#include "objects/live.h"
#include "objects/object_finder.h"
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "snapshot/attached_process.h"
#include "snapshot/choose_runtime.h"
#include "snapshot/files/module_files.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <thread>
#include <utility>

namespace dnheap {

namespace {

// Limits the attempts on a file that fails again and again.
constexpr int most_tries = 4;

#ifdef _GLIBCXX_ASSERTIONS
constexpr bool checks_plans = true;
#else
constexpr bool checks_plans = false; // for users one more walk is better than an error of ours
#endif
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
  open_options.standard_input = options.standard_input;
  open_options.threads = options.threads ? options.threads : processor_count();
  for (int tries = 1;; ++tries) {
    u64 losses = count_losses(), lost_before = find_lost_bytes().size();
    std::unique_ptr<Snapshot> out;
    try {
      out = std::make_unique<Snapshot>(open_dump(path, open_options, options.watch), options);
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &) {
      if (count_losses() == losses || tries == most_tries || is_standard_input(path, open_options))
        throw;
      continue;
    }
    std::vector<LostBytes> lost = find_lost_bytes();
    if (lost.size() == lost_before)
      return out;
    // Headers and module files read so far may be wrong. A file that was cut is opened again as it is now; a pipe is
    // read once.
    if (tries < most_tries && !is_standard_input(path, open_options))
      continue;
    for (const LostBytes &l : lost)
      out->add_note(l.reason);
    out->forget_lost_memory();
    return out;
  }
}

std::unique_ptr<Snapshot> Snapshot::attach(u64 pid, const SnapshotOptions &options) {
  if (options.by_port)
    return std::make_unique<Snapshot>(
        open_port_heap(pid, {.threads = options.threads ? options.threads : processor_count(),

                             .watch = options.watch}),
        options);
  constexpr int most_attempts = 10;
  constexpr auto longest_wait = std::chrono::seconds(5);
  const auto begin = std::chrono::steady_clock::now();
  for (int attempt = 1;; ++attempt) {
    auto process = std::make_unique<AttachedProcess>(pid, options);
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

std::unique_ptr<Snapshot> Snapshot::attach_briefly(u64 pid, const SnapshotOptions &options,
                                                   std::span<const std::pair<Address, Address>> needed) {
  auto process = std::make_unique<AttachedProcess>(pid, options, needed);
  auto out = std::make_unique<Snapshot>(process->take_target(), options);
  out->process_ = std::move(process);
  return out;
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
  if (!target_->extraction || !options_.module_folders.empty() || !target_->folder.empty())
    lay_module_files(*target_, options_.module_folders);
  target_->initial.record_reads(initial_reads_.get());
  module_file_rows_ = target_->provenance.size();
}

// Adds what is odd about the dump: if it was cut off, that often explains the error.
std::string Snapshot::explain(const std::string &error) const {
  std::string out = target_->path + ": ";
  for (const Note &note : target_->notes)
    out += note.sentence() + "; ";
  return out + error;
}

void Snapshot::add_note(const std::string &note) { target_->notes.add(Subject::dump, Effect::none, note); }

bool Snapshot::forget_lost_memory() {
  if (process_ && process_->has_ended())
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
    throw Error(explain("no memory is left that can be read"));
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
template <class Make> auto Snapshot::made_of_sound_memory(Make make) const {
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
  throw Error(target_->path + ": part of the file could not be read, or was changed meanwhile; open it again");
}

template <class Make> auto Snapshot::work_out(Pass pass, Make make) const {
  if (checks_plans && !foreseen_.has(pass))
    throw std::logic_error(
        fmt::format("pass {} was not foreseen by the plan of this question", static_cast<int>(pass)));
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

const Runtime &Snapshot::runtime() const {
  if (!results_->runtime)
    results_->runtime = work_out(Pass::runtime, [&] {
      Timer timer(options_.watch, "runtime");
      try {
        return choose_runtime(*target_, options_);
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

void Snapshot::require_heap() const {
  if (const std::string &why = runtime().why_no_heap(); !why.empty() && !accepts_pieces_)
    throw Error(explain(why) + (target_->advice.empty() ? "" : "; " + target_->advice));
}

const Heap &Snapshot::heap() const {
  require_heap();
  if (!results_->heap)
    results_->heap = work_out(Pass::heap, [&] {
      const Runtime &of = runtime();
      Timer timer(options_.watch, "segments");
      return std::make_unique<Heap>(of);
    });
  return *results_->heap;
}

const HeapTally &Snapshot::tally() const {
  require_heap();
  if (!results_->tally)
    results_->tally = work_out(Pass::tally, [&] {
      const Heap &of = heap();
      return std::make_unique<HeapTally>(tally_heap(of, runtime(), options_.threads, options_.watch));
    });
  return *results_->tally;
}

HeapTally Snapshot::tally(const ObjectFilter &filter) const {
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

const ObjectIndex &Snapshot::index() const {
  if (!process_) // a process has its heap, and is copied before anything is read
    require_heap();
  if (results_->index)
    return *results_->index;
  std::unique_ptr<HeapTally> counts;
  results_->index = work_out(Pass::index, [&] {
    if (process_)
      if (const std::string why_not = process_->copy(options_); !why_not.empty())
        throw Error(explain(why_not));
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

const RootSet &Snapshot::roots() const {
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

const References &Snapshot::references() const {
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

const LiveObjects &Snapshot::live() const {
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

const ObjectGraph &Snapshot::graph() const {
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

ObjectSizes Snapshot::sizes() const {
  graph();
  if (!results_->sizes)
    results_->sizes = made_of_sound_memory([&] {
      return std::make_unique<ObjectSizeColumn>(index(), references(), heap(), options_.threads, options_.watch);
    });
  return results_->sizes->sizes();
}

bool Snapshot::has_sizes() const { return results_->sizes != nullptr; }

void Snapshot::forget_sizes() { results_->sizes.reset(); }

const std::vector<LoadedAssembly> &Snapshot::assemblies() const {
  if (!results_->assemblies) {
    Notes ignored; // static fields come from the same list and report these
    results_->assemblies = std::make_unique<std::vector<LoadedAssembly>>(runtime().assemblies(ignored));
  }
  return *results_->assemblies;
}

const RootOwners &Snapshot::owners() const {
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

const Owners &Snapshot::owned_roots() const {
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

const DominatorTree &Snapshot::dominators() const {
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

void Snapshot::keep(std::type_index type, std::shared_ptr<const void> made) const {
  results_->kept[type] = made_of_sound_memory([&] { return std::move(made); });
}

} // namespace dnheap
