#include "support/core_file.h"

#include <algorithm>

namespace dnheap::test {

ElfCoreWriter core_writer(HeapBuilder &heap) {
  std::unique_ptr<Target> target = heap.target();
  ElfCoreWriter writer{.format = heap.shape.format};
  auto is_heap = [&](const ElfCoreWriter::Segment &segment) {
    return std::any_of(heap.segments.begin(), heap.segments.end(), [&](const SegmentWriter &s) {
      return s.start >= segment.address && s.start < segment.address + std::max<u64>(segment.bytes.size(), 1);
    });
  };
  for (const Range &range : target->memory.ranges())
    writer.segments.push_back({range.address, {range.bytes.begin(), range.bytes.end()}});
  std::stable_partition(writer.segments.begin(), writer.segments.end(), [&](const auto &s) { return !is_heap(s); });
  for (const Module &module : target->modules)
    for (const Extent &extent : module.extents)
      writer.files.push_back({module.path, extent.start, extent.end, extent.file_offset});
  for (const Thread &thread : target->threads)
    writer.threads.push_back({static_cast<u32>(thread.id)});
  writer.pid = 4001;
  return writer;
}

std::string core_file(HeapBuilder &heap) {
  std::vector<std::byte> bytes = core_writer(heap).write();
  return std::string(as_text(bytes));
}

} // namespace dnheap::test
