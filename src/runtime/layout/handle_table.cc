#include "runtime/layout/handle_table.h"

#include <algorithm>

namespace dnheap {

namespace {

// gc/handletableconstants.h: the same in all versions; the test is that everything else fits.
constexpr u64 segment_size = 0x10000, header_size = 0x1000, handles_per_block = 64, block_invalid = 0xff;
constexpr u64 most_tables = 4096, most_kinds = 32;

class HandleTableDerivation {
public:
  HandleTableDerivation(Derivation &derivation, const Gc &gc)
      : d_(derivation), gc_(gc), p_(derivation.pointer_size),
        blocks_((segment_size - header_size) / (handles_per_block * p_)) {}

  void run() {
    const char *what = "HandleMaxInternalTypes";
    const std::string predicate = "; exactly one number of kinds must pass: every table's first segment points back at "
                                  "the table, and each of its blocks is of the kind in whose list it is";
    std::optional<u64> map = d_.descriptor.try_number("HandleTableMap");
    if (!map || !find_tables(*map)) {
      d_.descriptor.missing[what] =
          std::string(map ? "no table of handles is in this dump" : "GcDacVars names no table of handles") + predicate;
      return;
    }
    std::vector<u64> found;
    for (u64 kinds = 1; kinds <= most_kinds; ++kinds)
      if (all_tables_pass(kinds))
        found.push_back(kinds);
    if (found.size() != 1) {
      d_.descriptor.missing[what] = "discovered " + std::to_string(found.size()) + " candidates" + predicate;
      return;
    }
    set_layout(found[0]);
    set_table_count(found[0]);
  }

private:
  // Offsets in a segment: per block four bytes of ages, its link, two free masks, its kind, its block of second words
  // and a lock count; then three arrays by kind, packed.
  u64 rg_allocation() const { return 4 * blocks_; }
  u64 rg_block_type() const { return rg_allocation() + blocks_ + 8 * blocks_; }
  u64 rg_user_data() const { return rg_block_type() + blocks_; }
  u64 rg_tail() const { return rg_user_data() + 2 * blocks_; }
  u64 next_segment(u64 kinds) const { return rg_tail() + 6 * kinds; }
  // In a table: 32 bits of flags per kind come first.
  u64 segment_list(u64 kinds) const { return align_up(4 * kinds, p_); }

  // Reads the first map's buckets → their arrays of tables. A map has the bucket number at which it ends.
  bool find_tables(Address map) {
    std::optional<u64> buckets = d_.word(map), next = d_.word(map + p_);
    std::optional<u32> end = d_.memory.try_load<u32>(map + 2 * p_);
    if (!buckets || !next || !end || *end == 0 || *end > most_tables)
      return false;
    buckets_ = *end;
    for (u64 i = 0; i < buckets_; ++i)
      if (u64 bucket = d_.word(*buckets + i * p_).value_or(0))
        if (u64 array = d_.word(bucket).value_or(0))
          arrays_.push_back(array);
    server_ = gc_.is_server();
    for (Address array : arrays_)
      if (u64 table = d_.word(array).value_or(0))
        first_tables_.push_back(table);
    return !first_tables_.empty();
  }

  bool is_table(Address table, u64 kinds) const {
    std::optional<u64> segment = d_.word(table + segment_list(kinds));
    if (!segment || *segment == 0 || *segment % segment_size || d_.word(*segment + next_segment(kinds) + p_) != table)
      return false;
    std::optional<u64> next = d_.word(*segment + next_segment(kinds));
    if (!next || *next % segment_size)
      return false;
    for (u64 kind = 0; kind < kinds; ++kind) {
      std::optional<u8> tail = d_.memory.try_load<u8>(*segment + rg_tail() + kind);
      if (!tail || (*tail != block_invalid &&
                    (*tail >= blocks_ || d_.memory.try_load<u8>(*segment + rg_block_type() + *tail) != kind)))
        return false;
    }
    return true;
  }
  bool all_tables_pass(u64 kinds) const {
    return std::all_of(first_tables_.begin(), first_tables_.end(), [&](Address t) { return is_table(t, kinds); });
  }

  void set_layout(u64 kinds) {
    ContractDescriptor &to = d_.descriptor;
    auto field = [&](const char *type, const char *name, u64 offset) {
      to.set_field(type, name, static_cast<i64>(offset), Origin::discovered);
    };
    field("HandleTableMap", "BucketsPtr", 0);
    field("HandleTableMap", "Next", p_);
    field("HandleTableBucket", "Table", 0);
    field("HandleTable", "SegmentList", segment_list(kinds));
    field("TableSegment", "RgAllocation", rg_allocation());
    field("TableSegment", "RgUserData", rg_user_data());
    field("TableSegment", "RgTail", rg_tail());
    field("TableSegment", "NextSegment", next_segment(kinds));
    field("TableSegment", "RgValue", header_size);
    auto number = [&](const char *name, u64 value) { to.set_number(name, value, false, Origin::discovered); };
    number("HandleMaxInternalTypes", kinds);
    number("InitialHandleTableArraySize", buckets_);
    number("HandleSegmentSize", segment_size);
    number("HandleBlocksPerSegment", blocks_);
    number("HandlesPerBlock", handles_per_block);
    number("BlockInvalid", block_invalid);
    number("DebugDestroyedHandleValue", 0);
  }

  // Server GC has one table per processor, but 8.0 to 10.0 do not publish how many processors there are: the array ends
  // where its words stop being tables. (The shipped DAC counts heaps, and loses handles if there are fewer of them.)
  void set_table_count(u64 kinds) {
    if (!server_)
      return;
    u64 count = 0;
    for (Address array : arrays_)
      for (u64 j = 0; j < most_tables; ++j) {
        std::optional<u64> table = d_.word(array + j * p_);
        if (!table || (*table && !is_table(*table, kinds)))
          break;
        if (*table)
          count = std::max(count, j + 1);
      }
    d_.descriptor.set_number("TotalCpuCount", count, false, Origin::discovered);
  }

  Derivation &d_;
  const Gc &gc_;
  const u64 p_, blocks_;
  u64 buckets_ = 0;
  bool server_ = false;
  std::vector<Address> arrays_, first_tables_;
};

} // namespace

void derive_handle_table(Derivation &derivation, const Gc &gc) { HandleTableDerivation(derivation, gc).run(); }

} // namespace dnheap
