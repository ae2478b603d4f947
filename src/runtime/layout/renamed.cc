#include "runtime/layout/renamed.h"

namespace dnheap {

namespace {

struct RenamedField {
  const char *type, *before, *now;
};
constexpr RenamedField renamed_fields[] = {{"Thread", "GCHandle", "ExposedObject"},
                                           {"AppDomain", "DomainAssemblyList", "AssemblyList"}};

} // namespace

void enter_renamed(ContractDescriptor &descriptor) {
  for (const RenamedField &row : renamed_fields)
    if (std::optional<i64> offset = descriptor.try_offset(row.type, row.before);
        offset && !descriptor.find_field(row.type, row.now))
      descriptor.set_field(row.type, row.now, *offset, Origin::published);
}

} // namespace dnheap
