// BaseTypes: does a type derive from another, named one? In CoreCLR by its MethodTable's parents; elsewhere by who
// declares its fields, which tells only of base types with fields. A few reads per question; names are kept by the type
// system. One thread.
#pragma once
#include "runtime/runtime.h"

#include <string_view>

namespace dnheap {

class CoreClr;

class BaseTypes {
public:
  explicit BaseTypes(const Runtime &runtime);

  // The type itself counts.
  bool derives(Address method_table, std::string_view base) const;

private:
  const Runtime &runtime_;
  const CoreClr *core_clr_; // null: another kind of runtime
};

} // namespace dnheap
