#include "analysis/inspectors/registered_objects.h"

#include "base/notes.h"
#include "base/text.h"
#include "runtime/gc.h"
#include "snapshot/snapshot.h"

#include <string_view>

namespace dnheap {

void each_registered_object(const Snapshot &snapshot, Notes &notes,
                            const std::function<void(Address, const GCFinalizeQueuePart &)> &visit) {
  constexpr u64 most = u64{1} << 28, most_missing = 4096;
  const Memory &memory = snapshot.runtime().memory();
  const u64 p = memory.format().pointer_size;
  u64 seen = 0, missing = 0;
  try {
    const Gc &gc = snapshot.runtime().gc();
    for (Address heap : gc.get_gc_heaps())
      for (const GCFinalizeQueuePart &part : finalize_queue_parts(gc.get_heap_data(heap))) {
        if (part.name == std::string_view("critical") || part.name == std::string_view("ready"))
          continue;
        for (Address at = part.start; at + p <= part.end && seen < most && missing <= most_missing; at += p, ++seen) {
          if (seen % 4096 == 0)
            snapshot.watch().check();
          const std::optional<u64> object = memory.try_pointer(at);
          missing += !object;
          if (object && *object)
            visit(*object, part);
        }
      }
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    notes.add(
        Subject::roots, Effect::numbers,
        "the queue of objects with a finalizer cannot be read, so those that are registered in it are not listed: " +
            std::string(error.what()));
  }
  if (missing)
    notes.add(Subject::gc, Effect::numbers,
              count_text(missing) + (missing == 1 ? " entry" : " entries") +
                  " of the queue of objects with a finalizer " + (missing == 1 ? "is" : "are") +
                  " not in this dump, so these objects are not listed" +
                  (missing > most_missing ? ", nor are those behind them" : ""));
}

} // namespace dnheap
