#include "analysis/objects/entry_values.h"

#include "base/text.h"
#include "runtime/object_1.h"

namespace dnheap {

namespace {

constexpr u64 most_fields_of_entry = 64;

bool is_parent(const std::vector<FieldValue> &rows, u64 i) {
  return i + 1 < rows.size() && rows[i + 1].name.starts_with(rows[i].name + ".");
}

} // namespace

EntryValue EntryValues::of(const EntryPart &part, bool values) {
  if (!part)
    return {};
  if (const Address object = entries_.object_of(part))
    return of_object(object, values);
  EntryValue out;
  if (part.is_object || part.type->is_reference()) {
    const bool is_known = part.is_object || runtime_.memory().try_pointer(part.at);
    out.text = is_known ? "null" : "";
    return out;
  }
  const char *core_type = core_type_name(part.type->type);
  out.type = part.type->type_name.empty() && core_type ? core_type : part.type->type_name;
  add_content(out, part.at, *part.type, values);
  return out;
}

EntryValue EntryValues::of_object(Address object, bool values) {
  EntryValue out;
  out.object = object;
  const Address type = method_table_of(runtime_.memory(), object);
  out.type = type ? runtime_.types().name(type) : "";
  if (values && out.type == "System.String") {
    FieldValue whole = values_.whole(object, type);
    out.value = std::move(whole.value);
    out.text = std::move(whole.text);
  } else if (values && type && runtime_.types().is_value_type(type) == true) {
    InstanceField boxed;
    boxed.type = ElementType::ValueType;
    boxed.type_name = out.type;
    boxed.method_table = type;
    add_content(out, object + runtime_.memory().format().pointer_size, boxed, values);
  }
  if (out.text.empty())
    out.text = hex(object) + (out.type.empty() ? "" : " " + out.type);
  return out;
}

// A struct without a value of its own is written by its fields: "{Row = 100, Shelf = "B"}".
void EntryValues::add_content(EntryValue &out, Address at, const InstanceField &type, bool values) {
  const std::vector<FieldValue> rows = values_.place(at, type, values, most_fields_of_entry + 1);
  if (!rows.front().text.empty() || rows.size() == 1) {
    out.value = rows.front().value;
    out.text = rows.front().text;
    return;
  }
  if (rows.size() == 2 && (rows[1].name == ".m_value" || rows[1].name == ".value__")) { // a boxed number or enum
    out.value = rows[1].value;
    out.text = rows[1].text;
    return;
  }
  std::string text;
  for (u64 i = 1; i < rows.size(); ++i) {
    std::string one = rows[i].text;
    if (one.empty() && rows[i].reference)
      one = hex(rows[i].reference);
    else if (one.empty() && values && !is_parent(rows, i) && runtime_.memory().try_load<u8>(at + rows[i].offset))
      one = "null";
    if (!one.empty() && i <= most_fields_of_entry)
      text += (text.empty() ? "" : ", ") + rows[i].name.substr(1) + " = " + one;
  }
  if (rows.size() > most_fields_of_entry)
    text += ", …";
  if (text.empty())
    return;
  out.text = "{" + text + "}";
  out.value = report::Cell(out.text);
}

} // namespace dnheap
