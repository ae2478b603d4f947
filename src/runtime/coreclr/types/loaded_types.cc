#include "runtime/coreclr/types/loaded_types.h"

#include "base/text.h"
#include "runtime/vm/hash_table.h"
#include "runtime/vm/module_assembly.h"

#include <algorithm>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_modules = 1 << 16, max_types = 1 << 24;

} // namespace

LoadedTypes::LoadedTypes(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types)
    : memory_(&memory), descriptor_(&descriptor), types_(&types), p_(memory.format().pointer_size) {}

// An element is an Assembly, or in .NET 8 to 10 a DomainAssembly, whose first word is the Assembly. An assembly that is
// being loaded or unloaded has no module.
Address LoadedTypes::module_of_element(Address element) const {
  u64 offset = static_cast<u64>(descriptor_->offset("Assembly", "Module"));
  for (Address assembly : {memory_->try_pointer(element).value_or(0), element}) {
    Address module = assembly ? memory_->try_pointer(assembly + offset).value_or(0) : 0;
    if (module && module % p_ == 0 && names_assembly(*memory_, module, assembly))
      return module;
  }
  return 0;
}

// AppDomain's list is an ArrayListBase {u32 Count, FirstBlock} with blocks {Next, u32 Size, elements}.
std::vector<Address> LoadedTypes::modules(Notes &notes) const {
  const ContractDescriptor &d = *descriptor_;
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    std::optional<i64> found = d.try_offset(type, field);
    return found ? static_cast<u64>(*found) : otherwise;
  };
  Address domain = memory_->pointer(d.number("AppDomain"), "the AppDomain");
  Address list = domain + static_cast<u64>(d.offset("AppDomain", "AssemblyList"));
  u64 count = memory_->u32_at(list + offset("ArrayListBase", "Count", 0), "the number of assemblies");
  u64 block = list + offset("ArrayListBase", "FirstBlock", p_);
  std::vector<Address> out;
  std::unordered_set<Address> seen;
  if (count > max_modules)
    notes.add(Subject::modules, Effect::liveness,
              "the list of assemblies claims to have " + count_text(count) + " entries, and only the first " +
                  count_text(max_modules) + " are read");
  for (u64 done = 0; done < std::min(count, max_modules);) {
    std::optional<u32> size = block ? memory_->try_load<u32>(block + offset("ArrayListBlock", "Size", p_)) : 0;
    std::optional<u64> next = block ? memory_->try_pointer(block + offset("ArrayListBlock", "Next", 0)) : 0;
    if (!size || !next || *size == 0) {
      notes.add(Subject::modules, Effect::liveness,
                "the list of assemblies breaks off after " + count_text(done) + " of " + count_text(count));
      break;
    }
    for (u64 i = 0; i < *size && done < std::min(count, max_modules); ++i, ++done)
      if (std::optional<u64> element =
              memory_->try_pointer(block + offset("ArrayListBlock", "ArrayStart", 2 * p_) + i * p_);
          element && *element)
        if (Address module = module_of_element(*element); module && seen.insert(module).second)
          out.push_back(module);
    block = *next;
  }
  return out;
}

// LookupMap {Next, TableData, u32 Count, flag mask}: its nodes are the pieces of one table, which is indexed by row
// number.
void LoadedTypes::add_defined(Address module, std::vector<Address> &to) const {
  std::optional<i64> offset = descriptor_->try_offset("Module", "TypeDefToMethodTableMap");
  u64 total = 0;
  for (Address map = offset ? module + static_cast<u64>(*offset) : 0; map;) {
    std::optional<u64> next = memory_->try_pointer(map), table = memory_->try_pointer(map + p_);
    std::optional<u32> count = memory_->try_load<u32>(map + 2 * p_);
    if (!next || !table || !count || (total += *count) > max_types)
      return;
    for (u64 i = 0; i < *count && *table; ++i) {
      std::optional<u64> entry = memory_->try_pointer(*table + i * p_);
      if (!entry) { // skip to the next page; a damaged table may begin anywhere
        i += std::max<u64>((4096 - (*table + i * p_) % 4096) / p_, 1) - 1;
        continue;
      }
      if (Address mt = *entry & ~u64{3}; mt && types_->is_method_table(mt))
        to.push_back(mt);
    }
    map = *count ? *next : 0;
  }
}

std::vector<Address> LoadedTypes::types(Address module, Notes &notes) const {
  std::vector<Address> out;
  add_defined(module, out);
  std::optional<i64> offset = descriptor_->try_offset("Module", "AvailableTypeParams");
  std::optional<u64> table = offset ? memory_->try_pointer(module + static_cast<u64>(*offset)) : std::nullopt;
  if (!table || !*table)
    return out;
  std::optional<HashTableEntries> entries = hash_table_entries(*memory_, *table, hash_table_layout(p_));
  if (!entries || !entries->complete)
    notes.add(Subject::modules, Effect::liveness, "tables of generic types are cut short in this dump");
  for (u64 value : entries ? entries->values : std::vector<u64>())
    if (Address mt = value & ~u64{1}; !(mt & 2) && types_->is_method_table(mt)) // bit 1: a TypeDesc
      out.push_back(mt);
  return out;
}

} // namespace dnheap
