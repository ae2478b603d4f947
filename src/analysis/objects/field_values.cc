#include "analysis/objects/field_values.h"

#include "analysis/objects/struct_values.h"
#include "base/text.h"
#include "runtime/array_bounds.h"
#include "runtime/string_object.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

using report::Cell;

constexpr u64 longest_text = 200; // of a string's contents, in UTF-16 code units
constexpr u32 deepest = 8;        // levels of structs inside structs

// A value for programs, and its text for people as C# would write it.
struct Value {
  Cell data;
  std::string text;
};

Value named(std::string text) { return {Cell(text), text}; }

std::string utf8(u16 unit) {
  if (unit >= 0xd800 && unit < 0xe000)
    return "\xef\xbf\xbd"; // half of a surrogate pair
  std::string out;
  if (unit < 0x80)
    return std::string(1, static_cast<char>(unit));
  if (unit >= 0x800)
    out += static_cast<char>(0xe0 | unit >> 12);
  out += static_cast<char>(unit >= 0x800 ? 0x80 | (unit >> 6 & 0x3f) : 0xc0 | unit >> 6);
  return out += static_cast<char>(0x80 | (unit & 0x3f));
}

// `text`: the shortest text that reads back as the same number, so that a float does not get the digits of a double.
Value real_value(double value, std::string text) {
  if (std::isnan(value))
    return named("NaN");
  if (std::isinf(value))
    return named(value < 0 ? "-Infinity" : "Infinity");
  return {Cell(std::strtod(text.c_str(), nullptr)), std::move(text)};
}

Value primitive(const Memory &memory, ElementType type, Address at) {
  auto number = [&]<class Signed, class Unsigned>(Signed, Unsigned) -> Value {
    std::optional<Unsigned> value = memory.try_load<Unsigned>(at);
    return value ? Value{Cell(static_cast<Signed>(*value)), fmt::format("{}", static_cast<Signed>(*value))} : Value();
  };
  switch (type) {
  case ElementType::Boolean: {
    std::optional<u8> value = memory.try_load<u8>(at);
    return value ? Value{Cell(*value != 0), *value ? "true" : "false"} : Value();
  }
  case ElementType::Char: {
    std::optional<u16> value = memory.try_load<u16>(at);
    if (!value)
      return {};
    if (*value < ' ' || *value >= 0x7f)
      return {Cell(utf8(*value)), fmt::format("'\\u{:04x}'", *value)};
    const char letter = static_cast<char>(*value);
    return {Cell(utf8(*value)), fmt::format("'{}{}'", letter == '\'' || letter == '\\' ? "\\" : "", letter)};
  }
  case ElementType::I1: return number(std::int8_t{}, u8{});
  case ElementType::U1: return number(u8{}, u8{});
  case ElementType::I2: return number(std::int16_t{}, u16{});
  case ElementType::U2: return number(u16{}, u16{});
  case ElementType::I4: return number(i32{}, u32{});
  case ElementType::U4: return number(u32{}, u32{});
  case ElementType::I8: return number(i64{}, u64{});
  case ElementType::U8: return number(u64{}, u64{});
  case ElementType::R4: {
    std::optional<u32> value = memory.try_load<u32>(at);
    return value ? real_value(std::bit_cast<float>(*value), fmt::format("{}", std::bit_cast<float>(*value))) : Value();
  }
  case ElementType::R8: {
    std::optional<u64> value = memory.try_load<u64>(at);
    return value ? real_value(std::bit_cast<double>(*value), fmt::format("{}", std::bit_cast<double>(*value)))
                 : Value();
  }
  case ElementType::I:
  case ElementType::U:
  case ElementType::Ptr:
  case ElementType::FnPtr: {
    std::optional<u64> value = memory.try_pointer(at);
    return value ? named(hex(*value)) : Value();
  }
  default: return {};
  }
}

// Returns the bits of a primitive, without sign extension.
std::optional<u64> bits(const Memory &memory, ElementType type, Address at) {
  switch (type) {
  case ElementType::I1:
  case ElementType::U1: return memory.try_load<u8>(at);
  case ElementType::I2:
  case ElementType::U2: return memory.try_load<u16>(at);
  case ElementType::I4:
  case ElementType::U4: return memory.try_load<u32>(at);
  case ElementType::I8:
  case ElementType::U8: return memory.try_load<u64>(at);
  default: return std::nullopt;
  }
}

