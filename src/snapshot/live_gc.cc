#include "snapshot/live_gc.h"

#include "dump/live/live_process.h"

#include <chrono>
#include <thread>

namespace dnheap {

namespace {

SnapshotOptions without_pause(SnapshotOptions options) {
  options.pause = false;
  options.record_reads = false;
  return options;
}

} // namespace

LiveGc::LiveGc(u64 pid, const SnapshotOptions &options) : pid_(pid), options_(without_pause(options)) {
  const std::unique_ptr<Snapshot> snapshot = Snapshot::attach(pid, options_);
  const Runtime &runtime = snapshot->runtime();
  runtime_ = ".NET" + (runtime.version().empty() ? "" : " " + runtime.version());
  descriptor_ = runtime.descriptor();
  runtime.gc().get_gc_heaps(); // throws if there is no such GC
}

// The GC changes its lists only while it says so (get_gc_structures_valid).
std::optional<GcFigures> LiveGc::try_to_look() const {
  LiveProcess process(pid_, {.pause = false, .temp_dir = "", .watch = options_.watch});
  const std::unique_ptr<Target> target = process.take_target();
  const std::unique_ptr<Gc> gc = make_gc(target->memory, descriptor_, options_.hints.gc_readers);
  if (!gc->get_gc_structures_valid())
    return std::nullopt;
  GcFigures out;
  Notes notes;
  for (const Address heap : gc->get_gc_heaps()) {
    for (const GCHeapSegmentInfo &segment : gc->enumerate_heap_segments(gc->get_heap_data(heap), notes))
      if (segment.is_sound())
        out.bytes[static_cast<u64>(segment.generation)] += segment.end - segment.start;
    try {
      out.out_of_memory.push_back(gc->get_oom_data(heap));
    } catch (const Error &) { // unknown place for some kinds of runtime
    }
  }
  // Memory that was read is cached, so a fresh target asks the process anew.
  const std::unique_ptr<Target> after =
      LiveProcess(pid_, {.pause = false, .temp_dir = "", .watch = options_.watch}).take_target();
  if (!notes.empty() || !make_gc(after->memory, descriptor_, options_.hints.gc_readers)->get_gc_structures_valid())
    return std::nullopt;
  return out;
}

std::optional<GcFigures> LiveGc::look() const {
  constexpr int most_tries = 5;
  for (int tries = 1; tries <= most_tries; ++tries) {
    try {
      if (std::optional<GcFigures> out = try_to_look())
        return out;
    } catch (const Interrupted &) {
      throw;
    } catch (const Error &) { // changing lists may lead anywhere
      if (tries == most_tries)
        throw;
    }
    options_.watch.check();
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * tries));
  }
  return std::nullopt;
}

} // namespace dnheap
