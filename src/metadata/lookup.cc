#include "metadata/lookup.h"

#include <algorithm>

namespace dnheap {

namespace {

// Returns the first position in [first, end) for which `before` is false.
template <class Before> u32 partition(u32 first, u32 end, Before before) {
  while (first < end) {
    u32 middle = first + (end - first) / 2;
    if (before(middle))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

} // namespace

KeyIndex::KeyIndex(const Metadata &metadata, Table table, unsigned key_column)
    : table_(table), key_column_(key_column) {
  u32 rows = metadata.row_count(table);
  bool is_sorted = true;
  u32 previous = 0;
  for (u32 rid = 1; rid <= rows && is_sorted; ++rid) {
    u32 key = key_at(metadata, rid);
    is_sorted = key >= previous;
    previous = key;
  }
  if (is_sorted)
    return;
  copy_.reserve(rows);
  for (u32 rid = 1; rid <= rows; ++rid)
    copy_.emplace_back(metadata.column(table, rid, key_column).value_or(0), rid);
  std::sort(copy_.begin(), copy_.end());
}

u32 KeyIndex::key_at(const Metadata &metadata, u32 position) const {
  return copy_.empty() ? metadata.column(table_, position, key_column_).value_or(0) : copy_[position - 1].first;
}

KeyIndex::Positions KeyIndex::find(const Metadata &metadata, u32 key) const {
  u32 end = metadata.row_count(table_) + 1;
  u32 first = partition(1, end, [&](u32 position) { return key_at(metadata, position) < key; });
  return {first, partition(first, end, [&](u32 position) { return key_at(metadata, position) == key; })};
}

MemberLists::MemberLists(const Metadata &metadata, Table member)
    : pointers_(member == Table::Field ? Table::FieldPtr : Table::MethodPtr),
      list_column_(member == Table::Field ? 4 : 5), types_(metadata.row_count(Table::TypeDef)) {
  u32 pointer_rows = metadata.row_count(pointers_);
  end_ = (pointer_rows ? pointer_rows : metadata.row_count(member)) + 1;

  bool ascends = true;
  u32 previous = 1;
  for (u32 rid = 1; rid <= types_ && ascends; ++rid) {
    u32 first = metadata.column(Table::TypeDef, rid, list_column_).value_or(0);
    ascends = first >= previous && first <= end_;
    previous = first;
  }
  if (!ascends) {
    starts_.reserve(types_);
    previous = 1;
    for (u32 rid = 1; rid <= types_; ++rid) {
      u32 first = metadata.column(Table::TypeDef, rid, list_column_).value_or(0);
      previous = std::max(previous, std::min(first, end_));
      starts_.push_back(previous);
    }
  }

  if (pointer_rows) {
    position_.assign(metadata.row_count(member), 0);
    for (u32 position = 1; position <= pointer_rows; ++position) {
      u32 rid = metadata.column(pointers_, position, 0).value_or(0);
      if (rid - 1 < position_.size())
        position_[rid - 1] = position;
    }
  }
}

u32 MemberLists::start(const Metadata &metadata, u32 type_rid) const {
  if (type_rid > types_)
    return end_;
  return starts_.empty() ? metadata.column(Table::TypeDef, type_rid, list_column_).value_or(end_)
                         : starts_[type_rid - 1];
}

RidRange MemberLists::members(const Metadata &metadata, u32 type_rid) const {
  if (type_rid == 0 || type_rid > types_)
    return {metadata, pointers_, 1, 1};
  return {metadata, pointers_, start(metadata, type_rid), start(metadata, type_rid + 1)};
}

u32 MemberLists::type_of(const Metadata &metadata, u32 member_rid) const {
  u32 position = member_rid;
  if (metadata.row_count(pointers_))
    position = member_rid - 1 < position_.size() ? position_[member_rid - 1] : 0;
  if (position == 0 || position >= end_)
    return 0;
  // Finds the last type that begins at or before the position. Types without members share its start and come before
  // it.
  return partition(1, types_ + 1, [&](u32 type) { return start(metadata, type) <= position; }) - 1;
}

} // namespace dnheap
