// FrameworkFields: Fields (fields.h) of a NativeAOT program without its debug file: some types of the framework have
// field names (FrameworkShapes); references in all others are named by their offset. Delegates are resolved in any case
// (NativeDelegates). From one thread at a time.
#pragma once
#include "base/notes.h"
#include "runtime/nativeaot/framework_shapes.h"
#include "runtime/nativeaot/native_delegates.h"
#include "runtime/unnamed_fields.h"

namespace dnheap {

class FrameworkFields : public UnnamedFields {
public:
  // All arguments must outlive this object.
  FrameworkFields(const Memory &memory, const ContractDescriptor &descriptor, RuntimeTypeSystemN1 &types,
                  NativeDelegates &delegates)
      : UnnamedFields(types, memory.format().pointer_size), shapes_(memory, descriptor, types), delegates_(&delegates) {
  }

  const std::vector<InstanceField> &instance_fields(Address method_table) override;
  ReferenceName reference(Address method_table, u64 offset) override;
  std::vector<DelegateTarget> delegate_targets(Address object, Address method_table, u64 limit) override {
    return delegates_->targets(object, method_table, limit);
  }
  std::optional<DelegateList> delegate_list(Address object, Address method_table) override {
    return delegates_->list(object, method_table);
  }
  Notes notes() const override;

private:
  FrameworkShapes shapes_;
  NativeDelegates *delegates_;
  std::unordered_map<Address, std::vector<InstanceField>> fields_;
};

} // namespace dnheap
