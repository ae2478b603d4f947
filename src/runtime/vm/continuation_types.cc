#include "runtime/vm/continuation_types.h"

namespace dnheap {

namespace {

constexpr u64 most_series = 64; // limit of series that a name lists

} // namespace

ContinuationTypes::ContinuationTypes(const Memory &memory, const ContractDescriptor &d)
    : memory_(&memory), p_(memory.format().pointer_size) {
  const std::optional<u64> base = d.try_number("ContinuationMethodTable"),
                           shared_class = d.try_number("ContinuationSingletonEEClass");
  const std::optional<i64> class_at = d.try_offset("MethodTable", "EEClassOrCanonMT"),
                           parent_at = d.try_offset("MethodTable", "ParentMethodTable"),
                           base_size_at = d.try_offset("MethodTable", "BaseSize");
  if (!base || !shared_class || !class_at || !parent_at || !base_size_at)
    return;
  base_ = memory.try_pointer(*base).value_or(0);
  shared_class_ = memory.try_pointer(*shared_class).value_or(0); // null until the first such type is made
  class_at_ = static_cast<u64>(*class_at);
  parent_at_ = static_cast<u64>(*parent_at);
  base_size_at_ = static_cast<u64>(*base_size_at);
}

bool ContinuationTypes::contains(Address mt) const {
  return base_ && shared_class_ && memory_->try_pointer(mt + class_at_) == shared_class_ &&
         memory_->try_pointer(mt + parent_at_) == base_;
}

// The GCDesc in front of a MethodTable grows downwards: the number of series, then for each its size minus the
// object's, and its offset. The highest series is the parent's own reference, Next.
std::string ContinuationTypes::name(Address mt) const {
  const u64 base_size = memory_->try_load<u32>(mt + base_size_at_).value_or(0),
            own_size = memory_->try_load<u32>(base_ + base_size_at_).value_or(0);
  if (base_size < own_size)
    return "Continuation";
  // Both sizes include the header in front of the object; data begins at the end of the parent's fields.
  const u64 data_at = own_size - p_;
  std::string out = "Continuation_" + std::to_string(base_size - own_size);
  const u64 count = memory_->try_pointer(mt - p_).value_or(0);
  for (u64 i = 0; i < count && i < most_series; ++i) {
    const Address series = mt - p_ - (i + 1) * 2 * p_;
    const std::optional<u64> size = memory_->try_pointer(series), at = memory_->try_pointer(series + p_);
    if (!size || !at)
      break;
    const u64 mask = p_ == 8 ? ~u64{0} : 0xffffffff;
    if (*at >= data_at)
      out += "_" + std::to_string(*at - data_at) + "_" + std::to_string(((*size + base_size) & mask) / p_);
  }
  return out;
}

} // namespace dnheap
