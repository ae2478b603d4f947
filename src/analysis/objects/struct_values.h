// What the structs of the core library that programs are full of mean: Decimal, DateTime, DateTimeOffset, DateOnly,
// TimeOnly, TimeSpan, Guid, Half, Int128, UInt128; as C# prints them, whatever the culture; a DateTime of local time,
// whose distance from UTC it does not know, ends in "local". Reads the struct's fields by their names. One thread.
#pragma once
#include "runtime/runtime.h"

#include <optional>
#include <string>

namespace dnheap {

// `type`: the struct's full name; `method_table`: its type, or one laid out the same; `at`: its first byte. Nullopt: no
// struct that is known, or not in the dump, or no value that it can have.
std::optional<std::string> struct_text(const Runtime &runtime, const std::string &type, Address method_table,
                                       Address at);

// Where a field of the struct lies, by its name. Null: there is none.
const InstanceField *find_field(const Runtime &runtime, Address method_table, std::string_view name);
// Of the struct at `at`.
Address field_address(const Runtime &runtime, const InstanceField &field, Address at);

} // namespace dnheap
