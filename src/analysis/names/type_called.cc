#include "analysis/names/type_called.h"

#include "base/integers.h"

namespace dnheap {

bool is_type_called(std::string_view name, std::string_view type, std::string_view nested) {
  if (!name.starts_with(type) || !name.ends_with(nested) || name.size() < type.size() + nested.size())
    return false;
  const std::string_view arguments = name.substr(type.size(), name.size() - type.size() - nested.size());
  if (arguments.empty())
    return true;
  if (arguments.front() != '<')
    return false;
  i64 depth = 0;
  for (u64 i = 0; i < arguments.size(); ++i) {
    depth += arguments[i] == '<' ? 1 : arguments[i] == '>' ? -1 : 0;
    if (depth == 0)
      return i + 1 == arguments.size();
  }
  return false;
}

} // namespace dnheap
