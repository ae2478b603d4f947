#include "runtime/recorded/recorded_runtime.h"

namespace dnheap {

namespace {

ContractDescriptor describe_record(const HeapRecord &record) {
  ContractDescriptor out;
  out.found_by = record.source + ", which lists objects and roots";
  return out;
}

GCSegmentGeneration generation_of(int number) {
  switch (number) {
  case 0: return GCSegmentGeneration::gen0;
  case 1: return GCSegmentGeneration::gen1;
  case 3: return GCSegmentGeneration::loh;
  case 4: return GCSegmentGeneration::poh;
  default: return GCSegmentGeneration::gen2;
  }
}

} // namespace

RecordedRuntime::RecordedRuntime(const Target &target, const Module &module)
    : Runtime(target, module, "", describe_record(*target.record)), record_(*target.record), types_(record_),
      fields_(target.format().pointer_size) {}

std::vector<GCHeapSegment> RecordedRuntime::heap_segments(Notes &notes) const {
  std::vector<GCHeapSegment> out;
  for (const HeapRecord::Segment &segment : record_.segments)
    out.push_back({{.generation = generation_of(segment.generation),
                    .segment = segment.start,
                    .start = segment.start,
                    .end = segment.end,
                    .committed_end = {},
                    .reserved_end = {},
                    .used_end = {}},
                   0});
  if (!record_.has_generations) { // a file with them lists garbage, too
    notes.add(Subject::heap, Effect::none,
              record_.source + " does not say which generation an object is in: all count as gen2");
    notes.add(Subject::heap, Effect::none,
              record_.source + " lists no free room: all that lies between its objects counts as Free");
  }
  return out;
}

} // namespace dnheap
