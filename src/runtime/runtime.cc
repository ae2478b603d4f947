#include "runtime/runtime.h"

#include "base/text.h"
#include "contract/find.h"
#include "image/elf_image.h"
#include "runtime/layout/derive.h"
#include "runtime/version.h"

namespace dnheap {

namespace {

ContractDescriptor published_descriptor(const Target &target, const Module &module) {
  std::optional<FoundDescriptor> found = find_descriptor(target, module);
  if (!found)
    return {};
  ContractDescriptor out = parse_descriptor(target.memory, found->address);
  out.found_by = found->how;
  return out;
}

// Are all variables of the runtime in the dump?
bool has_all_variables(const Memory &memory, const Module &module) {
  std::optional<ElfImage> image = ElfImage::at(memory, module.base);
  bool any = false;
  for (const ElfImage::Segment &s : image ? image->segments() : std::span<const ElfImage::Segment>()) {
    if (s.writable && memory.known_bytes(s.address, s.address + s.size) < s.size)
      return false;
    any |= s.writable;
  }
  return any;
}

ContractDescriptor complete_descriptor(const Target &target, const Module &module,
                                       std::span<const ShippedTable> tables) {
  try {
    return derive_descriptor(target, module, published_descriptor(target, module), tables);
  } catch (const Error &e) {
    if (!has_all_variables(target.memory, module))
      throw;
    throw Error(
        "the runtime was loaded but not started, it seems, or had only begun to start: all its variables are in "
        "this dump, and yet " +
        std::string(e.what()));
  }
}

// Dumps of the kinds "mini" (--normal) and "triage" know where the heap is, but do not hold it: of those nothing can be
// said, and the reason should not be left to whatever fails first.
void require_heap(const Gc1 &gc, const Memory &memory) {
  std::vector<std::string> problems;
  u64 total = 0, known = 0;
  for (Address heap : gc.get_gc_heaps())
    for (const GCHeapSegmentInfo &s : gc.enumerate_heap_segments(gc.get_heap_data(heap), problems)) {
      bool sound = s.start < s.end && s.end <= s.committed_end && s.committed_end <= s.reserved_end;
      if (!sound || s.generation == GCSegmentGeneration::frozen)
        continue;
      total += s.end - s.start;
      known += memory.known_bytes(s.start, s.end);
    }
  bool no_segment = total == 0 && !problems.empty(); // not even the lists of segments are there
  if (no_segment || known < total / 16)
    throw Error((no_segment ? "the dump holds nothing of the managed heap"
                            : "the dump holds " + bytes_text(known) + " of the managed heap's " + bytes_text(total)) +
                ": it is of a kind without heap (createdump --normal or --triage, DOTNET_DbgMiniDumpType 1 or 3); take "
                "one with createdump --withheap PID, or with DOTNET_DbgMiniDumpType=2");
}

} // namespace

std::vector<const Module *> find_runtime_modules(const Target &target) {
  std::vector<const Module *> out;
  for (const Module &module : target.modules)
    for (const char *name : {"libcoreclr.so", "coreclr.dll", "libcoreclr.dylib"})
      if (module.file_name() == name)
        out.push_back(&module);
  return out;
}

Runtime::Runtime(const Target &target, const Module &module, std::span<const ShippedTable> tables)
    : target_(target), module_(module), version_(find_version(target.memory, module)),
      descriptor_(complete_descriptor(target, module, tables)), gc_(target.memory, descriptor_),
      thread_(target.memory, descriptor_), loader_(target, descriptor_) {
  require_heap(gc_, target.memory);
  types_ = std::make_unique<RuntimeTypeSystem1>(target.memory, descriptor_, loader_);
}

std::vector<AllocationContext> Runtime::thread_allocation_contexts(std::vector<std::string> &problems) const {
  std::vector<AllocationContext> out;
  try {
    for (const ThreadData &thread : thread_.get_threads(problems))
      out.push_back(thread.allocation_context);
  } catch (const Error &e) {
    problems.push_back(
        std::string("the thread list was not found, so allocation contexts of threads were not skipped: ") + e.what());
  }
  return out;
}

} // namespace dnheap
