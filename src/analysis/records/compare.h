// compare: how each owner, type and class of memory changed from one record to the next. Compares everything that any
// record has, however small. Costs a look-up per row and record. Any thread.
#pragma once
#include "analysis/records/record.h"
#include "base/notes.h"

#include <span>

namespace dnheap {

// The change from the first record to the last.
enum class Course : u8 { added, gone, grown, shrunk, steady };
// The changes from each record to the next.
enum class Trend : u8 { steady, grew_each_time, never_shrank, up_and_down, never_grew, shrank_each_time };
const char *name_of(Course course); // "new", "gone", "grown", "shrunk", "steady"
const char *name_of(Trend trend);   // "steady", "grew each time", "never shrank", "up and down", …

// The figures of one owner, type, class, or kind of waste in one place.
struct Series {
  std::string key; // identifies one row in each record
  // From the last record that has the row. For an owner: its name with its part, its kind, its signature; for waste:
  // holder, kind, type.
  std::string name, kind, what;
  std::vector<u64> bytes, counts;  // in each record; 0 if it has none
  std::vector<u64> retained, live; // for types
  Course course = Course::steady;  // of the bytes, or of the counts if the bytes did not change
  Trend trend = Trend::steady;     // of the bytes
};

struct Comparison {
  std::vector<Series> owners, types, classes,
      waste;                                // grown most first, then shrunk most, then the rest by size
  Series heap, live, mapped;                // bytes and numbers of all objects, and of live ones; sum of all classes
  std::vector<std::optional<double>> hours; // of each record since the first one; absent: time unknown
  bool is_too_close = false; // the records' times are less than a minute apart: too little for a rate per hour
  Notes notes;               // reasons for missing rates, or signs of different programs, in whole phrases
};

// Returns the change from the first value to the last, saturated at 63 bits.
i64 change_of(std::span<const u64> values);
// `interval`: seconds between one record and the next; 0: use the records' own times. Throws UsageError for fewer than
// two records.
Comparison compare(std::span<const Record> records, u64 interval);

} // namespace dnheap
