// Much memory that is neither the heap, the runtime, malloc, stacks nor files. A finding only where dnheap can read all
// of these: else the memory may be theirs.
#include "analysis/findings/finding_rule.h"
#include "analysis/native/native_callers.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace dnheap {

namespace {

// Alternate signal stacks, guards and small arenas are unknown, too: 30 MiB, or 66 MiB of 870 MiB, in healthy programs.
constexpr u64 least_unknown_bytes = 56 << 20;
constexpr double least_unknown_share = 0.3;

// True if memory of the GC, of malloc and of threads was found, and no reader has a complaint. Only CoreCLR's memory is
// known well enough, and only Linux's: of Windows, the process heaps are not read.
bool is_account_sound(const Snapshot &snapshot, const AccountMap &map) {
  const Target &target = snapshot.target();
  if (target.os != OperatingSystem::linux_os || target.extraction ||
      std::string_view(snapshot.runtime().kind()) != "coreclr" || !snapshot.runtime().gc_flavour().regions)
    return false;
  using enum MemoryClass;
  const bool has_runtime = map.sum_of({jit_code, runtime_stubs, loader_heaps, runtime_other}) > 0;
  return has_runtime && map.of(gc_bookkeeping).bytes && map.of(handle_tables).bytes && !map.malloc.arenas.empty() &&
         map.of(stacks_in_use).pieces >= target.threads.size() && map.other_allocators.empty() && map.notes.empty();
}

std::string stretches_text(const AccountMap &map) {
  const auto largest =
      std::ranges::max_element(map.unknown, {}, [](const UnknownStretch &one) { return one.end - one.start; });
  const u64 count = map.unknown.size();
  return fmt::format("{} {}, the largest of {}{}", count_text(count), count == 1 ? "stretch" : "stretches",
                     bytes_text(largest->end - largest->start),
                     largest->name.empty() ? "" : " (" + largest->name + ")");
}

} // namespace

void find_unidentified_memory(const Evidence &evidence, std::vector<Finding> &out) {
  const AccountMap &map = evidence.map;
  const u64 bytes = map.of(MemoryClass::not_identified).bytes, process = evidence.facts.process;
  if (bytes < least_unknown_bytes || share_of(bytes, process) < least_unknown_share || map.unknown.empty() ||
      !is_account_sound(evidence.snapshot, map))
    return;
  out.push_back(
      {.kind = "unidentified_memory",
       .harm = Harm::memory,
       .sureness = Sureness::possible,
       .text = fmt::format("{} ({:.0f} % of the process) are neither the managed heap, the runtime, malloc, stacks nor "
                           "files: {}. Native code may have mapped them (mmap), an allocator of its own, or EventPipe "
                           "for a tool that traces.{}",
                           bytes_text(bytes), 100 * share_of(bytes, process), stretches_text(map),
                           native_function_callers_text(evidence.snapshot, "mmap")),
       .bytes = bytes,
       .verb = "account",
       .options = " --table not_identified"});
}

} // namespace dnheap
