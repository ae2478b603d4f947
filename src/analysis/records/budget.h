// Budget: the limits that `check` holds a record against, as a JSON file says them: doc/budget.md, and
// doc/schema/budget.json. Parsing takes some µs a limit. Any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// One figure, of one thing or of all that a pattern matches.
struct Limit {
  enum class Of : u8 { total, type, owner, signature, memory_class, group };
  Of of = Of::total;
  std::string name;        // exact; of a signature at least its first six digits; empty: of a total, or by pattern
  std::string pattern;     // RE2, not anchored, known to be valid; empty: by name
  bool each = false;       // of all that match each by itself, not their sum
  std::string metric;      // "count", "bytes", "live", "retained", "objects"; of a total what is summed up
  bool is_growth = false;  // against the baseline
  bool is_percent = false; // of the baseline's figure
  u64 most = 0;            // bytes or a number; 1/1000 of a percent
  std::string place;       // in the file: "types[0].growth.count"
};

struct Budget {
  std::vector<Limit> limits; // in the order of the file

  bool needs_baseline() const;
};

bool counts_bytes(const Limit &limit);

// Throws UsageError: one line that names the file and the place in it.
Budget parse_budget(std::string_view json, const std::string &file);
Budget read_budget(const std::string &file);

} // namespace dnheap
