// TypeCalled: whether a type's name is that of a generic type with any arguments. Pure; any thread.
#pragma once
#include <string_view>

namespace dnheap {

// True for "List<Shop.Order>" and "List" if `type` is "List", but not for "List<Shop.Order>+Enumerator". `nested`:
// "+Node" if the type called so inside of it is meant; else empty.
bool is_type_called(std::string_view name, std::string_view type, std::string_view nested = "");

} // namespace dnheap
