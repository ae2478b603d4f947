// compare: what became of each owner, type and class of memory from one record to the next. All that any of the records
// has is compared, however small: nothing is left out before it. Costs a look-up per row and record. Any thread.
#pragma once
#include "analysis/records/record.h"

#include <span>

namespace dnheap {

// From the first record to the last.
enum class Course : u8 { added, gone, grown, shrunk, steady };
// From each record to the next.
enum class Trend : u8 { steady, grew_each_time, never_shrank, up_and_down, never_grew, shrank_each_time };
const char *name_of(Course course); // "new", "gone", "grown", "shrunk", "steady"
const char *name_of(Trend trend);   // "steady", "grew each time", "never shrank", "up and down", …

// One owner, type, class, or kind of waste in one place.
struct Series {
  std::string key; // of one row in each record
  // Of the last record that has it. Of an owner: its name with its part, kind, signature; of waste: holder, kind, type.
  std::string name, kind, what;
  std::vector<u64> bytes, counts;  // of each record, 0 where it has none of it
  std::vector<u64> retained, live; // of types
  Course course = Course::steady;  // of the bytes, but where they are 0
  Trend trend = Trend::steady;     // of the bytes
};

struct Comparison {
  std::vector<Series> owners, types, classes,
      waste;                                // what grew most first, then what shrank most, then the rest by size
  Series heap, live, mapped;                // sums: bytes and numbers of all objects, of live ones; of all classes
  std::vector<std::optional<double>> hours; // of each record from the first one on, where times are known
  bool is_too_close = false;                // by these less than a minute: nothing per hour follows from that
  std::vector<std::string> notes;           // why there are no rates, that programs differ, in whole phrases
};

// From the first to the last; what does not fit 63 bits is as much as does.
i64 change_of(std::span<const u64> values);
// `interval`: seconds between one record and the next; 0: as they tell. Throws UsageError for fewer than two.
Comparison compare(std::span<const Record> records, u64 interval);

} // namespace dnheap
