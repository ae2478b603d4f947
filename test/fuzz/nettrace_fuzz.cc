// What something that listens on a diagnostics port may send as events of a GC.
#include "base/error.h"
#include "dump/records/heap_events.h"
#include "dump/records/heap_layout.h"

#include <algorithm>
#include <new>

// Objects may be listed as larger than memory: that is std::bad_alloc.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace dnheap;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  HeapEvents events;
  NettraceParser *from = nullptr;
  NettraceParser parser(
      [&](const NettraceEvent &event) { events.take(event, from->pointer_size(), from->ticks_per_second()); });
  from = &parser;
  try {
    constexpr std::size_t part = 1000;
    for (std::size_t at = 0; at < size; at += part)
      parser.feed(bytes.subspan(at, std::min(part, size - at)));
    events.check();
    Target target;
    auto record = std::make_shared<HeapRecord>();
    events.fill(*record);
    lay_out_heap(events.listed(), parser.pointer_size(), 1, {}, target, record);
  } catch (const Error &) {
  } catch (const std::bad_alloc &) {
  }
  return 0;
}
