#include "analysis/shapes/base_types.h"

namespace dnheap {

namespace {

constexpr unsigned most_ancestors = 64;

} // namespace

bool BaseTypes::derives(Address method_table, std::string_view base) const {
  return any_of(method_table, [&](const std::string &name) { return name == base; });
}

bool BaseTypes::any_of(Address method_table, const std::function<bool(const std::string &)> &passes) const {
  TypeSystem &types = runtime_.types();
  for (unsigned i = 0; method_table && i < most_ancestors; ++i) {
    if (passes(types.name(method_table)))
      return true;
    method_table = types.parent_of(method_table);
  }
  return false;
}

} // namespace dnheap
