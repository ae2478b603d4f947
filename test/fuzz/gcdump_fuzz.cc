// Any bytes as a .gcdump: a clear error, or a heap that can be walked, whose objects lead to objects.
#include "dump/records/gcdump.h"
#include "objects/object_graph.h"
#include "objects/roots.h"
#include "snapshot/snapshot.h"

using namespace dnheap;

// Objects may be listed as larger than memory: that is std::bad_alloc.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  try {
    if (std::unique_ptr<Target> target = open_gcdump(std::as_bytes(std::span(data, size)), 1, {})) {
      u64 bytes = 0;
      for (const Range &range : target->memory.ranges())
        bytes += range.bytes.size();
      if (bytes > u64{1} << 26) // a heap of large objects: walking it takes too long here
        return 0;
      const Snapshot snapshot(std::move(target), {.threads = 1});
      (void)snapshot.roots();
      (void)snapshot.graph();
    }
  } catch (const Error &) {
    // Most bytes are no .gcdump.
  } catch (const std::bad_alloc &) {
    // The file may list objects of terabytes.
  }
  return 0;
}
