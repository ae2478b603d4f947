#include "analysis/inspect/base_types.h"

#include "runtime/coreclr/core_clr.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr unsigned most_ancestors = 64;

} // namespace

BaseTypes::BaseTypes(const Runtime &runtime) : runtime_(runtime), core_clr_(dynamic_cast<const CoreClr *>(&runtime)) {}

bool BaseTypes::derives(Address method_table, std::string_view base) const {
  return any_of(method_table, [&](const std::string &name) { return name == base; });
}

bool BaseTypes::any_of(Address method_table, const std::function<bool(const std::string &)> &passes) const {
  TypeSystem &types = runtime_.types();
  if (!core_clr_) {
    const std::vector<InstanceField> &fields = runtime_.fields().instance_fields(method_table);
    return passes(types.name(method_table)) || std::any_of(fields.begin(), fields.end(), [&](const InstanceField &f) {
             return f.declaring_type && passes(types.name(f.declaring_type));
           });
  }
  for (unsigned i = 0; method_table && i < most_ancestors; ++i) {
    if (passes(types.name(method_table)))
      return true;
    method_table = core_clr_->types().parent_of(method_table);
  }
  return false;
}

} // namespace dnheap
