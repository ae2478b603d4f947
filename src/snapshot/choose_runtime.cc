#include "snapshot/choose_runtime.h"

#include "runtime/find.h"
#include "runtime/library_names.h"
#include "snapshot/files/debug_file.h"
#include "snapshot/other_programs.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

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

} // namespace

std::unique_ptr<Runtime> choose_runtime(Target &target, const SnapshotOptions &options) {
  std::vector<FoundRuntime> found = find_runtimes(target, options.hints);
  if (found.empty()) {
    const std::string host = host_alone(target);
    if (const std::string other = host.empty() ? what_other_program(target) : ""; !other.empty())
      throw Error(other);
    std::string needed;
    for (const Provenance &p : target.provenance)
      if (p.outcome != Provenance::Outcome::used && needed.empty())
        needed = "; if " + p.module + " is a NativeAOT or single-file program, its file is needed: " + p.reason;
    throw Error("no .NET runtime found: looked for " + core_clr_library_names() +
                ", single-file programs, and for the debug headers of NativeAOT and CoreRT, in " +
                std::to_string(target.modules.size()) + (target.modules.size() == 1 ? " module" : " modules") +
                (target.modules.empty() ? ": the dump lists none" : "") + host + needed);
  }
  auto open = [&](const FoundRuntime &of) {
    std::unique_ptr<Runtime> out = of.open();
    add_debug_file(target, *out, options.module_folders);
    return out;
  };
  if (options.runtime) {
    if (*options.runtime == 0 || *options.runtime > found.size())
      throw UsageError(target.path + ": there is no runtime " + std::to_string(*options.runtime) +
                       ": the process has " + std::to_string(found.size()));
    return open(found[*options.runtime - 1]);
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
    throw UsageError(target.path + ": choose a runtime with --runtime N: " + several);
  target.notes.add(Subject::dump, Effect::none,
                   several + "; dnheap uses the one with a heap; --runtime N chooses another");
  return std::move(with_heap[0]);
}

} // namespace dnheap
