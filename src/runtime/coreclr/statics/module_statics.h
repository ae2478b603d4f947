// ModuleStatics: the StaticStorage of .NET 8. See static_storage.h.
#pragma once
#include "runtime/coreclr/statics/static_storage.h"

namespace dnheap {

class ModuleStatics : public StaticStorage {
public:
  ModuleStatics(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
                const FieldDescs &fields);

  bool has_statics(Address method_table) const override;
  std::optional<StaticPlace> statics(Address method_table) const override;
  std::optional<StaticPlace> thread_statics(Address method_table, const ThreadData &thread) const override;
  std::string why_missing() const override { return missing_; }

private:
  Address local_module(Address method_table) const;
  std::optional<u64> dynamic_id(Address method_table, u32 kind) const;
  std::optional<StaticPlace> collectible_place(Address method_table, std::optional<u64> loader_handle) const;
  Address of_loader_handle(Address method_table, u64 loader_handle) const;

  const Memory *memory_;
  const RuntimeTypeSystem1 *types_;
  const FieldDescs *fields_;
  const u64 p_;
  std::string missing_;
  u64 flags2_ = 0, module_ = 0, local_module_ = 0, dynamic_id_ = 0, per_inst_info_ = 0, virtuals_ = 0;
  std::optional<u64> thread_modules_;
};

} // namespace dnheap