class Reader {
public:
  Reader(const Runtime &runtime, EnumNames &enums, Address object, bool values, u64 most)
      : runtime_(runtime), enums_(enums), memory_(runtime.memory()), fields_(runtime.fields()), object_(object),
        values_(values), most_(most) {}

  struct Place {
    std::string name;
    ElementType type{};
    std::string type_name;
    Address method_table = 0;   // for a struct; for an enum if it is known
    Address declaring_type = 0; // the type that declares the field; 0: an element
    std::string field;
    TypeArguments arguments = {}; // for a generic struct
  };

  // Adds the fields of an object, or of the struct at offset `at` in it.
  void add_fields(const std::string &prefix, const Place &of, u64 at, u32 depth) {
    for (const InstanceField &field : sorted_fields(of)) {
      // Offsets in structs count as if the struct were boxed, after a MethodTable.
      const u64 offset = depth ? at + field.offset - memory_.format().pointer_size : field.offset;
      const bool is_shared = of.arguments && field.declaring_type == of.method_table;
      const std::string declared_by = is_shared              ? of.type_name
                                      : field.declaring_type ? runtime_.types().name(field.declaring_type)
                                                             : "";
      Place place{prefix + field.name,  field.type, field.type_name, field.method_table,
                  field.declaring_type, field.name, field.arguments};
      if (field.name == "value__") // in a boxed enum
        place.method_table = place.declaring_type = of.method_table, place.field = "";
      const u64 count = names_only_ || !field.size ? 1 : field.count;
      for (u64 i = 0; i < count && !full(); ++i) {
        Place one = place;
        if (field.count > 1)
          one.name += "[" + std::to_string(i) + "]";
        add(std::move(one), offset + i * field.size.value_or(0), declared_by, depth);
      }
    }
  }

  void add(Place place, u64 offset, std::string declared_by, u32 depth) {
    if (full())
      return;
    FieldValue out{offset, place.name, place.type_name, 0, Cell(), "", std::move(declared_by)};
    const Address at = object_ + offset;
    const ElementType type = place.type;
    Value value;
    if (type == ElementType::Class) {
      out.reference = memory_.try_pointer(at).value_or(0);
      if (values_ && out.reference && out.type == "System.String")
        value = string_value(out.reference);
    } else if (values_) {
      value = value_of(place, at);
    }
    out.value = std::move(value.data);
    out.text = std::move(value.text);
    const bool is_told = !out.text.empty(); // for example 2026-11-22T06:33:00Z rather than its ticks
    rows.push_back(std::move(out));
    if (type == ElementType::ValueType && !is_told && place.method_table && depth < deepest)
      add_fields(place.name + ".", place, offset, depth + 1);
  }
  FieldValue string(Address object) {
    Value value = string_value(object);
    FieldValue out;
    out.value = std::move(value.data);
    out.text = std::move(value.text);
    return out;
  }
  bool full() const { return rows.size() >= most_; }

  std::vector<FieldValue> rows;

private:
  // Returns the fields by offset. If several generic instances share the type, field types are those of the given
  // instance.
  const std::vector<InstanceField> &sorted_fields(const Place &of) {
    auto [at, is_new] = sorted_.try_emplace({of.method_table, of.arguments ? of.type_name : ""});
    if (!is_new)
      return at->second;
    const bool is_shared = of.arguments && runtime_.types().name(of.method_table) != of.type_name;
    at->second = is_shared ? fields_.fields_of_instance(of.method_table, of.arguments)
                           : fields_.instance_fields(of.method_table);
    std::stable_sort(at->second.begin(), at->second.end(),
                     [](const InstanceField &a, const InstanceField &b) { return a.offset < b.offset; });
    return at->second;
  }
  Value string_value(Address object) {
    const std::optional<StringText> text = string_text(runtime_, object, longest_text);
    if (!text)
      return {};
    const char *cut = text->is_cut ? "…" : "";
    return {Cell(text->text + cut), "\"" + shortened(text->text, 4 * longest_text) + cut + "\""};
  }

