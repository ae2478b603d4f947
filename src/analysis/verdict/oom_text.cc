#include "analysis/verdict/oom_text.h"

#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 longest_setting = 200;

// The GC records what refused the memory only if it uses segments. With regions it records neither that its own limit
// nor that the system refused (both seen on 10.0 and 11.0).
std::string refused_by(const GCOomData &oom, const GCSetting *limit, const GCMemoryInfo *info) {
  if (!oom.fgm && limit)
    return fmt::format("; it is not recorded what refused the memory, but the GC's own limit is {} ({}={})",
                       bytes_text(*limit->hard_limit), printable(limit->name, longest_setting),
                       printable(limit->value, longest_setting));
  if (!oom.fgm && info && info->has_own_limit())
    return fmt::format("; it is not recorded what refused the memory, but the GC's own limit is {}, {}",
                       bytes_text(info->limit), origin_of_limit(*info, {}));
  if (!oom.fgm)
    return "; it is not recorded what refused the memory: a limit of the GC itself (GCHeapHardLimit, 75 % of a "
           "container's memory, the range that it reserved), or the system";
  const u64 available = oom.available_pagefile_mb << 20;
  return "; " + failure_get_memory_text(oom.fgm) + " (" + bytes_text(oom.size) + ", while the system had " +
         bytes_text(available) + (available / 2 > oom.size ? ", so a limit was reached)" : ")");
}

} // namespace

std::string oom_text(const GCOomData &oom, const GCSetting *limit, const GCMemoryInfo *info) {
  if (!oom.happened())
    return "never";
  // For small objects, this is the size of the memory in which the GC wanted to put new objects.
  std::string out = "the GC could not get " + (oom.alloc_size ? bytes_text(oom.alloc_size) : "memory") +
                    (oom.loh_p ? " for a large object" : " for new objects");
  if (oom.reason)
    out += ": " + oom_reason_text(oom.reason);
  return out + refused_by(oom, limit, info) + ", at collection " + std::to_string(oom.gc_index);
}

std::string last_oom_text(const Snapshot &snapshot) {
  const Runtime &runtime = snapshot.runtime();
  try {
    for (Address heap : runtime.gc().get_gc_heaps())
      if (const GCOomData oom = runtime.gc().get_oom_data(heap); oom.happened()) {
        const GCSettings settings = find_gc_settings(snapshot);
        const std::optional<GCMemoryInfo> info =
            settings.hard_limit() ? std::nullopt : find_recent_gc_memory_info(snapshot).newest;
        return oom_text(oom, settings.hard_limit(), info ? &*info : nullptr);
      }
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &) { // the verb `gc` reports what could not be read
  }
  return "";
}

bool is_out_of_memory(std::string_view exceptions) {
  return exceptions.find("System.OutOfMemoryException") != exceptions.npos;
}

} // namespace dnheap
