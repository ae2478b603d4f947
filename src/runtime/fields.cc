#include "runtime/fields.h"

#include "base/text.h"

namespace dnheap {

namespace {

constexpr u64 max_names = 1 << 20; // a damaged heap could have a reference at every offset

} // namespace

const std::vector<InstanceField> &Fields::instance_fields(Address) {
  static const std::vector<InstanceField> none;
  return none;
}

std::vector<InstanceField> Fields::fields_of_instance(Address method_table, const TypeArguments &) {
  return instance_fields(method_table);
}

std::optional<ElementShape> Fields::elements(Address) { return std::nullopt; }

ReferenceName Fields::reference(Address, u64 offset) { return by_offset(offset); }

std::string Fields::exact_reference(Address, Address method_table, u64 offset) {
  return text(reference(method_table, offset));
}

std::vector<DelegateTarget> Fields::delegate_targets(Address, Address, u64) { return {}; }

std::optional<DelegateList> Fields::delegate_list(Address, Address) { return std::nullopt; }

ReferenceName Fields::by_offset(u64 offset) { return intern("." + hex(offset)); }

ReferenceName Fields::intern(std::string text) {
  if (numbers_.size() >= max_names && !numbers_.contains(text))
    text = ".?";
  auto [it, added] = numbers_.emplace(std::move(text), static_cast<u32>(numbers_.size()));
  if (added)
    texts_.push_back(&it->first);
  return ReferenceName{it->second};
}

} // namespace dnheap
