#include "runtime/layout/coreclr/field_desc.h"

#include "runtime/vm/method_table_flags.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

constexpr u64 max_samples = 4096;

struct Sample {
  Address method_table, own_class;
};

// Returns types that CoreLib has loaded, String first.
std::vector<Sample> samples_of(const Derivation &d, Address string) {
  const ContractDescriptor &known = d.descriptor;
  i64 class_at = known.offset("MethodTable", "EEClassOrCanonMT"), back_at = known.offset("EEClass", "MethodTable");
  std::vector<Sample> out;
  auto add = [&](Address mt) {
    std::optional<u64> own_class = d.follow(mt, {class_at});
    if (own_class && d.word(*own_class + static_cast<u64>(back_at)) == mt)
      out.push_back({mt, *own_class});
  };
  add(string);
  auto module_at = known.try_offset("MethodTable", "Module"),
       map_at = known.try_offset("Module", "TypeDefToMethodTableMap");
  std::optional<u64> module = module_at ? d.follow(string, {*module_at}) : std::nullopt;
  if (!module || !map_at)
    return out;
  Address map = *module + static_cast<u64>(*map_at);
  u64 table = d.word(map + d.pointer_size).value_or(0);
  u32 count = d.memory.try_load<u32>(map + 2 * d.pointer_size).value_or(0);
  for (u64 rid = 1; rid < count && out.size() < max_samples; ++rid) {
    std::optional<u64> entry = d.word(table + rid * d.pointer_size);
    if (!entry)
      break;
    if (Address mt = *entry & ~u64{3}; mt && mt != string)
      add(mt);
  }
  return out;
}

// Passes for a null, or a list whose FieldDescs point at their type first; a list of method chunks begins alike, but
// continues in another way. A list with one field is no evidence, so one with two or more is needed.
Verdict leads_to_fields(const Derivation &d, const std::vector<Sample> &samples, i64 x) {
  const u64 size = d.pointer_size + 8;
  bool any = false, readable = false;
  for (const Sample &sample : samples) {
    std::optional<u64> list = d.word(sample.own_class + static_cast<u64>(x));
    std::optional<u64> first = list && *list ? d.word(*list) : std::nullopt;
    readable |= first.has_value();
    if (list && *list && first != sample.method_table)
      return first ? Verdict(false) : Verdict::cannot_tell();
    any |= first && d.word(*list + size) == sample.method_table;
  }
  return readable ? Verdict(any) : Verdict::cannot_tell();
}

// Primitives and enums, whose only instance field has the type's own element type. (IntPtr's field has another.)
struct Primitive {
  Address own_class;
  u32 base_size;
  u8 type, size;
};

std::vector<Primitive> primitives_of(const Derivation &d, const std::vector<Sample> &samples) {
  std::vector<Primitive> out;
  std::optional<i64> list_at = d.descriptor.try_offset("EEClass", "FieldDescList");
  constexpr u8 sizes[] = {0, 0, 1, 2, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8}; // by element type
  for (const Sample &sample : samples) {
    u32 flags = d.memory.try_load<u32>(sample.method_table).value_or(0);
    u32 base_size = d.memory.try_load<u32>(sample.method_table + 4).value_or(0);
    if ((flags & mt_category_primitive_mask) != mt_category_primitive || (flags & mt_has_component_size) || !list_at)
      continue;
    u64 list = d.word(sample.own_class + static_cast<u64>(*list_at)).value_or(0);
    u32 word1 = d.memory.try_load<u32>(list + d.pointer_size).value_or(0),
        word2 = d.memory.try_load<u32>(list + d.pointer_size + 4).value_or(0);
    if (u32 type = word2 >> 27; list && !(word1 & 1u << 24) && type < std::size(sizes) && sizes[type])
      out.push_back({sample.own_class, base_size, static_cast<u8>(type), sizes[type]});
  }
  return out;
}

// Both values are bytes of EEClass; three different sizes are needed, so that no constant passes.
void derive_primitives(Derivation &d, const std::vector<Sample> &samples) {
  std::vector<Primitive> primitives = primitives_of(d, samples);
  unsigned sizes = 0;
  for (const Primitive &primitive : primitives)
    sizes |= primitive.size;
  auto all = [&](i64 x, auto fits) -> Verdict {
    if (std::popcount(sizes) < 3)
      return Verdict::cannot_tell();
    return std::all_of(primitives.begin(), primitives.end(), [&](const Primitive &primitive) {
      std::optional<u8> byte = d.memory.try_load<u8>(primitive.own_class + static_cast<u64>(x));
      return byte && fits(primitive, *byte);
    });
  };
  auto offsets = [&] { return Derivation::offsets(0, 16 * static_cast<i64>(d.pointer_size), 1); };
  d.choose(
      "EEClass", "InternalCorElementType", offsets,
      [&](i64 x) { return all(x, [](const Primitive &of, u8 byte) { return byte == of.type; }); },
      "for every primitive type and enum of CoreLib, it is the element type of the only field");
  d.choose(
      "EEClass", "BaseSizePadding", offsets,
      [&](i64 x) { return all(x, [](const Primitive &of, u8 byte) { return byte + of.size == of.base_size; }); },
      "for every primitive type and enum of CoreLib, it is the base size minus the size of the only field");
}

} // namespace

void derive_field_desc(Derivation &d) {
  std::optional<u64> variable = d.descriptor.try_number("StringMethodTable");
  std::optional<u64> string = variable ? d.word(*variable) : std::nullopt;
  i64 p = static_cast<i64>(d.pointer_size);
  std::vector<Sample> samples;
  if (string && *string && d.descriptor.find_field("MethodTable", "EEClassOrCanonMT") &&
      d.descriptor.find_field("EEClass", "MethodTable"))
    samples = samples_of(d, *string);
  auto passes = [&](i64 x) { return leads_to_fields(d, samples, x); };
  d.choose(
      "EEClass", "FieldDescList", [&] { return Derivation::offsets(0, 16 * p, p); }, passes,
      "for String and every other type of CoreLib, it is null or leads to a list of FieldDescs that point at their "
      "type");
  derive_primitives(d, samples);
}

} // namespace dnheap