  Value value_of(const Place &place, Address at) {
    if (place.type != ElementType::ValueType) {
      Value value = primitive(memory_, place.type, at);
      std::optional<u64> number = names_only_ && core_type_name(place.type) ? u64{0} : bits(memory_, place.type, at);
      if (!number || (!place.method_table && place.type_name == core_type_name(place.type)))
        return value;
      std::string name = place.method_table ? enums_.text(place.method_table, *number)
                                            : enums_.text(place.declaring_type, place.field, *number);
      return name.empty() ? value : Value{Cell(name), name + " (" + value.text + ")"};
    }
    if (std::optional<std::string> text = struct_text(runtime_, place.type_name, place.method_table, at))
      return named(*text);
    return place.type_name.starts_with("System.Nullable<") ? nullable(place.method_table, at) : Value();
  }

  // The value inside is never a Nullable itself, so this does not recurse further.
  Value nullable(Address method_table, Address at) {
    const InstanceField *has = find_field(runtime_, method_table, "hasValue"),
                        *value = find_field(runtime_, method_table, "value");
    if (!has || !value)
      return {};
    const std::optional<u8> there = memory_.try_load<u8>(field_address(runtime_, *has, at));
    if (!names_only_ && (!there || *there == 0))
      return {Cell(), there ? "null" : ""};
    if (value->type_name.starts_with("System.Nullable<"))
      return {};
    return value_of({"", value->type, value->type_name, value->method_table, value->declaring_type, value->name},
                    field_address(runtime_, *value, at));
  }

  const Runtime &runtime_;
  EnumNames &enums_;
  const Memory &memory_;
  Fields &fields_;
  const Address object_;
  const bool values_;
  const bool names_only_ = object_ == 0; // no object is read, only the names of enum values
  const u64 most_;
  std::map<std::pair<Address, std::string>, std::vector<InstanceField>> sorted_; // by MethodTable, and instance's name
};

} // namespace

FieldValues::FieldValues(const Runtime &runtime) : runtime_(runtime), enums_(runtime) {}

std::vector<FieldValue> FieldValues::fields(Address object, Address method_table, bool values) {
  Reader reader(runtime_, enums_, object, values, most_fields);
  reader.add_fields("", {"", ElementType::Class, "", method_table, 0, ""}, 0, 0);
  return std::move(reader.rows);
}

void FieldValues::learn_enums(Address method_table) {
  Reader reader(runtime_, enums_, 0, true, most_fields);
  reader.add_fields("", {"", ElementType::Class, "", method_table, 0, ""}, 0, 0);
  if (std::optional<ElementShape> shape = runtime_.fields().elements(method_table))
    reader.add({"", shape->type, "", shape->method_table, 0, ""}, shape->start, "", 0);
}

std::vector<FieldValue> FieldValues::elements(Address object, u64 size, const ElementShape &shape, u64 most) {
  Reader reader(runtime_, enums_, object, true, most);
  const std::string type = shape.method_table ? runtime_.types().name(shape.method_table) : "";
  const u64 length = runtime_.memory().try_load<u32>(object + runtime_.memory().format().pointer_size).value_or(0);
  const std::optional<ArrayBounds> bounds = ArrayBounds::of(runtime_.memory(), object, shape);
  for (u64 i = 0; i < length && !reader.full(); ++i) {
    const u64 offset = shape.start + i * shape.size;
    if (shape.size == 0 || offset + shape.size > size)
      break;
    reader.add(
        {"[" + (bounds ? bounds->index(i) : std::to_string(i)) + "]", shape.type, type, shape.method_table, 0, ""},
        offset, "", 0);
  }
  return std::move(reader.rows);
}

std::vector<FieldValue> FieldValues::place(Address at, const InstanceField &type, bool values, u64 most) {
  Reader reader(runtime_, enums_, at, values, most);
  reader.add({"", type.type, type.type_name, type.method_table, type.declaring_type, type.name, type.arguments}, 0, "",
             0);
  return std::move(reader.rows);
}

FieldValue FieldValues::whole(Address object, Address method_table) {
  const Memory &memory = runtime_.memory();
  const std::string &type = runtime_.types().name(method_table);
  Reader reader(runtime_, enums_, object, true, 1);
  if (type == "System.String")
    return reader.string(object);
  reader.add({"", ElementType::ValueType, type, method_table, 0, ""}, memory.format().pointer_size, "", deepest);
  return std::move(reader.rows.front());
}

} // namespace dnheap
