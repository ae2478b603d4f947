// Figures: a running process's memory at one moment; FiguresReader reads them without stopping the process. A look
// reads some files of /proc, and kilobytes of the GC's data: a few milliseconds. Not for several threads at once.
#pragma once
#include "base/host/control_group.h"
#include "snapshot/live_gc.h"

#include <string>

namespace dnheap {

enum class Figure : u8 { rss, private_memory, container, heap, gen0, gen1, gen2, loh, poh };
inline constexpr u64 figure_count = 9;
constexpr bool is_of_gc(Figure figure) { return figure >= Figure::heap; }
const char *name_of(Figure figure); // "rss", "private", "container", "heap", "gen0", …

struct Figures {
  std::array<std::optional<u64>, figure_count> bytes; // nullopt: not known
  std::optional<u64> limit;                           // of the container
  // Names what ran out of memory since the previous look: "the GC: …"; empty: nothing.
  std::string ran_out;

  std::optional<u64> of(Figure figure) const { return bytes[static_cast<u64>(figure)]; }
  void set(Figure figure, std::optional<u64> value) { bytes[static_cast<u64>(figure)] = value; }
};

// Returns the known figures: "rss 1.6 GiB, heap 1.2 GiB (gen2 1.1 GiB, …), container 1.7 of 2.0 GiB".
std::string figures_text(const Figures &figures);

class FiguresReader {
public:
  // If the process may not be read, but its diagnostics port answers, figures of the GC stay unknown. Throws Error if
  // neither is so, or if it has no GC heap.
  FiguresReader(u64 pid, const SnapshotOptions &options);

  const std::string &runtime() const { return runtime_; }
  // Says why the process may not be read; empty: it may.
  const std::string &forbidden() const { return forbidden_; }
  // Figures of the GC that cannot be read are unknown, and problem() says why. Throws Interrupted.
  Figures look();
  const std::string &problem() const { return problem_; }

private:
  void look_at_gc(Figures &figures);
  void look_at_groups(Figures &figures);

  u64 pid_;
  std::optional<LiveGc> gc_;
  std::string runtime_, forbidden_;
  std::string problem_;
  std::optional<std::vector<GCOomData>> out_of_memory_; // at the previous look
  std::optional<u64> group_ooms_;
};

} // namespace dnheap
