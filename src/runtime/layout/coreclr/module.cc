#include "runtime/layout/coreclr/module.h"

#include "runtime/library_names.h"

namespace dnheap {

namespace {

bool is_core(const Metadata &metadata) {
  std::optional<AssemblyRow> assembly = metadata.assembly();
  return assembly && assembly->name == core_library_name;
}

// True if an image of System.Private.CoreLib begins at `base`. If the image is not in the dump (gcore and kernels leave
// out file contents), the list of mapped files decides, by the name of the file that is mapped there.
Verdict is_core_image(const Derivation &d, std::optional<u64> base) {
  const Module *mapped = base ? d.target.find_module(*base) : nullptr;
  if (std::optional<ModuleMetadata> found = base ? read_image_metadata(d.memory, *base) : std::nullopt)
    return is_core(found->metadata);
  if (!mapped)
    return false;
  for (const Extent &extent : mapped->extents)
    if (extent.start == *base && extent.file_offset == 0 &&
        d.memory.known_bytes(extent.start, extent.end) < extent.end - extent.start)
      return mapped->file_name() == std::string(core_library_name) + ".dll" ? Verdict(true) : Verdict::cannot_tell();
  return false;
}

constexpr const char *predicate = "CoreLib's Module leads to an image whose metadata is System.Private.CoreLib's";

} // namespace

// .NET 9 and 10: Module.Base. 8.0: Module → PEAssembly → PEImage → layout → Base; the last three steps have the same
// offsets in every build seen (a vtable pointer, then the member), except the slot in PEImage.
Verdict derive_core_module(Derivation &d, Address module, std::optional<ModuleMetadata> &metadata) {
  i64 p = static_cast<i64>(d.pointer_size);
  auto base = [&](i64 x) { return d.word(module + static_cast<u64>(x)); };
  auto direct = [&](i64 x) { return is_core_image(d, base(x)); };
  // Data behind a Module in memory may point at the same image: only its first part is searched, in which every version
  // keeps these members, and the first word that passes is taken.
  auto first = [&](const Derivation::Predicate &passes) {
    for (i64 x = p; x < 128 * p; x += p)
      if (passes(x).passes())
        return std::vector{x};
    return std::vector<i64>();
  };
  auto found_at = [&](std::optional<u64> image) {
    metadata = image ? read_image_metadata(d.memory, *image) : std::nullopt;
    return is_core_image(d, image);
  };
  if (d.choose(
          "Module", "Base", [&] { return first(direct); }, direct, predicate))
    return found_at(base(d.descriptor.offset("Module", "Base")));

  const i64 image_at = d.descriptor.try_offset("PEAssembly", "PEImage").value_or(p),
            base_at = d.descriptor.try_offset("PEImageLayout", "Base").value_or(p);
  auto through = [&](i64 assembly, i64 slot) { return d.follow(module, {assembly, image_at, slot, base_at}); };
  auto slot_of = [&](i64 assembly) {
    auto leads_to_image = [&](i64 slot) { return is_core_image(d, through(assembly, slot)); };
    std::optional<i64> published = d.descriptor.try_offset("PEImage", "LoadedImageLayout");
    return published && leads_to_image(*published).passes() ? std::vector{*published}
                                                            : d.search(8 * p, 32 * p, p, leads_to_image);
  };
  auto has_slot = [&](i64 x) { return !slot_of(x).empty(); };
  if (!d.choose(
          "Module", "PEAssembly", [&] { return first(has_slot); }, has_slot, predicate))
    return false;
  d.descriptor.missing.erase("Module.Base"); // not needed any more
  i64 assembly = d.descriptor.offset("Module", "PEAssembly");
  // Several slots may hold a layout (flat, loaded): all lead to the same metadata, so the last is as good as any.
  i64 slot = slot_of(assembly).back();
  d.choose(
      "PEImage", "LoadedImageLayout", [&] { return std::vector<i64>{slot}; },
      [&](i64 x) { return is_core_image(d, through(assembly, x)); }, predicate);
  d.fixed("PEAssembly", "PEImage", p);
  d.fixed("PEImageLayout", "Base", p);
  return found_at(through(assembly, d.descriptor.offset("PEImage", "LoadedImageLayout")));
}

} // namespace dnheap
