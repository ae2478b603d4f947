#include "analysis/shapes/base_types.h"

#include "runtime/coreclr/core_clr.h"
#include "runtime/nativeaot/native_aot.h"

namespace dnheap {

namespace {

constexpr unsigned most_ancestors = 64;

} // namespace

BaseTypes::BaseTypes(const Runtime &runtime) : runtime_(runtime), core_clr_(dynamic_cast<const CoreClr *>(&runtime)) {}

Address BaseTypes::parent_of(Address method_table) const {
  if (core_clr_)
    return core_clr_->types().parent_of(method_table);
  const auto *aot = dynamic_cast<const NativeAot *>(&runtime_);
  return aot ? aot->types().parent_of(method_table) : 0;
}

bool BaseTypes::derives(Address method_table, std::string_view base) const {
  return any_of(method_table, [&](const std::string &name) { return name == base; });
}

bool BaseTypes::any_of(Address method_table, const std::function<bool(const std::string &)> &passes) const {
  TypeSystem &types = runtime_.types();
  for (unsigned i = 0; method_table && i < most_ancestors; ++i) {
    if (passes(types.name(method_table)))
      return true;
    method_table = parent_of(method_table);
  }
  return false;
}

} // namespace dnheap
