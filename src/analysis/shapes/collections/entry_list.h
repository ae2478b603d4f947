// The entries of one collection, as places in memory: nothing of a key or a value is read. Entries that lie at equal
// distances are kept as one run, so that a list of a billion elements takes a few bytes. Plain data.
#pragma once
#include "runtime/fields.h"

#include <vector>

namespace dnheap {

// A key, a value or an element.
struct EntryPart {
  const InstanceField *type = nullptr; // its declared type; null: there is no such part. Its offset has no meaning
  Address at = 0;                      // its first byte
  bool is_object = false;              // `at` is the object itself, and no place refers to it

  explicit operator bool() const { return type != nullptr; }
};

struct CollectionEntry {
  EntryPart key, value; // only dictionaries have keys
};

class EntryList {
public:
  u64 count() const { return count_; }
  bool has_keys() const { return !runs_.empty() && runs_.front().first.key; }
  // Adds `count` entries, whose keys and values lie at these distances.
  void add(const CollectionEntry &first, u64 count, i64 key_step, i64 value_step);
  void add(const CollectionEntry &entry);
  // Keeps the keys, as if they were elements; or the values alone.
  void keep_keys();
  void keep_values();

  // Goes through the entries of a list, which must not change meanwhile.
  class Cursor {
  public:
    explicit Cursor(const EntryList &list) : list_(list) {}
    // Returns false at the end.
    bool next(CollectionEntry &out);

  private:
    const EntryList &list_;
    u64 run_ = 0, within_ = 0;
  };

private:
  struct Run {
    CollectionEntry first;
    u64 count = 0;
    i64 key_step = 0, value_step = 0;
    CollectionEntry at(u64 number) const;
  };
  std::vector<Run> runs_;
  u64 count_ = 0;
};

} // namespace dnheap
