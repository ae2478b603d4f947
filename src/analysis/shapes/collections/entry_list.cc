#include "analysis/shapes/collections/entry_list.h"

namespace dnheap {

namespace {

bool is_same_kind(const EntryPart &a, const EntryPart &b) { return a.type == b.type && a.is_object == b.is_object; }

} // namespace

CollectionEntry EntryList::Run::at(u64 number) const {
  CollectionEntry out = first;
  out.key.at += number * static_cast<u64>(key_step);
  out.value.at += number * static_cast<u64>(value_step);
  return out;
}

void EntryList::add(const CollectionEntry &first, u64 count, i64 key_step, i64 value_step) {
  if (count == 0)
    return;
  runs_.push_back({first, count, key_step, value_step});
  count_ += count;
}

void EntryList::add(const CollectionEntry &entry) {
  Run *last = runs_.empty() ? nullptr : &runs_.back();
  if (!last || !is_same_kind(last->first.key, entry.key) || !is_same_kind(last->first.value, entry.value))
    return add(entry, 1, 0, 0);
  if (last->count == 1) { // any second entry says how far it is to the next one
    last->key_step = static_cast<i64>(entry.key.at - last->first.key.at);
    last->value_step = static_cast<i64>(entry.value.at - last->first.value.at);
  }
  const CollectionEntry expected = last->at(last->count);
  if (expected.key.at != entry.key.at || expected.value.at != entry.value.at)
    return add(entry, 1, 0, 0);
  ++last->count;
  ++count_;
}

void EntryList::keep_keys() {
  for (Run &run : runs_) {
    run.first.value = run.first.key;
    run.value_step = run.key_step;
  }
  keep_values();
}

void EntryList::keep_values() {
  for (Run &run : runs_) {
    run.first.key = {};
    run.key_step = 0;
  }
}

bool EntryList::Cursor::next(CollectionEntry &out) {
  if (run_ == list_.runs_.size())
    return false;
  const Run &run = list_.runs_[run_];
  out = run.at(within_);
  if (++within_ == run.count) {
    ++run_;
    within_ = 0;
  }
  return true;
}

} // namespace dnheap
