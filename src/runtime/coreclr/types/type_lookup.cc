#include "runtime/coreclr/types/type_lookup.h"

#include "metadata/type_name.h"
#include "runtime/library_names.h"
#include "runtime/vm/method_table_flags.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr unsigned max_depth = 32;
constexpr u32 max_nodes = 1 << 16;  // of one LookupMap
constexpr u64 max_names = 64 << 20; // characters

bool is_reference(const SignatureType &type) {
  switch (type.kind) {
  case ElementType::Class:
  case ElementType::String:
  case ElementType::Object:
  case ElementType::SzArray:
  case ElementType::Array: return true;
  case ElementType::GenericInst: return !type.children.empty() && is_reference(type.children[0]);
  default: return false;
  }
}

} // namespace

TypeLookup::TypeLookup(const Memory &memory, const ContractDescriptor &descriptor, const RuntimeTypeSystem1 &types,
                       Loader1 &loader)
    : memory_(&memory), descriptor_(&descriptor), types_(&types), loader_(&loader), loaded_(memory, descriptor, types) {
}

Address TypeLookup::find(const SignatureType &type, Address module, std::span<const Address> arguments) {
  return find(type, module, arguments, 0);
}

Address TypeLookup::find(const SignatureType &type, Address module, std::span<const Address> arguments,
                         unsigned depth) {
  if (depth > max_depth)
    return 0;
  switch (type.kind) {
  case ElementType::Class:
  case ElementType::ValueType: return find_token(type.token, module);
  case ElementType::GenericInst: return find_instance(type, module, arguments, depth);
  case ElementType::Var: return type.number < arguments.size() ? arguments[type.number] : 0;
  default: break;
  }
  const char *name = type.kind == ElementType::Void ? nullptr : core_type_name(type.kind);
  return name ? named(name, core_library_name) : 0;
}

// LookupMap {Next, TableData, u32 Count, flag mask}: its nodes are the pieces of one table, which is indexed by row
// number; the low bits of its words are flags.
Address TypeLookup::in_map(const char *field, Address module, u32 rid) const {
  const u64 p = memory_->format().pointer_size;
  std::optional<i64> offset = descriptor_->try_offset("Module", field);
  Address map = offset ? module + static_cast<u64>(*offset) : 0;
  for (u32 i = 0; map && i < max_nodes; ++i) {
    auto next = memory_->try_pointer(map), table = memory_->try_pointer(map + p);
    auto count = memory_->try_load<u32>(map + 2 * p);
    if (!next || !table || !count)
      return 0;
    if (rid < *count)
      return memory_->try_pointer(*table + rid * p).value_or(0) & ~u64{3};
    rid -= *count;
    map = *next;
  }
  return 0;
}

Address TypeLookup::find_token(Token type, Address module) {
  const Metadata *metadata = loader_->metadata(module);
  switch (table_of(type)) {
  case Table::TypeDef: {
    Address mt = in_map("TypeDefToMethodTableMap", module, rid_of(type));
    return types_->is_method_table(mt) ? mt : 0;
  }
  case Table::TypeRef: {
    // The map's entry is null if this module has not yet needed the type itself.
    std::optional<TypeRefRow> row = metadata ? metadata->type_ref(rid_of(type)) : std::nullopt;
    if (Address mt = in_map("TypeRefToMethodTableMap", module, rid_of(type)); types_->is_method_table(mt))
      return mt;
    if (!row)
      return 0;
    std::string_view assembly =
        table_of(row->scope) == Table::AssemblyRef ? metadata->assembly_ref_name(rid_of(row->scope)) : "";
    return named(type_name(*metadata, type), assembly);
  }
  default: return 0;
  }
}

Address TypeLookup::named(const std::string &name, std::string_view assembly) {
  load();
  auto it = by_name_.find(name);
  if (it == by_name_.end())
    return 0;
  // An assembly may forward the type to another one: then the first type of that name is taken.
  for (Address mt : it->second)
    if (const Metadata *metadata = loader_->metadata(types_->module_of(mt)))
      if (std::optional<AssemblyRow> row = metadata->assembly(); row && row->name == assembly)
        return mt;
  return it->second.front();
}

// The open type's MethodTable has the module and row of its instantiations.
Address TypeLookup::find_instance(const SignatureType &type, Address module, std::span<const Address> arguments,
                                  unsigned depth) {
  load();
  if (type.children.empty())
    return 0;
  Address open = find(type.children[0], module, arguments, depth + 1);
  Address owner = open ? types_->module_of(open) : module;
  u32 rid = open ? types_->type_def_rid(open) : 0;
  if (!rid)
    return 0;
  std::vector<Address> shared = {owner, rid}, exact = {owner, rid};
  for (const SignatureType &argument : std::span(type.children).subspan(1)) {
    Address handle = find(argument, module, arguments, depth + 1);
    shared.push_back(is_reference(argument) ? canon_ : canonical_form(handle));
    exact.push_back(handle);
  }
  for (const std::vector<Address> &key : {shared, exact})
    if (auto it = instances_.find(key); it != instances_.end())
      return it->second;
  return 0;
}

Address TypeLookup::canonical_form(Address handle) {
  if (handle & 2 || !types_->is_method_table(handle))
    return handle;
  return types_->is_value_type(handle).value_or(false) ? types_->canonical(handle) : canon_;
}

void TypeLookup::load() {
  if (is_loaded_)
    return;
  is_loaded_ = true;
  Notes notes;
  std::vector<Address> modules;
  try {
    modules = loaded_.modules(notes);
  } catch (const Error &) { // then types of other modules, and generic ones, are not found
    return;
  }
  std::unordered_set<Address> seen;
  u64 characters = 0;
  for (Address module : modules)
    for (Address mt : loaded_.types(module, notes)) {
      if (!seen.insert(mt).second || characters > max_names)
        continue;
      u32 flags = types_->flags(mt).value_or(0), rid = types_->type_def_rid(mt);
      if (!rid || flags & mt_has_component_size)
        continue;
      Address owner = types_->module_of(mt);
      if ((flags & mt_generics_mask) && (flags & mt_generics_mask) != mt_generics_typical) {
        std::vector<Address> key = {owner, rid};
        std::vector<Address> arguments = types_->instantiation(mt);
        key.insert(key.end(), arguments.begin(), arguments.end());
        instances_.emplace(std::move(key), mt);
      } else if (const Metadata *metadata = loader_->metadata(owner)) {
        std::string name = type_name(*metadata, token(Table::TypeDef, rid));
        characters += name.size();
        if (name == "System.__Canon")
          canon_ = mt;
        by_name_[std::move(name)].push_back(mt);
      }
    }
}

} // namespace dnheap
