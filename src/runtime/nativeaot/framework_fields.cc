#include "runtime/nativeaot/framework_fields.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

const std::vector<InstanceField> &FrameworkFields::instance_fields(Address method_table) {
  auto [known, is_new] = fields_.try_emplace(method_table);
  if (is_new)
    known->second = shapes_.fields(method_table);
  return known->second;
}

ReferenceName FrameworkFields::reference(Address method_table, u64 offset) {
  const std::vector<InstanceField> &fields = instance_fields(method_table);
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const InstanceField &field) {
    return field.is_reference() && field.offset == offset;
  });
  return found != fields.end() ? intern("." + found->name) : UnnamedFields::reference(method_table, offset);
}

Notes FrameworkFields::notes() const {
  Notes out;
  if (shapes_.unknown())
    out.add(Subject::fields, Effect::none,
            "types of the framework whose fields are laid out in a way that this program does not know (" +
                count_text(shapes_.unknown()) + " types)");
  return out;
}

} // namespace dnheap
