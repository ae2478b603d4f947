#include "runtime/nativeaot/native_delegates.h"

#include "runtime/object_1.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned max_depth = 8;  // limit of delegates that call others
constexpr u64 max_steps = 1 << 20; // limit of steps along the lists of one delegate
constexpr unsigned most_parents = 4;
constexpr u64 fat_pointer = 2; // the tag of a pointer to {code, generic dictionary}: FunctionPointerOps

} // namespace

// True for types derived from System.Delegate, which has two references and two words without any.
bool NativeDelegates::is_delegate_type(Address mt) {
  auto [known, is_new] = types_known_.try_emplace(mt, false);
  if (!is_new)
    return known->second;
  const std::optional<ObjectLayout> layout = types_->object_layout(mt);
  if (!layout || layout->component_size || layout->base_size != 6 * p_)
    return false;
  const auto series = types_->reference_series(mt);
  if (series.size() != 1 || series[0].offset != p_ || series[0].size != 2 * p_)
    return false;
  const std::optional<NativeHashing> hashing = types_->hashing(mt);
  const std::optional<u32> wanted =
      hashing ? std::optional(native_type_hash({"System", {"Delegate"}}, *hashing)) : std::nullopt;
  Address type = mt;
  for (unsigned i = 0; type && i < most_parents && wanted; ++i, type = types_->parent_of(type))
    if (types_->definition_hash(type) == wanted)
      return known->second = true;
  return false;
}

// {first, helper, extra, code}, or as in .NET 11 {helper, first, code, extra}. The object shows which order it has: it
// refers to itself in exactly one of the first two words; if not, exactly one of the last two words leads to code.
std::optional<NativeDelegates::Parts> NativeDelegates::parts_of(Address object, Address mt) {
  if (!is_delegate_type(mt))
    return std::nullopt;
  Address words[4];
  for (u64 i = 0; i < std::size(words); ++i) {
    const std::optional<Address> value = memory_->try_pointer(object + (i + 1) * p_);
    if (!value)
      return std::nullopt;
    words[i] = *value;
  }
  const Parts older{words[0], words[1], words[2], words[3]}, newer{words[1], words[0], words[3], words[2]};
  if ((words[0] == object) != (words[1] == object))
    return words[0] == object ? older : newer;
  const bool is_older = is_code(code_of(words[3])), is_newer = is_code(code_of(words[2]));
  if (is_older == is_newer)
    return std::nullopt;
  return is_older ? older : newer;
}

// For generic methods with shared code, a delegate has a pointer to code and dictionary.
Address NativeDelegates::code_of(Address pointer) const {
  return pointer & fat_pointer && !is_code(pointer) ? word(pointer - fat_pointer) : pointer;
}

// The list is an array of structs that hold a delegate each, or of delegates; a part of it may be unused.
std::optional<DelegateList> NativeDelegates::list_of(Address object, const Parts &parts) {
  const Address type = parts.first == object && parts.helper ? method_table_of(*memory_, parts.helper) : 0;
  const std::optional<ObjectLayout> layout = type ? types_->object_layout(type) : std::nullopt;
  const std::optional<u32> length = layout ? memory_->try_load<u32>(parts.helper + p_) : std::nullopt;
  if (!length || layout->component_size != p_ || !layout->contains_gc_pointers || layout->base_size != 3 * p_)
    return std::nullopt;
  DelegateList out;
  out.array = parts.helper;
  out.first = parts.helper + 2 * p_;
  out.count = std::min<u64>(parts.extra, *length);
  out.is_cut = out.count < parts.extra;
  return out;
}

std::optional<DelegateList> NativeDelegates::list(Address object, Address mt) {
  const std::optional<Parts> parts = parts_of(object, mt);
  return parts ? std::optional(list_of(object, *parts).value_or(DelegateList())) : std::nullopt;
}

std::vector<DelegateTarget> NativeDelegates::targets(Address object, Address mt, u64 limit) {
  std::vector<DelegateTarget> out;
  u64 steps = max_steps;
  if (is_delegate_type(mt))
    collect(object, {&out, limit, 0, &steps});
  return out;
}

void NativeDelegates::collect(Address object, const Collecting &into) {
  if (into.depth > max_depth || into.to->size() >= into.limit)
    return;
  const std::optional<Parts> parts = parts_of(object, method_table_of(*memory_, object));
  if (!parts)
    return;
  const std::optional<DelegateList> list = list_of(object, *parts);
  if (!list)
    return into.to->push_back(one(object, *parts));
  for (u64 i = 0; i < list->count && into.to->size() < into.limit && *into.steps; ++i, --*into.steps)
    if (const Address part = word(list->first + i * p_))
      collect(part, {into.to, into.limit, into.depth + 1, into.steps});
}

// If the delegate itself is in the place of the object that the method is called on, the code is a stub's: `extra` is
// the method's code, and `helper` the object, if there is one.
DelegateTarget NativeDelegates::one(Address object, const Parts &parts) {
  const bool is_stub = parts.first == object;
  Address code = code_of(parts.code), target = parts.first;
  if (is_stub) {
    target = parts.helper;
    if (const Address method = code_of(parts.extra); is_code(method))
      code = method;
  }
  return {target, method_name_(code)};
}

} // namespace dnheap
