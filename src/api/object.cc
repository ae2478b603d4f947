#include "dnheap/object.h"

#include "api/state.h"
#include "objects/find_referrers.h"
#include "runtime/string_object.h"

namespace dnheap::v0 {

namespace {

std::vector<FieldValue> outer(const std::vector<dnheap::FieldValue> &values) {
  std::vector<FieldValue> out;
  for (const dnheap::FieldValue &value : values)
    out.push_back({value.name, value.type, value.offset, Address(value.reference), value.text});
  return out;
}

// Paths consist of "._items"; a field alone is called "_items".
std::string_view without_dot(std::string_view name) {
  if (name.starts_with('.'))
    name.remove_prefix(1);
  return name;
}

std::string name_of(ObjectView &view, ObjectId object, const ObjectView::Reference &reference) {
  return std::string(without_dot(view.field(object, reference, ObjectView::Indices::told)));
}

} // namespace

Type Object::type() const { return state_->type(state_->view().method_table(id_)); }
std::uint64_t Object::size() const { return state_->view().size(id_); }
std::uint64_t Object::aligned_size() const { return state_->view().aligned_size(id_); }

Generation Object::generation() const {
  const ObjectRange *range = range_of(state_->inside().heap(), address_.value());
  return range ? static_cast<Generation>(range->generation) : Generation::gen0;
}

std::optional<std::uint64_t> Object::length() const {
  const Runtime &runtime = state_->inside().runtime();
  const Type of = type();
  if (of.name() == "System.String")
    return string_length(runtime, address_.value());
  if (!of.is_array())
    return std::nullopt;
  return runtime.memory().try_load<u32>(address_.value() + runtime.memory().format().pointer_size);
}

std::vector<Reference> Object::references(std::uint64_t most) const {
  ObjectView &view = state_->view();
  std::vector<Reference> out;
  if (most == 0)
    return out;
  view.for_each_reference(id_, [&](const ObjectView::Reference &reference) {
    out.push_back({Address(reference.target), reference.offset, name_of(view, id_, reference)});
    return out.size() < most;
  });
  return out;
}

std::optional<Object> Object::follow(std::string_view field) const {
  ObjectView &view = state_->view();
  std::optional<dnheap::Address> target;
  view.for_each_reference(id_, [&](const ObjectView::Reference &reference) {
    if (name_of(view, id_, reference) == without_dot(field))
      target = reference.target;
    return !target;
  });
  const ObjectId to = target ? state_->inside().index().find(*target) : dnheap::no_object;
  return to == dnheap::no_object ? std::nullopt : std::optional(state_->object(to));
}

std::vector<Object> Object::referrers() const {
  const dnheap::Snapshot &of = state_->inside();
  std::vector<Object> out;
  for (ObjectId id : find_referrers(of.index(), of.references(), address_.value(), of.threads(), of.watch()))
    out.push_back(state_->object(id));
  state_->check_memory();
  return out;
}

std::vector<FieldValue> Object::fields() const {
  return outer(state_->values().fields(address_.value(), type().method_table().value(), true));
}

std::vector<FieldValue> Object::elements(std::uint64_t most) const {
  const std::optional<ElementShape> shape = state_->inside().runtime().fields().elements(type().method_table().value());
  if (!shape)
    return {};
  FieldValues &values = state_->values();
  values.learn_enums(type().method_table().value());
  return outer(values.elements(address_.value(), size(), *shape, most));
}

std::optional<std::string> Object::string(std::uint64_t most) const {
  if (type().name() != "System.String")
    return std::nullopt;
  std::optional<StringText> text = string_text(state_->inside().runtime(), address_.value(), most);
  return text ? std::optional(std::move(text->text)) : std::nullopt;
}

std::string Object::delegate_text() const { return state_->view().delegate_text(id_); }

} // namespace dnheap::v0
