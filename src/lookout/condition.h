// Condition: when a core is to be taken: "rss>1.5G", "gen2>800M", "container>90%", "oom".
// Costs nothing.
#pragma once
#include "lookout/figures.h"

namespace dnheap {

struct Condition {
  std::string text;             // as it was written
  std::optional<Figure> figure; // nullopt: oom
  u64 bytes = 0;
  u64 percent = 0; // of the container's limit, instead of bytes; 0: not so
};

// Several may stand in one text, with | between them. Throws UsageError.
std::vector<Condition> parse_conditions(std::string_view text);

// below: by so much that the next time above counts as another one; between: neither.
enum class Level : u8 { unknown, below, between, above };
Level level_of(const Condition &condition, const Figures &figures);

} // namespace dnheap
