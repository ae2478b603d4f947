#include "runtime/layout/coreclr/assemblies.h"

#include "runtime/layout/coreclr/dac_table.h"
#include "runtime/vm/hash_table.h"
#include "runtime/vm/module_assembly.h"

namespace dnheap {

namespace {

class AssembliesDerivation {
public:
  AssembliesDerivation(Derivation &derivation, const CoreTypes &core, Address gc_variable)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), gc_variable_(gc_variable), string_(core.string),
        object_(core.object), core_(core.module) {}

  void run() {
    derive_list();
    derive_type_params();
    derive_auxiliary();
  }

private:
  // The first assembly of the list is CoreLib's. An element of the list points at it, or (.NET 11: has_assemblies_) is
  // it. The module points back at its assembly; but also at a DomainAssembly, which points at a module itself.
  bool begins_with_core(Address domain, i64 list, i64 module) const {
    const Address at = domain + static_cast<u64>(list), block = at + first_block_;
    const u32 count = d_.memory.try_load<u32>(at + count_).value_or(0);
    if (count == 0 || count > 65535)
      return false;
    const u32 size = d_.memory.try_load<u32>(block + size_).value_or(0);
    if (size == 0 || size > 4096)
      return false;
    const Address first = block + array_start_;
    for (u64 i = 0; i < std::min(count, size); ++i) {
      Address element = d_.word(first + i * u64(p_)).value_or(0);
      if (!is_assembly(element, module, i == 0))
        return false;
    }
    return true;
  }
  // Returns the published offset of a part of the list, or the one that all older versions have.
  u64 list_offset(const char *type, const char *field, u64 otherwise) const {
    std::optional<i64> published = d_.descriptor.try_offset(type, field);
    return published ? static_cast<u64>(*published) : otherwise;
  }
  // An assembly that is being loaded, or has been unloaded, has no module.
  bool is_assembly(Address element, i64 module_at, bool is_core) const {
    if (!element)
      return !is_core;
    Address assembly = has_assemblies_ ? element : d_.word(element).value_or(0);
    std::optional<u64> module = assembly ? d_.word(assembly + static_cast<u64>(module_at)) : std::nullopt;
    if (!module || (is_core && *module != core_))
      return false;
    return *module == 0 || names_assembly(d_.memory, *module, assembly);
  }
  std::vector<i64> list_offsets(Address domain, i64 module) const {
    if (std::optional<i64> published = d_.descriptor.try_offset("AppDomain", "AssemblyList");
        published && begins_with_core(domain, *published, module))
      return {*published};
    return d_.search(0, 512 * p_, p_, [&](i64 x) { return begins_with_core(domain, x, module); });
  }
  // Offsets of the Module in an Assembly for which exactly one list fits.
  std::vector<i64> module_offsets(Address domain) const {
    return d_.search(p_, 8 * p_, p_, [&](i64 x) { return list_offsets(domain, x).size() == 1; });
  }

  void derive_list() {
    Address domain = find_domain();
    if (!domain)
      return;
    const char *predicate = "the AppDomain's list of assemblies begins with CoreLib";
    if (!d_.choose(
            "Assembly", "Module", [&] { return module_offsets(domain); },
            [&](i64 x) { return !list_offsets(domain, x).empty(); }, predicate))
      return;
    i64 module = d_.descriptor.offset("Assembly", "Module");
    auto passes = [&](i64 x) { return begins_with_core(domain, x, module); };
    d_.choose(
        "AppDomain", "AssemblyList", [&] { return list_offsets(domain, module); }, passes, predicate);
  }

  Address find_domain() {
    if (std::optional<u64> published = d_.descriptor.try_number("AppDomain")) {
      Address domain = d_.word(*published).value_or(0);
      has_assemblies_ = module_offsets(domain).empty();
      return domain;
    }
    std::optional<Address> found;
    d_.memory.as_searched([&] { found = domain_variable(); });
    if (!found) {
      d_.descriptor.missing["AppDomain"] =
          "no variable beside g_gcDacGlobals in g_dacTable leads to a list of assemblies "
          "that begins with CoreLib";
      return 0;
    }
    const Address domain = d_.word(*found).value_or(0);
    d_.memory.as_found([&] { module_offsets(domain); });
    d_.descriptor.set_number("AppDomain", *found, true, Origin::discovered);
    return domain;
  }

