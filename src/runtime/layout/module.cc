#include "runtime/layout/module.h"

namespace dnheap {

namespace {

bool is_core_library(const Metadata &metadata) {
  std::optional<AssemblyRow> assembly = metadata.assembly();
  return assembly && assembly->name == "System.Private.CoreLib";
}

std::optional<ModuleMetadata> core_metadata(const Derivation &d, std::optional<u64> base) {
  std::optional<ModuleMetadata> metadata = base ? read_image_metadata(d.memory, *base) : std::nullopt;
  return metadata && is_core_library(metadata->metadata) ? metadata : std::nullopt;
}

constexpr const char *predicate = "CoreLib's Module leads to an image whose metadata is System.Private.CoreLib's";

} // namespace

// .NET 9 and 10: Module.Base. 8.0: Module → PEAssembly → PEImage → layout → Base; the last three steps lie at the same
// places in every build seen (a vtable pointer, then the member), but for the slot in PEImage.
std::optional<ModuleMetadata> derive_core_module(Derivation &d, Address module) {
  i64 p = static_cast<i64>(d.pointer_size);
  auto base = [&](i64 x) { return d.word(module + static_cast<u64>(x)); };
  auto direct = [&](i64 x) { return core_metadata(d, base(x)).has_value(); };
  // What lies behind a Module in memory may point at the same image: only its first part is searched, in which every
  // version keeps these members, and the first word that passes is taken.
  auto first = [&](const Derivation::Predicate &passes) {
    for (i64 x = p; x < 128 * p; x += p)
      if (passes(x))
        return std::vector{x};
    return std::vector<i64>();
  };
  if (d.choose(
          "Module", "Base", [&] { return first(direct); }, direct, predicate))
    return core_metadata(d, base(d.descriptor.offset("Module", "Base")));

  auto through = [&](i64 assembly, i64 slot) { return core_metadata(d, d.follow(module, {assembly, p, slot, p})); };
  auto slot_of = [&](i64 assembly) {
    return Derivation::search(8 * p, 32 * p, p, [&](i64 slot) { return through(assembly, slot).has_value(); });
  };
  auto has_slot = [&](i64 x) { return !slot_of(x).empty(); };
  if (!d.choose(
          "Module", "PEAssembly", [&] { return first(has_slot); }, has_slot, predicate))
    return std::nullopt;
  d.descriptor.missing.erase("Module.Base"); // not needed any more
  i64 assembly = d.descriptor.offset("Module", "PEAssembly");
  // Several slots may hold a layout (flat, loaded): all of them show the same metadata, so the last is as good as any.
  i64 slot = slot_of(assembly).back();
  d.choose(
      "PEImage", "LoadedImageLayout", [&] { return std::vector<i64>{slot}; },
      [&](i64 x) { return through(assembly, x).has_value(); }, predicate);
  for (auto [type, field] : {std::pair{"PEAssembly", "PEImage"}, {"PEImageLayout", "Base"}})
    d.choose(
        type, field, [&] { return std::vector<i64>{p}; }, [&](i64 x) { return x == p; }, predicate);
  return through(assembly, d.descriptor.offset("PEImage", "LoadedImageLayout"));
}

} // namespace dnheap
