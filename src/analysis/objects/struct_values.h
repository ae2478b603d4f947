// Values of common structs of the core library: Decimal, DateTime, DateTimeOffset, DateOnly, TimeOnly, TimeSpan, Guid,
// Half, Int128, UInt128; as C# prints them in the invariant culture. A DateTime of local time, whose offset from UTC is
// unknown, ends in "local". Reads the struct's fields by their names. Not for several threads at once.
#pragma once
#include "runtime/runtime.h"

#include <optional>
#include <string>

namespace dnheap {

// Returns the value's text. `type`: the struct's full name; `method_table`: its type, or one with the same layout;
// `at`: its first byte. Nullopt if the struct is not a known one, not in the dump, or its value is impossible.
std::optional<std::string> struct_text(const Runtime &runtime, const std::string &type, Address method_table,
                                       Address at);

// Returns the field with that name; null if there is none.
const InstanceField *find_field(const Runtime &runtime, Address method_table, std::string_view name);
// Returns the address of a field in the struct at `at`.
Address field_address(const Runtime &runtime, const InstanceField &field, Address at);

} // namespace dnheap