  std::optional<Address> domain_variable() {
    const DacTable table(d_, gc_variable_);
    for (bool assemblies : {false, true})
      for (i64 i = -8; i < 16; ++i) {
        has_assemblies_ = assemblies;
        const std::optional<Address> variable = table.variable(i);
        const Address domain = variable ? d_.word(*variable).value_or(0) : 0;
        if (domain >= 0x10000 && domain % d_.pointer_size == 0 && module_offsets(domain).size() == 1)
          return variable;
      }
    return std::nullopt;
  }

  bool is_method_table(Address mt) const {
    std::optional<u64> eeclass = d_.word(mt + u64(d_.descriptor.offset("MethodTable", "EEClassOrCanonMT")));
    if (eeclass && (*eeclass & 1))
      return true; // an instantiation that shares its code
    return eeclass && *eeclass && d_.word(*eeclass + u64(d_.descriptor.offset("EEClass", "MethodTable"))) == mt;
  }

  // CoreLib's table is never empty in a process that can be dumped: CoreLib has used generic types and arrays of its
  // own by then.
  void derive_type_params() {
    auto passes = [&](i64 x) -> Verdict {
      std::optional<u64> table = d_.word(core_ + u64(x));
      if (!table || !*table || *table % d_.pointer_size)
        return false;
      std::optional<HashTableEntries> entries =
          hash_table_entries(d_.memory, *table, hash_table_layout(d_.pointer_size));
      if (!entries || entries->values.empty())
        return false;
      for (u64 value : entries->values)
        if (!(value & 2) && !is_method_table(value & ~u64{1}))
          return false;
      return entries->complete ? Verdict(true) : Verdict::cannot_tell();
    };
    std::optional<i64> map = d_.descriptor.try_offset("Module", "TypeDefToMethodTableMap");
    d_.choose(
        "Module", "AvailableTypeParams",
        [&] { return Derivation::offsets(map.value_or(0), map.value_or(0) + 40 * p_, p_); }, passes,
        "in CoreLib's Module, it leads to a hash table that holds only types, exactly as many as the table's own "
        "count");
  }

  // .NET 9 and later. The first member of the auxiliary data is followed by the module that loaded the type.
  void derive_auxiliary() {
    if (d_.descriptor.find_field("MethodTable", "Token"))
      return;
    const i64 module = d_.fixed("MethodTableAuxiliaryData", "LoaderModule", p_);
    auto leads_to_core = [&](i64 x) {
      return d_.follow(string_, {x, module}) == core_ && d_.follow(object_, {x, module}) == core_;
    };
    d_.choose(
        "MethodTable", "AuxiliaryData", [&] { return Derivation::offsets(2 * p_, 10 * p_, p_); }, leads_to_core,
        "String's and Object's auxiliary data have CoreLib's Module as LoaderModule");
  }

  Derivation &d_;
  const i64 p_;
  // Offsets of the parts of a list, looked up once, as thousands of places are tried.
  const u64 first_block_ = list_offset("ArrayListBase", "FirstBlock", static_cast<u64>(p_)),
            count_ = list_offset("ArrayListBase", "Count", 0),
            size_ = list_offset("ArrayListBlock", "Size", static_cast<u64>(p_)),
            array_start_ = list_offset("ArrayListBlock", "ArrayStart", 2 * static_cast<u64>(p_));
  const Address gc_variable_;
  const Address string_, object_, core_; // MethodTables, and CoreLib's Module
  bool has_assemblies_ = false;          // the list's elements are Assemblies, not DomainAssemblies
};

} // namespace

CoreTypes find_core_types(const Derivation &d) {
  std::optional<u64> string = d.descriptor.try_number("StringMethodTable"),
                     object = d.descriptor.try_number("ObjectMethodTable");
  std::optional<i64> module = d.descriptor.try_offset("MethodTable", "Module"),
                     parent = d.descriptor.try_offset("MethodTable", "ParentMethodTable");
  CoreTypes out;
  out.string = string ? d.word(*string).value_or(0) : 0;
  out.object = object ? d.word(*object).value_or(0) : 0;
  if (!out.object && out.string && parent)
    out.object = d.follow(out.string, {*parent}).value_or(0);
  if (out.string && module)
    out.module = d.follow(out.string, {*module}).value_or(0);
  return out;
}

bool derive_assemblies(Derivation &derivation, Address gc_variable) {
  const CoreTypes core = find_core_types(derivation);
  if (!derivation.descriptor.find_field("MethodTable", "EEClassOrCanonMT") ||
      !derivation.descriptor.find_field("EEClass", "MethodTable") || !core.object || !core.module)
    return false;
  AssembliesDerivation(derivation, core, gc_variable).run();
  return true;
}

} // namespace dnheap
