// The two kinds of look-up that need a sorted table, made safe for tables that are not. Part of Metadata, which builds
// them on first use; nothing else includes this. Building costs O(rows), a look-up O(log rows).
#pragma once
#include "metadata/ecma335.h"

#include <utility>

namespace dnheap {

// Rows of one table by a key column: NestedClass, GenericParam, Constant (sorted by II.22 in #~, in any order in #-).
class KeyIndex {
public:
  KeyIndex(const Metadata &metadata, Table table, unsigned key_column);

  struct Positions {
    u32 first, end;
  };
  Positions find(const Metadata &metadata, u32 key) const;
  u32 rid_at(u32 position) const { return copy_.empty() ? position : copy_[position - 1].second; }

private:
  u32 key_at(const Metadata &metadata, u32 position) const;

  Table table_;
  unsigned key_column_;
  std::vector<std::pair<u32, u32>> copy_; // (key, rid), sorted; empty when the table itself is sorted
};

// Maps fields, or methods, to their types: a TypeDef names its first member, and its members end where those of the
// next TypeDef begin (II.22.37). Positions are rows of the pointer table if there is one, else rows of the member
// table.
class MemberLists {
public:
  MemberLists(const Metadata &metadata, Table member);

  RidRange members(const Metadata &metadata, u32 type_rid) const;
  u32 type_of(const Metadata &metadata, u32 member_rid) const; // 0 = unknown

private:
  u32 start(const Metadata &metadata, u32 type_rid) const;

  Table pointers_;
  unsigned list_column_;
  u32 types_, end_;           // row numbers: the last type, one past the last position
  std::vector<u32> starts_;   // by type, ascending; empty when the column itself ascends
  std::vector<u32> position_; // by member, the inverse of the pointer table; empty when there is none
};

} // namespace dnheap
