// Budget: the limits that `check` compares a record with, from a JSON file: doc/budget.md, and doc/schema/budget.json.
// Parsing takes some µs per limit. Any thread.
#pragma once
#include "base/integers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// A limit for one figure of one type, owner or class of memory, or of everything that a pattern matches.
struct Limit {
  enum class Of : u8 { total, type, owner, signature, memory_class, group, finding };
  Of of = Of::total;
  std::string name;        // exact; for a signature at least its first six digits; empty: a total, or by pattern
  std::string pattern;     // RE2, not anchored, already checked; empty: by name
  bool each = false;       // applies to each match separately, not to their sum
  std::string metric;      // "count", "bytes", "live", "retained", "objects"; for a total the name of the total
  bool is_growth = false;  // the limit is for the growth since the baseline
  bool is_percent = false; // of the baseline's figure
  u64 most = 0;            // bytes or a number; 1/1000 of a percent
  std::string place;       // in the file: "types[0].growth.count"
};

struct Budget {
  std::vector<Limit> limits; // in the order of the file

  bool needs_baseline() const;
};

bool counts_bytes(const Limit &limit);

// Parses a budget. Throws UsageError, whose text is one line that names the file and the place in it.
Budget parse_budget(std::string_view json, const std::string &file);
Budget read_budget(const std::string &file);

} // namespace dnheap
