#include "lookout/figures.h"

#include "base/process/process.h"
#include "base/text.h"
#include "snapshot/self_dump.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr GCSegmentGeneration generations[] = {GCSegmentGeneration::gen0, GCSegmentGeneration::gen1,
                                               GCSegmentGeneration::gen2, GCSegmentGeneration::loh,
                                               GCSegmentGeneration::poh};

Figure figure_of(GCSegmentGeneration generation) {
  return static_cast<Figure>(static_cast<u8>(Figure::gen0) + static_cast<u8>(generation));
}

// True if this is a new failure: the number of the collection distinguishes them.
bool is_another(const GCOomData &now, const GCOomData &before) {
  return now.happened() && (!before.happened() || now.gc_index != before.gc_index || now.reason != before.reason ||
                            now.alloc_size != before.alloc_size);
}

} // namespace

const char *name_of(Figure figure) {
  static constexpr const char *names[] = {"rss", "private", "container", "heap", "gen0", "gen1", "gen2", "loh", "poh"};
  static_assert(std::size(names) == figure_count);
  return names[static_cast<u64>(figure)];
}

std::string figures_text(const Figures &figures) {
  std::string out, generations_text;
  auto add = [&](std::string &to, Figure figure) {
    if (const std::optional<u64> bytes = figures.of(figure))
      to += (to.empty() ? "" : ", ") + std::string(name_of(figure)) + " " + bytes_text(*bytes);
  };
  for (const GCSegmentGeneration generation : generations)
    add(generations_text, figure_of(generation));
  add(out, Figure::rss);
  add(out, Figure::private_memory);
  add(out, Figure::heap);
  if (!generations_text.empty())
    out += " (" + generations_text + ")";
  add(out, Figure::container);
  if (figures.limit && figures.of(Figure::container))
    out += " of " + bytes_text(*figures.limit);
  return out;
}

FiguresReader::FiguresReader(u64 pid, const SnapshotOptions &options) : pid_(pid) {
  try {
    gc_.emplace(pid, options);
    runtime_ = gc_->runtime();
  } catch (const Forbidden &error) {
    const PortLook port = look_at_port(pid);
    if (port.state != PortState::answers)
      throw;
    forbidden_ = problem_ = error.what();
    runtime_ = ".NET " + port.described.version.substr(0, port.described.version.find('+'));
  }
}

Figures FiguresReader::look() {
  Figures out;
  out.set(Figure::rss, resident_memory(pid_));
  out.set(Figure::private_memory, private_memory(pid_));
  look_at_groups(out);
  if (gc_)
    look_at_gc(out);
  return out;
}

// Usually the group with the lowest limit reaches its limit first.
void FiguresReader::look_at_groups(Figures &figures) {
  u64 ooms = 0;
  for (const GroupMemory &group : group_memory(pid_)) {
    ooms += group.ooms;
    if (group.limit < figures.limit.value_or(~u64{0})) {
      figures.limit = group.limit;
      figures.set(Figure::container, group.used);
    }
  }
  if (ooms > group_ooms_.value_or(ooms))
    figures.ran_out = "the container had no memory left, says the kernel";
  group_ooms_ = ooms;
}

void FiguresReader::look_at_gc(Figures &figures) {
  try {
    const std::optional<GcFigures> found = gc_->look();
    problem_ = found ? "" : "the GC was at work each time";
    if (!found)
      return;
    u64 heap = 0;
    for (const GCSegmentGeneration generation : generations) {
      figures.set(figure_of(generation), found->of(generation));
      heap += found->of(generation);
    }
    figures.set(Figure::heap, heap);
    for (u64 i = 0; out_of_memory_ && i < std::min(found->out_of_memory.size(), out_of_memory_->size()); ++i)
      if (const GCOomData &now = found->out_of_memory[i]; is_another(now, (*out_of_memory_)[i]))
        figures.ran_out = "the GC could not allocate" + (now.alloc_size ? " " + bytes_text(now.alloc_size) : "") +
                          (now.reason ? ": " + oom_reason_text(now.reason) : "");
    out_of_memory_ = found->out_of_memory;
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    problem_ = error.what();
  }
}

} // namespace dnheap
