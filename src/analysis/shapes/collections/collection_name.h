// CollectionName: whether a type is called like a collection that a table names. Pure; any thread.
#pragma once
#include <string_view>

namespace dnheap {

// True for "List<Shop.Order>" if `type` is "List", but not for "List<Shop.Order>+Enumerator". `nested`: "+Node" if the
// type called so inside of it is meant; else empty.
bool is_collection_called(std::string_view name, std::string_view type, std::string_view nested);

} // namespace dnheap
