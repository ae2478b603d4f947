// Condition: a state of the process in which `watch` takes a core: "rss>1.5G", "gen2>800M", "container>90%", "oom".
// Costs nothing.
#pragma once
#include "lookout/figures.h"

namespace dnheap {

struct Condition {
  std::string text;             // as the user wrote it
  std::optional<Figure> figure; // nullopt: oom
  u64 bytes = 0;
  u64 percent = 0; // of the container's limit, instead of bytes; 0: not a percentage
};

// Parses one or several conditions with | between them. Throws UsageError.
std::vector<Condition> parse_conditions(std::string_view text);

// below: so far below the limit that exceeding it again counts as a new event; between: neither below nor above.
enum class Level : u8 { unknown, below, between, above };
Level level_of(const Condition &condition, const Figures &figures);

} // namespace dnheap
