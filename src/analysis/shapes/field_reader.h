// FieldReader: fields of objects by name, for those who know what a library's types look like inside. Where a field
// lies is looked up once per type; a read then costs two look-ups in tables. What is not there, or not in the dump, is
// absent, never zero. One thread.
#pragma once
#include "runtime/object_1.h"
#include "runtime/runtime.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace dnheap {

class FieldReader {
public:
  explicit FieldReader(const Runtime &runtime) : runtime_(runtime), memory_(runtime.memory()) {}

  Address type_of(Address object) const { return object ? method_table_of(memory_, object) : 0; }
  // From the object's first byte; through structs by their fields: "_separated.counts". Nullopt: no such field.
  std::optional<u64> offset(Address method_table, std::string_view path);
  const InstanceField *find(Address method_table, std::string_view name) const;

  template <class T> std::optional<T> number(Address object, std::string_view path) {
    std::optional<u64> at = offset(type_of(object), path);
    return at ? memory_.try_load<T>(object + *at) : std::nullopt;
  }
  // Nullopt: cannot be told; 0: null.
  std::optional<Address> reference(Address object, std::string_view path) {
    std::optional<u64> at = offset(type_of(object), path);
    return at ? memory_.try_pointer(object + *at) : std::nullopt;
  }
  Address reference_or_null(Address object, std::string_view path) { return reference(object, path).value_or(0); }

  // Elements of a vector of references, at most so many of them; empty of anything else.
  std::vector<Address> elements(Address array, u64 limit) const;
  std::optional<u32> length(Address array) const { return memory_.try_load<u32>(array + pointer_size()); }
  u64 pointer_size() const { return memory_.format().pointer_size; }
  const Memory &memory() const { return memory_; }

private:
  const Runtime &runtime_;
  const Memory &memory_;
  std::unordered_map<Address, std::unordered_map<std::string, std::optional<u64>>> offsets_;
};

} // namespace dnheap
