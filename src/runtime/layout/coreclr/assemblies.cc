#include "runtime/layout/coreclr/assemblies.h"

#include "runtime/coreclr/hash_table.h"
#include "runtime/coreclr/loaded_types_1.h"
#include "runtime/coreclr/method_table_flags.h"
#include "runtime/layout/coreclr/dac_table.h"
#include "runtime/object_1.h"

#include <set>

namespace dnheap {

namespace {

class AssembliesDerivation {
public:
  AssembliesDerivation(Derivation &derivation, Address gc_variable)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), gc_variable_(gc_variable) {
    std::optional<u64> string = d_.descriptor.try_number("StringMethodTable"),
                       object = d_.descriptor.try_number("ObjectMethodTable");
    string_ = string ? d_.word(*string).value_or(0) : 0;
    std::optional<i64> module = d_.descriptor.try_offset("MethodTable", "Module"),
                       parent = d_.descriptor.try_offset("MethodTable", "ParentMethodTable");
    object_ = object ? d_.word(*object).value_or(0) : 0;
    if (!object_ && string_ && parent)
      object_ = d_.follow(string_, {*parent}).value_or(0);
    if (string_ && module)
      core_ = d_.follow(string_, {*module}).value_or(0);
  }

  void run() {
    if (!core_ || !object_)
      return;
    derive_list();
    derive_type_params();
    derive_auxiliary();
    std::vector<Address> modules = loaded_modules();
    derive_local_module(modules);
    derive_loader_allocator(modules);
  }

private:
  // The first assembly of all is CoreLib's. An element of the list leads to it, or (.NET 11: has_assemblies_) is it.
  // The module, too, names its assembly; but a DomainAssembly as well, and that has a module of its own.
  bool begins_with_core(Address domain, i64 list, i64 module) const {
    Address at = domain + static_cast<u64>(list), block = at + list_offset("ArrayListBase", "FirstBlock", u64(p_));
    u32 count = d_.memory.try_load<u32>(at + list_offset("ArrayListBase", "Count", 0)).value_or(0);
    u32 size = d_.memory.try_load<u32>(block + list_offset("ArrayListBlock", "Size", u64(p_))).value_or(0);
    if (count == 0 || count > 65535 || size == 0 || size > 4096)
      return false;
    const Address first = block + list_offset("ArrayListBlock", "ArrayStart", 2 * u64(p_));
    for (u64 i = 0; i < std::min(count, size); ++i) {
      Address element = d_.word(first + i * u64(p_)).value_or(0);
      if (!is_assembly(element, module, i == 0))
        return false;
    }
    return true;
  }
  // Where a part of the list lies: as published, or as it always was.
  u64 list_offset(const char *type, const char *field, u64 otherwise) const {
    std::optional<i64> published = d_.descriptor.try_offset(type, field);
    return published ? static_cast<u64>(*published) : otherwise;
  }
  // One that is being loaded, or has been unloaded, has no module.
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
    for (const char *field : {"AssemblyList", "DomainAssemblyList"})
      if (std::optional<i64> published = d_.descriptor.try_offset("AppDomain", field);
          published && begins_with_core(domain, *published, module))
        return {*published};
    return Derivation::search(0, 512 * p_, p_, [&](i64 x) { return begins_with_core(domain, x, module); });
  }
  // By where an Assembly has its Module.
  std::vector<i64> module_offsets(Address domain) const {
    return Derivation::search(p_, 8 * p_, p_, [&](i64 x) { return list_offsets(domain, x).size() == 1; });
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
    if (std::optional<i64> list = d_.descriptor.try_offset("AppDomain", "AssemblyList"); list && passes(*list))
      return;
    d_.choose(
        "AppDomain", "DomainAssemblyList", [&] { return list_offsets(domain, module); }, passes, predicate);
  }

  Address find_domain() {
    if (std::optional<u64> published = d_.descriptor.try_number("AppDomain")) {
      Address domain = d_.word(*published).value_or(0);
      has_assemblies_ = module_offsets(domain).empty();
      return domain;
    }
    DacTable table(d_, gc_variable_);
    for (bool assemblies : {false, true})
      for (i64 i = -8; i < 16; ++i) {
        has_assemblies_ = assemblies;
        std::optional<Address> variable = table.variable(i);
        Address domain = variable ? d_.word(*variable).value_or(0) : 0;
        if (domain < 0x10000 || domain % d_.pointer_size || module_offsets(domain).size() != 1)
          continue;
        d_.descriptor.set_number("AppDomain", *variable, true, Origin::discovered);
        return domain;
      }
    d_.descriptor.missing["AppDomain"] =
        "no variable beside g_gcDacGlobals in g_dacTable leads to a list of assemblies "
        "that begins with CoreLib";
    return 0;
  }

