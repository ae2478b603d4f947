#include "runtime/gc/built_in_com_1.h"

#include "runtime/contract_versions.h"
#include "runtime/object_header.h"

namespace dnheap {

namespace {

constexpr u32 flag_handle_weak = 0x4; // a flag of SimpleComCallWrapper.Flags

} // namespace

BuiltInCom1::BuiltInCom1(const Memory &memory, const ContractDescriptor &d) : memory_(&memory) {
  if (why_not_read(d, "BuiltInCOM") || why_not_read(d, "SyncBlock"))
    return;
  std::optional<u64> table = d.try_number("SyncTableEntries"), mask = d.try_number("ComRefcountMask");
  std::optional<i64> sync_block = d.try_offset("SyncTableEntry", "SyncBlock"),
                     interop_info = d.try_offset("SyncBlock", "InteropInfo"),
                     wrapper = d.try_offset("InteropSyncBlockInfo", "CCW"),
                     simple = d.try_offset("ComCallWrapper", "SimpleWrapper"),
                     count = d.try_offset("SimpleComCallWrapper", "RefCount"),
                     flags = d.try_offset("SimpleComCallWrapper", "Flags");
  if (d.try_number("FeatureCOMInterop").value_or(0) == 0 || !table || !sync_block || !interop_info || !wrapper ||
      !simple || !count || !flags)
    return;
  sync_table_ = memory.try_pointer(*table).value_or(0);
  const DataType *entry = d.find_type("SyncTableEntry");
  entry_size_ = entry->size.value_or(2 * memory.format().pointer_size);
  ref_count_mask_ = mask.value_or(0x7fffffff);
  auto u = [](const std::optional<i64> &offset) { return static_cast<u64>(*offset); };
  if (sync_table_)
    at_ = Offsets{u(sync_block), u(interop_info), u(wrapper), u(simple), u(count), u(flags)};
}

std::optional<Address> BuiltInCom1::sync_block(Address object) const {
  ObjectHeader header{memory_->try_load<u32>(object - ObjectHeader::offset).value_or(0)};
  if (!header.has_index())
    return std::nullopt;
  return memory_->try_pointer(sync_table_ + header.index() * entry_size_ + at_->sync_block);
}

// Follows the specification from the object to its wrapper; null and 1 mean none.
std::optional<ComWrapper> BuiltInCom1::find_wrapper(Address object) const {
  std::optional<Address> at = at_ ? sync_block(object) : std::nullopt;
  for (u64 offset : {at_ ? at_->interop_info : 0, at_ ? at_->wrapper : 0, at_ ? at_->simple_wrapper : 0}) {
    if (!at || *at <= 1)
      return std::nullopt;
    at = memory_->try_pointer(*at + offset);
  }
  if (!at || *at <= 1)
    return std::nullopt;
  std::optional<u64> count = memory_->try_load<u64>(*at + at_->ref_count);
  std::optional<u32> flags = memory_->try_load<u32>(*at + at_->flags);
  if (!count || !flags)
    return std::nullopt;
  return ComWrapper{static_cast<u32>(*count & ref_count_mask_), (*flags & flag_handle_weak) != 0};
}

} // namespace dnheap
