#include "runtime/runtime.h"

#include "base/text.h"
#include "runtime/facts/crash_info.h"
#include "runtime/facts/exception_records.h"
#include "runtime/facts/il_code.h"
#include "runtime/facts/runtime_block.h"
#include "runtime/facts/stress_log.h"
#include "runtime/facts/thread_details.h"
#include "target/unreadable.h"

#include <algorithm>

namespace dnheap {

namespace {

using Extents = std::vector<std::pair<Address, Address>>; // [start, end), by address, without overlaps

// `ranges` are sorted by their starts.
Extents extents_of(std::span<const AbsentRange> ranges) {
  Extents out;
  for (const AbsentRange &range : ranges) {
    const Address start = out.empty() ? range.start : std::max(range.start, out.back().second);
    if (start < range.end)
      out.emplace_back(start, range.end);
  }
  return out;
}

u64 bytes_in(const Extents &extents, Address start, Address end) {
  u64 sum = 0;
  for (auto it = std::partition_point(extents.begin(), extents.end(), [&](const auto &e) { return e.second <= start; });
       it != extents.end() && it->first < end; ++it)
    sum += std::min(it->second, end) - std::max(it->first, start);
  return sum;
}

} // namespace

std::vector<GCHeapSegment> Runtime::heap_segments(Notes &notes) const {
  std::vector<GCHeapSegment> out;
  std::vector<Address> heaps = gc_->get_gc_heaps();
  for (u32 i = 0; i < heaps.size(); ++i)
    for (const GCHeapSegmentInfo &info : gc_->enumerate_heap_segments(gc_->get_heap_data(heaps[i]), notes))
      out.push_back({info, i});
  return out;
}

// A generation has a context of its own only while the GC plans moves: the context's memory still holds the old
// objects, or free space that is to be filled. See gc.cpp, adjust_limit() and fix_older_allocation_area(). Unlike a
// thread's, such a context has no room behind it when it is used up.
std::vector<AllocationContext> Runtime::allocation_contexts(Notes &notes) const {
  std::vector<AllocationContext> out;
  Notes said_elsewhere;
  if (gc_structures_valid(said_elsewhere) != false)
    for (Address heap : gc_->get_gc_heaps())
      for (const GCGenerationData &generation : gc_->get_heap_data(heap).generation_table)
        if (generation.allocation_context_pointer != generation.allocation_context_limit)
          out.push_back({generation.allocation_context_pointer, generation.allocation_context_limit});
  if (std::optional<AllocationContext> global = gc_->get_global_allocation_context())
    out.push_back(*global);
  try {
    Notes of_threads;
    for (const ThreadData &thread : threads(of_threads))
      out.push_back(thread.allocation_context);
    notes.add_all(of_threads.up_to(Effect::numbers)); // a context that is not skipped changes only numbers
  } catch (const Error &e) {
    notes.add(Subject::heap, Effect::numbers,
              "the thread list was not found, so allocation contexts of threads were not skipped: ", e);
  }
  return out;
}

GCFlavour Runtime::gc_flavour() const {
  return {gc_->get_gc_identifiers(), gc_->is_server(), gc_->has_regions(), gc_->get_gc_heap_count()};
}

std::optional<bool> Runtime::gc_structures_valid(Notes &notes) const {
  try {
    return gc_->get_gc_structures_valid();
  } catch (const Error &e) {
    notes.add(Subject::gc, Effect::numbers, "unknown whether a GC was in progress: ", e);
    return std::nullopt;
  }
}

WalkedStack Runtime::walk_stack(const ThreadData &thread, ListedFrames frames) const {
  WalkedStack out = follow_stack(thread, frames);
  if (!out.is_complete())
    partial_stacks_[out.why_not].insert(thread.os_id.value_or(0));
  return out;
}

WalkedStack Runtime::follow_stack(const ThreadData &thread, ListedFrames) const {
  WalkedStack out;
  out.thread = thread.address;
  out.why_not = std::string("stacks of the runtime kind ") + kind() + " are not read yet";
  return out;
}

ThreadDetails Runtime::thread_details(const ThreadData &) const { return {}; }

MethodText Runtime::method_text(Address method_desc) const {
  const std::string name = "<method " + hex(method_desc) + ">";
  return {name, name, ""};
}

std::vector<LoadedAssembly> Runtime::assemblies(Notes &) const { return {}; }

std::vector<StaticRoot> Runtime::static_roots(Notes &notes) const {
  notes.add(Subject::statics, Effect::liveness,
            std::string("static fields are not named: in the runtime kind ") + kind() + " they cannot be read yet");
  return {};
}

std::unique_ptr<IlCode> Runtime::il_code() const { return nullptr; }

std::unique_ptr<ExceptionRecords> Runtime::exceptions() const { return nullptr; }

std::vector<RuntimeBlock> Runtime::own_blocks(std::span<const Address>) const { return {}; }

std::optional<StressLog> Runtime::stress_log() const { return std::nullopt; }

std::optional<CrashInfo> Runtime::crash_info() const { return std::nullopt; }

void Runtime::set_no_heap(std::string why) {
  why_no_heap_ = std::move(why) + "; contract, info, threads, stack, exceptions and locks show what the dump holds";
}

void Runtime::look_for_heap() {
  if (std::string why = why_not_enough(); !why.empty())
    set_no_heap(std::move(why));
}

// A dump that was cut off is analyzed with gaps (Target::absent lists the memory that it has lost), and so is a dump
// that holds a part of the heap. A dump that holds hardly any of the heap, and never did, is of a kind without heap.
std::string Runtime::why_not_enough() const {
  const Extents absent = extents_of(target_.absent);
  Notes notes;
  u64 total = 0, known = 0, lost = 0;
  try {
    for (const GCHeapSegment &s : heap_segments(notes)) {
      if (!s.is_sound() || s.start == s.end || s.generation == GCSegmentGeneration::frozen)
        continue;
      total += s.end - s.start;
      known += memory().known_bytes(s.start, s.end);
      lost += bytes_in(absent, s.start, s.end);
    }
  } catch (const Unreadable &e) { // unsound segments are reported elsewhere
    notes.add(Subject::heap, Effect::numbers, "", e);
  }
  const bool no_segment = total == 0 && !notes.empty(); // not even the lists of segments are in the dump
  // The few objects to which stacks lead are a larger part of a small heap.
  constexpr u64 small_heap = 1 << 20;
  if (!no_segment && known + lost >= total / (total < small_heap ? 10 : 16))
    return "";
  const std::string what = no_segment
                               ? "the dump holds nothing of the managed heap"
                               : "the dump holds " + bytes_text(known) + " of the managed heap's " + bytes_text(total);
  const std::string first = no_segment ? "; " + notes.front().text : "";
  if (!target_.advice.empty()) // the dump has lost memory of some kind
    return what + first;
  return what +
         (target_.os == OperatingSystem::windows
              ? ": it is of a kind without heap (a mini or triage dump); take a full one (dotnet-dump collect "
                "--type Full, procdump -ma), or set DOTNET_DbgMiniDumpType=4"
              : ": it is of a kind without heap (createdump --normal or --triage, DOTNET_DbgMiniDumpType 1 or "
                "3); take one with createdump --withheap PID, or with DOTNET_DbgMiniDumpType=2") +
         first;
}

} // namespace dnheap
