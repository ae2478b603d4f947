#include "runtime/layout/field_desc.h"

namespace dnheap {

namespace {

constexpr u64 max_samples = 128;

struct Sample {
  Address method_table, own_class;
};

// Types that CoreLib has loaded, String first.
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

// A null, or a list whose FieldDescs name their type first; a list of chunks of methods also begins so, but goes on
// with something else. Lists of one field tell nothing, so one of at least two is wanted.
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
      "null or a list of FieldDescs that name their type, for String and every other type of CoreLib");
}

} // namespace dnheap