  bool is_method_table(Address mt) const {
    std::optional<u64> eeclass = d_.word(mt + u64(d_.descriptor.offset("MethodTable", "EEClassOrCanonMT")));
    if (eeclass && (*eeclass & 1))
      return true; // an instantiation that shares its code
    return eeclass && *eeclass && d_.word(*eeclass + u64(d_.descriptor.offset("EEClass", "MethodTable"))) == mt;
  }

  // CoreLib has used generic types and arrays of its own long before anything can be dumped.
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
        "CoreLib's is a hash table, with as many entries as it says, of nothing but types");
  }

  // .NET 9 on. What it begins with is followed by the module that loaded the type.
  void derive_auxiliary() {
    if (d_.descriptor.find_field("MethodTable", "Token"))
      return;
    const i64 module = d_.fixed("MethodTableAuxiliaryData", "LoaderModule", p_);
    auto leads_to_core = [&](i64 x) {
      return d_.follow(string_, {x, module}) == core_ && d_.follow(object_, {x, module}) == core_;
    };
    d_.choose(
        "MethodTable", "AuxiliaryData", [&] { return Derivation::offsets(2 * p_, 10 * p_, p_); }, leads_to_core,
        "String's and Object's name CoreLib's Module");
  }

  std::vector<Address> loaded_modules() const {
    try {
      Loader1 loader(d_.target, d_.descriptor);
      RuntimeTypeSystem1 types(d_.memory, d_.descriptor, loader);
      std::vector<std::string> ignored; // whoever wants the modules is told again
      return LoadedTypes1(d_.memory, d_.descriptor, types).modules(ignored);
    } catch (const Error &) {
      return {};
    }
  }

  // 8.0: {DomainAssembly *, …, number}: where a module has its statics. The number of a module that was unloaded is
  // given to another one, in any order; one that is half gone may have anything there, so most modules have to fit.
  void derive_local_module(const std::vector<Address> &modules) {
    if (!d_.descriptor.find_field("MethodTable", "Token"))
      return;
    auto passes = [&](i64 x) {
      std::set<u64> numbers;
      for (Address module : modules)
        if (std::optional<u64> number = module_number(module, x); number && !numbers.insert(*number).second)
          return false;
      return 2 * numbers.size() > modules.size() && module_number(core_, x) == 0u;
    };
    d_.choose(
        "Module", "DomainLocalModule", [&] { return Derivation::offsets(p_, 256 * p_, p_); }, passes,
        "leads to the module's own assembly, and has a number that no other module has, for most modules");
    // The class's size is counted without what follows, and the number is the last member.
    auto ends_class = [&](i64 x) {
      for (Address mt : {string_, object_}) {
        std::optional<u64> own = d_.follow(mt, {d_.descriptor.offset("MethodTable", "EEClassOrCanonMT")});
        if (!own || d_.memory.try_load<u8>(*own + u64(x - 2)) != x + 4)
          return false;
      }
      return true;
    };
    d_.choose(
        "EEClass", "ModuleDynamicID", [&] { return Derivation::offsets(4 * p_, 12 * p_, 4); }, ends_class,
        "two bytes before it stands the size of a class that ends with it, in String's and Object's");
  }

  // What a DomainLocalModule at that offset says; nullopt if there is none of the module's.
  std::optional<u64> module_number(Address module, i64 x) const {
    std::optional<u64> local = d_.follow(module, {x}), assembly = d_.follow(module, {x, 0, 0});
    std::optional<u64> number = local ? d_.word(*local + 5 * u64(p_)) : std::nullopt;
    return number && *number <= 65535 && assembly && names_assembly(d_.memory, module, *assembly) ? number
                                                                                                  : std::nullopt;
  }

  // All types that a collectible module defines are collectible.
  bool is_collectible(Address module) const {
    std::optional<i64> map = d_.descriptor.try_offset("Module", "TypeDefToMethodTableMap");
    std::optional<u64> table = map ? d_.word(module + u64(*map + p_)) : std::nullopt;
    u32 count = table ? d_.memory.try_load<u32>(module + u64(*map + 2 * p_)).value_or(0) : 0;
    u32 flag = d_.descriptor.find_field("MethodTable", "Token") ? mt_collectible_with_token : mt_collectible;
    for (u32 rid = 1; rid < std::min(count, 1u << 16); ++rid) {
      std::optional<u64> entry = d_.word(*table + rid * d_.pointer_size);
      if (!entry)
        return false;
      if (Address mt = *entry & ~u64{3})
        return d_.memory.try_load<u32>(mt).value_or(0) & flag;
    }
    return false;
  }

  // The MethodTable of the managed LoaderAllocator.
  Address loader_allocator_type() const {
    Loader1 loader(d_.target, d_.descriptor);
    const Metadata *metadata = loader.metadata(core_);
    std::optional<i64> map = d_.descriptor.try_offset("Module", "TypeDefToMethodTableMap");
    std::optional<u64> table = map ? d_.word(core_ + u64(*map + p_)) : std::nullopt;
    for (u32 rid = 1; metadata && table && rid <= metadata->row_count(Table::TypeDef); ++rid)
      if (auto row = metadata->type_def(rid);
          row && row->name == "LoaderAllocator" && row->name_space == "System.Reflection")
        return d_.word(*table + rid * d_.pointer_size).value_or(0) & ~u64{3};
    return 0;
  }

  // Collectible modules have one that has a handle to a managed one. Without such modules there is nothing to find.
  void derive_loader_allocator(const std::vector<Address> &modules) {
    for (Address module : modules)
      if (is_collectible(module))
        collectible_.push_back(module);
    loader_allocator_type_ = collectible_.empty() ? 0 : loader_allocator_type();
    if (!loader_allocator_type_)
      return;
    const char *predicate = "leads from collectible modules to a System.Reflection.LoaderAllocator";
    // What is known to lead elsewhere is left out.
    std::set<i64> taken;
    for (const auto &[name, field] : d_.descriptor.types["Module"].fields)
      taken.insert(field.offset);
    auto candidates = [&] { return Derivation::search(p_, 64 * p_, p_, [&](i64 x) { return !taken.contains(x); }); };
    if (!d_.choose(
            "Module", "LoaderAllocator", candidates, [&](i64 x) { return !handles(x).empty(); }, predicate,
            [&](i64 x) { return managed_allocators(x, handles(x).at(0)); }))
      return;
    const i64 x = d_.descriptor.offset("Module", "LoaderAllocator");
    d_.choose(
        "LoaderAllocator", "ObjectHandle", [&] { return handles(x); },
        [&](i64 y) { return !managed_allocators(x, y).empty(); }, predicate,
        [&](i64 y) { return managed_allocators(x, y); });
  }
  // Where what the modules have at `x` may have that handle: within its own memory.
  std::vector<i64> handles(i64 x) const {
    std::optional<i64> published = d_.descriptor.try_offset("LoaderAllocator", "ObjectHandle");
    if (published && !managed_allocators(x, *published).empty())
      return {*published};
    constexpr u64 most_words = 320;
    u64 end = 0; // the largest: what half gone modules have may be anything
    for (Address module : collectible_)
      if (std::optional<u64> allocator = d_.follow(module, {x}))
        end = std::max(end, d_.room(*allocator, most_words * u64(p_)));
    return Derivation::search(0, static_cast<i64>(end), p_, [&](i64 y) { return !managed_allocators(x, y).empty(); });
  }
  // The objects that the handles of the collectible modules lead to, if most are of that type. The handle is a weak
  // one: of an allocator that is going away it is empty. A module that is half gone may have anything.
  std::vector<u64> managed_allocators(i64 x, i64 y) const {
    std::vector<u64> out;
    u64 there = 0, wrong = 0;
    for (Address module : collectible_) {
      std::optional<u64> allocator = d_.follow(module, {x}),
                         handle = allocator ? d_.word(*allocator + static_cast<u64>(y)) : std::nullopt,
                         object = handle && *handle ? d_.word(*handle) : handle;
      const bool is_there = object && *object && method_table_of(d_.memory, *object) == loader_allocator_type_;
      there += is_there;
      wrong += !is_there && object != u64{0};
      out.push_back(is_there ? *object : 0);
    }
    return there > wrong ? out : std::vector<u64>();
  }

  Derivation &d_;
  const i64 p_;
  const Address gc_variable_;
  bool has_assemblies_ = false;                // the list's elements are Assemblies, not DomainAssemblies
  Address string_ = 0, object_ = 0, core_ = 0; // MethodTables, and CoreLib's Module
  std::vector<Address> collectible_;           // modules
  Address loader_allocator_type_ = 0;          // the MethodTable of the managed one
};

} // namespace

void derive_assemblies(Derivation &derivation, Address gc_variable) {
  if (derivation.descriptor.find_field("MethodTable", "EEClassOrCanonMT") &&
      derivation.descriptor.find_field("EEClass", "MethodTable"))
    AssembliesDerivation(derivation, gc_variable).run();
}

} // namespace dnheap
