// FieldReader: reads fields of objects by name, for code that knows the fields of a library's types. Offsets are looked
// up once per type; a read then costs two look-ups in tables. Fields that do not exist or are not in the dump are
// absent, never zero. Not for several threads at once.
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
  // Returns the offset from the object's first byte; nullopt if there is no such field. A path leads through structs:
  // "_separated.counts".
  std::optional<u64> offset(Address method_table, std::string_view path);
  const InstanceField *find(Address method_table, std::string_view name) const;

  template <class T> std::optional<T> number(Address object, std::string_view path) {
    std::optional<u64> at = offset(type_of(object), path);
    return at ? memory_.try_load<T>(object + *at) : std::nullopt;
  }
  // Returns 0 for null; nullopt if the field is unknown or unreadable.
  std::optional<Address> reference(Address object, std::string_view path) {
    std::optional<u64> at = offset(type_of(object), path);
    return at ? memory_.try_pointer(object + *at) : std::nullopt;
  }
  Address reference_or_null(Address object, std::string_view path) { return reference(object, path).value_or(0); }

  // Returns the elements of an array of references, at most `limit`; empty for anything else.
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
