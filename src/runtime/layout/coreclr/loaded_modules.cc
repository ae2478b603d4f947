#include "runtime/layout/coreclr/loaded_modules.h"

#include "metadata/ecma335.h"
#include "runtime/layout/coreclr/assemblies.h"
#include "runtime/object_1.h"
#include "runtime/vm/method_table_flags.h"
#include "runtime/vm/module_assembly.h"

#include <set>

namespace dnheap {

namespace {

class LoadedModulesDerivation {
public:
  LoadedModulesDerivation(Derivation &derivation, std::span<const Address> modules, const MetadataOf &metadata_of)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), modules_(modules), metadata_of_(metadata_of) {
    const CoreTypes core = find_core_types(derivation);
    string_ = core.string, object_ = core.object, core_ = core.module;
  }

  void run() {
    derive_local_module();
    derive_loader_allocator();
  }

private:
  // 8.0: {DomainAssembly *, …, number}: the statics of a module. The number of an unloaded module is reused, in any
  // order; a module that is half unloaded may have garbage there, so only most modules have to fit.
  void derive_local_module() {
    if (!d_.descriptor.find_field("MethodTable", "Token"))
      return;
    auto passes = [&](i64 x) {
      std::set<u64> numbers;
      for (Address module : modules_)
        if (std::optional<u64> number = module_number(module, x); number && !numbers.insert(*number).second)
          return false;
      return 2 * numbers.size() > modules_.size() && module_number(core_, x) == 0u;
    };
    d_.choose(
        "Module", "DomainLocalModule", [&] { return Derivation::offsets(p_, 256 * p_, p_); }, passes,
        "for most modules, it leads to the module's own assembly and to a number that no other module has");
    // ModuleDynamicID is the last member that counts for the size of the class, which the class itself holds.
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
        "in String's and Object's EEClass, the byte 2 bytes before it holds the size of the class, which ends directly "
        "after it");
  }

  // Returns the number in a DomainLocalModule at that offset; nullopt if the module has none there.
  std::optional<u64> module_number(Address module, i64 x) const {
    std::optional<u64> local = d_.follow(module, {x}), assembly = d_.follow(module, {x, 0, 0});
    std::optional<u64> number = local ? d_.word(*local + 5 * u64(p_)) : std::nullopt;
    return number && *number <= 65535 && assembly && names_assembly(d_.memory, module, *assembly) ? number
                                                                                                  : std::nullopt;
  }

  // True if a type of the module is collectible: in a collectible module, all are.
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

  // Returns the MethodTable of the managed LoaderAllocator.
  Address loader_allocator_type() const {
    const Metadata *metadata = metadata_of_(core_);
    std::optional<i64> map = d_.descriptor.try_offset("Module", "TypeDefToMethodTableMap");
    std::optional<u64> table = map ? d_.word(core_ + u64(*map + p_)) : std::nullopt;
    for (u32 rid = 1; metadata && table && rid <= metadata->row_count(Table::TypeDef); ++rid)
      if (auto row = metadata->type_def(rid);
          row && row->name == "LoaderAllocator" && row->name_space == "System.Reflection")
        return d_.word(*table + rid * d_.pointer_size).value_or(0) & ~u64{3};
    return 0;
  }

  // Collectible modules have a LoaderAllocator with a handle to a managed one. Without such modules there is nothing to
  // find.
  void derive_loader_allocator() {
    for (Address module : modules_)
      if (is_collectible(module))
        collectible_.push_back(module);
    loader_allocator_type_ = collectible_.empty() ? 0 : loader_allocator_type();
    if (!loader_allocator_type_)
      return;
    const char *predicate = "it leads from most collectible modules to a System.Reflection.LoaderAllocator";
    // Offsets with a known other meaning are left out.
    std::set<i64> taken;
    for (const auto &[name, field] : d_.descriptor.types["Module"].fields)
      taken.insert(field.offset);
    auto candidates = [&] { return d_.search(p_, 64 * p_, p_, [&](i64 x) { return !taken.contains(x); }); };
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
  // Returns the offsets at which the structure at `x` may have that handle, within the structure's own memory.
  std::vector<i64> handles(i64 x) const {
    std::optional<i64> published = d_.descriptor.try_offset("LoaderAllocator", "ObjectHandle");
    if (published && !managed_allocators(x, *published).empty())
      return {*published};
    constexpr u64 most_words = 320;
    u64 end = 0; // the largest size, as half unloaded modules may have garbage there
    for (Address module : collectible_)
      if (std::optional<u64> allocator = d_.follow(module, {x}))
        end = std::max(end, d_.room(*allocator, most_words * u64(p_)));
    return d_.search(0, static_cast<i64>(end), p_, [&](i64 y) { return !managed_allocators(x, y).empty(); });
  }
  // Returns the objects that the handles of the collectible modules lead to, if most are managed LoaderAllocators. The
  // handle is weak: it is empty if the allocator is being unloaded. A module that is half unloaded may have garbage.
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
  const std::span<const Address> modules_;
  const MetadataOf &metadata_of_;
  Address string_ = 0, object_ = 0, core_ = 0; // MethodTables, and CoreLib's Module
  std::vector<Address> collectible_;           // collectible modules
  Address loader_allocator_type_ = 0;          // the MethodTable of the managed one
};

} // namespace

void derive_loaded_modules(Derivation &derivation, std::span<const Address> modules, const MetadataOf &metadata_of) {
  LoadedModulesDerivation(derivation, modules, metadata_of).run();
}

} // namespace dnheap
