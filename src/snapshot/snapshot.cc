#include "snapshot/snapshot.h"

#include "base/host.h"
#include "dump/open.h"
#include "snapshot/module_files.h"

namespace dnheap {

std::unique_ptr<Snapshot> Snapshot::open(const std::string &path, const SnapshotOptions &options) {
  OpenOptions open_options;
  open_options.temp_dir = options.temp_dir;
  return std::make_unique<Snapshot>(open_dump(path, open_options, options.watch), options);
}

Snapshot::Snapshot(std::unique_ptr<Target> target, const SnapshotOptions &options)
    : target_(std::move(target)), options_(options) {
  if (options_.threads == 0)
    options_.threads = processor_count();
  Timer timer(options_.watch, "module files");
  lay_module_files(*target_, options_.module_folders);
}

const Module &Snapshot::choose_runtime() const {
  std::vector<const Module *> found = find_runtime_modules(*target_);
  if (found.empty())
    throw Error(target_->path + ": no .NET runtime found: looked for libcoreclr.so, coreclr.dll, libcoreclr.dylib in " +
                std::to_string(target_->modules.size()) + " modules" +
                (target_->modules.empty() ? ": the dump lists none" : "") +
                "; NativeAOT and single-file programs cannot be read yet");
  if (options_.runtime) {
    if (*options_.runtime == 0 || *options_.runtime > found.size())
      throw UsageError(target_->path + ": there is no runtime " + std::to_string(*options_.runtime) +
                       ": the process has " + std::to_string(found.size()));
    return *found[*options_.runtime - 1];
  }
  if (found.size() == 1)
    return *found[0];
  std::string list;
  for (u64 i = 0; i < found.size(); ++i)
    list += (i ? ", " : "") + std::to_string(i + 1) + " = " + found[i]->path;
  throw UsageError(target_->path + ": the process has several .NET runtimes: choose one with --runtime N: " + list);
}

const Runtime &Snapshot::runtime() {
  if (!runtime_) {
    const Module &module = choose_runtime();
    Timer timer(options_.watch, "runtime");
    try {
      runtime_ = std::make_unique<Runtime>(*target_, module);
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &e) {
      std::string what = target_->path + ": ";
      for (const std::string &note : target_->notes) // above all: that the dump is cut off, which explains the rest
        what += note + "; ";
      throw Error(what + e.what());
    }
  }
  return *runtime_;
}

const Heap &Snapshot::heap() {
  if (!heap_) {
    const Runtime &of = runtime();
    Timer timer(options_.watch, "segments");
    heap_ = std::make_unique<Heap>(of);
  }
  return *heap_;
}

const HeapTally &Snapshot::tally() {
  if (!tally_)
    tally_ = std::make_unique<HeapTally>(tally({}));
  return *tally_;
}

HeapTally Snapshot::tally(const ObjectFilter &filter) {
  return tally_heap(heap(), runtime(), options_.threads, options_.watch, filter);
}

} // namespace dnheap
