// BaseTypes: finds out whether a type derives from a named type, by the parents of its MethodTable. If a runtime's
// MethodTables do not have parents, only the type itself is compared. A few reads per question; names are kept by the
// type system. Not for several threads at once.
#pragma once
#include "runtime/runtime.h"

#include <functional>
#include <string>
#include <string_view>

namespace dnheap {

class BaseTypes {
public:
  explicit BaseTypes(const Runtime &runtime) : runtime_(runtime) {}

  // True if the type is `base` or derives from it.
  bool derives(Address method_table, std::string_view base) const;
  // True if `passes` holds for the name of the type or of one that it derives from, nearest first.
  bool any_of(Address method_table, const std::function<bool(const std::string &)> &passes) const;

private:
  const Runtime &runtime_;
};

} // namespace dnheap
