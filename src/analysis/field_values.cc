#include "analysis/field_values.h"

#include "base/text.h"
#include "runtime/string_object.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;

constexpr u64 longest_text = 200; // of a string's contents, in UTF-16 code units
constexpr u64 most_fields = 10000;
constexpr u32 deepest = 8; // structs in structs

// A primitive's value as C# would write it.
Cell primitive_text(const Memory &memory, ElementType type, Address at) {
  auto number = [&]<class Signed, class Unsigned>(Signed, Unsigned) -> Cell {
    std::optional<Unsigned> value = memory.try_load<Unsigned>(at);
    return value ? Cell(fmt::format("{}", static_cast<Signed>(*value))) : Cell();
  };
  switch (type) {
  case ElementType::Boolean: {
    std::optional<u8> value = memory.try_load<u8>(at);
    return value ? Cell(*value ? "true" : "false") : Cell();
  }
  case ElementType::Char: {
    std::optional<u16> value = memory.try_load<u16>(at);
    if (!value)
      return Cell();
    return *value >= ' ' && *value < 0x7f ? Cell(fmt::format("'{}'", static_cast<char>(*value)))
                                          : Cell(fmt::format("'\\u{:04x}'", *value));
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
    return value ? Cell(fmt::format("{}", std::bit_cast<float>(*value))) : Cell();
  }
  case ElementType::R8: {
    std::optional<u64> value = memory.try_load<u64>(at);
    return value ? Cell(fmt::format("{}", std::bit_cast<double>(*value))) : Cell();
  }
  case ElementType::I:
  case ElementType::U:
  case ElementType::Ptr:
  case ElementType::FnPtr: {
    std::optional<u64> value = memory.try_pointer(at);
    return value ? Cell(hex(*value)) : Cell();
  }
  default: return Cell();
  }
}

class Reader {
public:
  Reader(const Runtime &runtime, Address object, bool values, u64 most)
      : runtime_(runtime), memory_(runtime.memory()), fields_(runtime.fields()), object_(object), values_(values),
        most_(most) {}

  // The fields of an object, or of a struct that lies at `at` in it.
  void add_fields(const std::string &prefix, Address method_table, u64 at, u32 depth) {
    std::vector<InstanceField> fields = fields_.instance_fields(method_table);
    std::stable_sort(fields.begin(), fields.end(),
                     [](const InstanceField &a, const InstanceField &b) { return a.offset < b.offset; });
    for (const InstanceField &field : fields) {
      // Of structs the offsets are as if they were boxed, behind a MethodTable.
      u64 offset = depth ? at + field.offset - memory_.format().pointer_size : field.offset;
      std::string declared_by = field.declaring_type ? runtime_.types().name(field.declaring_type) : "";
      add(prefix + field.name, field.type, field.type_name, field.method_table, offset, std::move(declared_by), depth);
    }
  }
  void add(std::string name, ElementType type, std::string type_name, Address method_table, u64 offset,
           std::string declared_by, u32 depth) {
    if (full())
      return;
    FieldValue out{offset, name, std::move(type_name), 0, Cell(), std::move(declared_by)};
    const Address at = object_ + offset;
    if (type == ElementType::Class) {
      out.reference = memory_.try_pointer(at).value_or(0);
      if (values_ && out.reference && out.type == "System.String")
        if (std::optional<std::string> text = quoted_string(runtime_, out.reference))
          out.value = *text;
    } else if (values_) {
      out.value = primitive_text(memory_, type, at);
    }
    rows.push_back(std::move(out));
    if (type == ElementType::ValueType && method_table && depth < deepest)
      add_fields(name + ".", method_table, offset, depth + 1);
  }
  bool full() const { return rows.size() >= most_; }

  std::vector<FieldValue> rows;

private:
  const Runtime &runtime_;
  const Memory &memory_;
  Fields &fields_;
  const Address object_;
  const bool values_;
  const u64 most_;
};

} // namespace

std::optional<std::string> quoted_string(const Runtime &runtime, Address object) {
  std::optional<StringText> text = string_text(runtime, object, longest_text);
  if (!text)
    return std::nullopt;
  return "\"" + shortened(text->text, 4 * longest_text) + (text->is_cut ? "…\"" : "\"");
}

std::vector<FieldValue> object_fields(const Runtime &runtime, Address object, Address method_table, bool values) {
  Reader reader(runtime, object, values, most_fields);
  reader.add_fields("", method_table, 0, 0);
  return std::move(reader.rows);
}

std::vector<FieldValue> array_elements(const Runtime &runtime, Address object, u64 size, const ElementShape &shape,
                                       u64 most) {
  Reader reader(runtime, object, true, most);
  const std::string type = shape.method_table ? runtime.types().name(shape.method_table) : "";
  const u64 length = runtime.memory().try_load<u32>(object + runtime.memory().format().pointer_size).value_or(0);
  for (u64 i = 0; i < length && !reader.full(); ++i) {
    const u64 offset = shape.start + i * shape.size;
    if (shape.size == 0 || offset + shape.size > size)
      break;
    reader.add("[" + std::to_string(i) + "]", shape.type, type, shape.method_table, offset, "", 0);
  }
  return std::move(reader.rows);
}

} // namespace dnheap
