#include "analysis/objects/field_path.h"

#include "runtime/object_1.h"

namespace dnheap {

namespace {

std::string backing_field(const std::string &property) { return "<" + property + ">k__BackingField"; }

} // namespace

// Names that compilers make have dots only within <>.
FieldPath::FieldPath(const Runtime &runtime, EntryPlaces &places, std::string_view text)
    : runtime_(runtime), places_(places), text_(text), steps_(1) {
  i64 depth = 0;
  for (char c : text) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == '.' && depth == 0)
      steps_.emplace_back();
    else
      steps_.back() += c;
  }
}

EntryPlace FieldPath::place_in(Address method_table, const std::string &step) {
  if (const EntryPlace place = places_.in_object(method_table, step); place.type)
    return place;
  return places_.in_object(method_table, backing_field(step));
}

EntryPlace FieldPath::place_in(const InstanceField &type, const std::string &step) {
  if (const EntryPlace place = places_.in_value(type, step); place.type)
    return place;
  return places_.in_value(type, backing_field(step));
}

EntryPart FieldPath::in(Address object) {
  EntryPart out;
  for (const std::string &step : steps_) {
    if (step.empty())
      return {};
    if (out.type && out.type->type == ElementType::ValueType) {
      const EntryPlace place = place_in(*out.type, step);
      out = {place.type, out.at + place.offset};
    } else {
      const Address from = out.type ? runtime_.memory().try_pointer(out.at).value_or(0) : object;
      if (out.type && !out.type->is_reference())
        return {};
      const Address type = from ? method_table_of(runtime_.memory(), from) : 0;
      const EntryPlace place = type ? place_in(type, step) : EntryPlace();
      out = {place.type, from + place.offset};
    }
    if (!out.type)
      return {};
  }
  return out;
}

} // namespace dnheap
