#include "analysis/objects/weak_target.h"

#include "analysis/objects/struct_values.h"

namespace dnheap {

namespace {

const InstanceField *handle_of(const Runtime &runtime, Address method_table) {
  const InstanceField *field = find_field(runtime, method_table, "_taggedHandle");
  if (!field || !field->declaring_type)
    return nullptr;
  const std::string &type = runtime.types().name(field->declaring_type);
  return type == "System.WeakReference" || type.starts_with("System.WeakReference<") ? field : nullptr;
}

} // namespace

bool is_weak_reference(const Runtime &runtime, Address method_table) { return handle_of(runtime, method_table); }

std::optional<Address> weak_target(const Runtime &runtime, Address object, Address method_table) {
  const InstanceField *field = handle_of(runtime, method_table);
  if (!field)
    return std::nullopt;
  // src/libraries/System.Private.CoreLib/src/System/WeakReference.cs
  constexpr u64 tracks_resurrection = 1, com_aware = 2;
  const std::optional<u64> handle = runtime.memory().try_pointer(object + field->offset);
  if (!handle || *handle & com_aware)
    return std::nullopt;
  const Address slot = *handle & ~tracks_resurrection;
  return slot ? runtime.memory().try_pointer(slot) : std::optional<Address>(0);
}

} // namespace dnheap
