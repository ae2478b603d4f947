// brief_type_name: a type's name for people, without namespaces that everybody knows. Pure; any thread.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// "Dictionary<String, Shop.Session>": without the framework's namespaces.
std::string brief_type_name(std::string_view type);

} // namespace dnheap
