#include "graph/root_stages.h"

namespace dnheap {

namespace {

// Of one heap; more are not believed.
constexpr u64 most_finalizable = u64{1} << 28;

void read_handles(const Runtime &runtime, RootStages &out) {
  const Gc1 &gc = runtime.gc();
  std::vector<HandleType> types = gc.get_supported_handle_types();
  std::vector<std::vector<Address>> by_type(handle_type_count);
  for (const HandleData &handle : gc.get_handles(types, out.problems)) {
    if (handle.type == HandleType::dependent && handle.secondary)
      out.dependents.push_back({handle.object, *handle.secondary});
    if (handle.strong_reference)
      by_type[static_cast<u8>(handle.type)].push_back(handle.object);
  }
  for (HandleType type : types)
    if (std::vector<Address> &objects = by_type[static_cast<u8>(type)]; !objects.empty())
      out.stages.push_back({std::string("handle:") + name_of(type), std::move(objects)});
}

// Objects that are dead but for their finalizer, which is due.
void read_finalizable(const Runtime &runtime, RootStages &out) {
  const u64 p = runtime.memory().format().pointer_size;
  RootStage stage{"finalizer", {}};
  for (Address heap : runtime.gc().get_gc_heaps()) {
    GCHeapData data = runtime.gc().get_heap_data(heap);
    if (!data.fill_pointers)
      out.problems.push_back("the finalization queue cannot be found: what waits for its finalizer counts as dead");
    for (const GCFinalizeQueuePart &part : finalize_queue_parts(data)) {
      if (std::string_view(part.name) != "critical" && std::string_view(part.name) != "ready")
        continue;
      u64 count = (part.end - part.start) / p;
      if (count > most_finalizable) {
        out.problems.push_back("a finalization queue of " + std::to_string(count) + " objects is not believed");
        continue;
      }
      for (u64 i = 0; i < count; ++i) {
        std::optional<u64> object = runtime.memory().try_pointer(part.start + i * p);
        if (!object) {
          out.problems.push_back("part of a finalization queue is not in this dump");
          break;
        }
        if (*object)
          stage.objects.push_back(*object);
      }
    }
  }
  if (!stage.objects.empty())
    out.stages.push_back(std::move(stage));
}

} // namespace

RootStages read_root_stages(const Runtime &runtime) {
  RootStages out;
  for (auto read : {read_handles, read_finalizable}) {
    try {
      read(runtime, out);
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &e) {
      out.problems.push_back(e.what());
    }
  }
  return out;
}

} // namespace dnheap
