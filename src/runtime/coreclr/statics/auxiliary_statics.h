// AuxiliaryStatics: the StaticStorage of .NET 9 and later. See static_storage.h.
#pragma once
#include "runtime/coreclr/statics/static_storage.h"

namespace dnheap {

class AuxiliaryStatics : public StaticStorage {
public:
  AuxiliaryStatics(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types);

  bool has_statics(Address method_table) const override;
  std::optional<StaticPlace> statics(Address method_table) const override;
  std::optional<StaticPlace> thread_statics(Address method_table, const ThreadData &thread) const override;
  Address thread_array(const ThreadData &thread) const override;
  Address thread_array_slot(const ThreadData &thread) const override;
  std::string why_missing() const override;

private:
  Address object_of_handle(Address handle) const;
  Address in_flight(Address local, u32 index) const;

  const Memory *memory_;
  const RuntimeTypeSystem1 *types_;
  const u64 p_;
  std::string missing_;
  std::optional<u64> flags2_, auxiliary_, local_data_;
  u64 unused_, count_, collectible_count_, array_, collectible_array_, in_flight_, gc_index_, gc_statics_;
};

} // namespace dnheap
