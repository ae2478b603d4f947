#include "dnheap/type.h"

#include "api/state.h"

namespace dnheap::v0 {

const std::string &Type::name() const { return state_->inside().runtime().types().name(method_table_.value()); }
std::string Type::assembly() const { return state_->inside().runtime().types().assembly(method_table_.value()); }
std::optional<TypeId> Type::id() const { return state_->type_id(method_table_.value()); }

bool Type::is_free() const {
  return method_table_.value() == state_->inside().runtime().types().free_object_method_table();
}

bool Type::is_array() const { return state_->inside().runtime().fields().elements(method_table_.value()).has_value(); }

std::vector<Field> Type::fields() const {
  std::vector<Field> out;
  for (const InstanceField &field : state_->inside().runtime().fields().instance_fields(method_table_.value()))
    out.push_back({field.name, field.type_name, field.offset, field.size, field.is_reference()});
  return out;
}

} // namespace dnheap::v0
