#include "snapshot/snapshot.h"

#include "base/host.h"
#include "base/mapping_faults.h"
#include "dump/open.h"
#include "runtime/find.h"
#include "snapshot/debug_file.h"
#include "snapshot/module_files.h"

#include <algorithm>
#include <utility>

namespace dnheap {

namespace {

// A file that fails again and again is given up.
constexpr int most_tries = 4;
// Of one process: no real one has more than two or three.
constexpr std::size_t most_runtimes = 64;

} // namespace

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

Snapshot::Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options)
    : target_(std::move(target)), options_(options) {
  if (options_.threads == 0)
    options_.threads = processor_count();
  Timer timer(options_.watch, "module files");
  lay_module_files(*target_, options_.module_folders);
}

std::unique_ptr<Runtime> Snapshot::choose_runtime() {
  std::vector<FoundRuntime> found = find_runtimes(*target_);
  if (found.empty()) {
    std::string needed;
    for (const Provenance &p : target_->provenance)
      if (p.outcome != Provenance::Outcome::used && needed.empty())
        needed = "; if " + p.module + " is a NativeAOT program, its file is needed: " + p.reason;
    throw Error("no .NET runtime found: looked for libcoreclr.so, coreclr.dll, libcoreclr.dylib, and for the debug "
                "headers of NativeAOT and CoreRT, in " +
                std::to_string(target_->modules.size()) + " modules" +
                (target_->modules.empty() ? ": the dump lists none" : "") +
                "; single-file programs cannot be read yet" + needed);
  }
  auto open = [&](const FoundRuntime &of) {
    std::unique_ptr<Runtime> out = of.open();
    add_symbols(*target_, *out, options_.module_folders);
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
  outdated_.push_back(std::exchange(built_, {}));
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
  if (!built_.runtime)
    build_on_sound_memory([&] {
      Timer timer(options_.watch, "runtime");
      try {
        built_.runtime = choose_runtime();
      } catch (const Interrupted &) {
        throw;
      } catch (const UsageError &) {
        throw;
      } catch (const Error &e) {
        throw Error(explain(e.what()) + (target_->advice.empty() ? "" : "; " + target_->advice));
      }
    });
  return *built_.runtime;
}

const Heap &Snapshot::heap() {
  if (!built_.heap)
    build_on_sound_memory([&] {
      const Runtime &of = runtime();
      Timer timer(options_.watch, "segments");
      built_.heap = std::make_unique<Heap>(of);
    });
  return *built_.heap;
}

const HeapTally &Snapshot::tally() {
  if (!built_.tally)
    build_on_sound_memory([&] {
      const Heap &of = heap();
      built_.tally = std::make_unique<HeapTally>(tally_heap(of, runtime(), options_.threads, options_.watch));
    });
  return *built_.tally;
}

HeapTally Snapshot::tally(const ObjectFilter &filter) {
  HeapTally out;
  build_on_sound_memory([&] {
    const Heap &of = heap();
    out = tally_heap(of, runtime(), options_.threads, options_.watch, filter);
  });
  return out;
}

} // namespace dnheap
