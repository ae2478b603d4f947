#include "analysis/names/method_in_source.h"

#include "analysis/names/compiled_names.h"
#include "runtime/facts/assembly.h"

namespace dnheap {

std::string method_in_source(const MethodText &method) {
  constexpr std::string_view static_constructor = "..cctor";
  const std::string &name = method.qualified;
  if (name.ends_with(static_constructor) && name.size() > static_constructor.size())
    return "the static constructor of " + name.substr(0, name.size() - static_constructor.size());
  // .NET's methods have the program's types as arguments: "AsyncMethodBuilderCore.Start<Shop.Cart+<Pay>d__11>".
  if (has_framework_namespace(name))
    return method.name;
  std::string words = method_in_words(name);
  return words == name ? method.name : words;
}

} // namespace dnheap
