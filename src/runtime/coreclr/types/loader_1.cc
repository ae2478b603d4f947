#include "runtime/coreclr/types/loader_1.h"

#include "base/text.h"
#include "runtime/coreclr/types/edited_metadata.h"

#include <algorithm>

namespace dnheap {

const Metadata *Loader1::metadata(Address module) {
  auto it = known_.find(module);
  if (it == known_.end())
    it = known_.emplace(module, find_metadata(module)).first;
  return it->second ? &it->second->metadata : nullptr;
}

std::vector<Address> Loader1::modules_without_metadata() const {
  std::vector<Address> out;
  for (const auto &[module, found] : known_)
    if (!found)
      out.push_back(module);
  std::sort(out.begin(), out.end());
  return out;
}

std::string Loader1::file_name(Address module) {
  if (const Metadata *found = metadata(module))
    if (std::optional<ModuleRow> row = found->module(); row && !row->name.empty())
      return shortened(row->name, 200);
  // .NET 9 and later: the path, in UTF-16.
  if (std::optional<i64> offset = descriptor_->try_offset("Module", "Path"))
    if (std::optional<u64> path = memory_->try_pointer(module + static_cast<u64>(*offset)); path && *path)
      if (std::optional<std::string> text = memory_->try_text16(*path, 4096); text && !text->empty())
        return shortened(text->substr(text->find_last_of("/\\") + 1), 200);
  if (const Module *mapped = mapped_module(module))
    return shortened(mapped->file_name(), 200);
  // .NET 11.
  if (std::optional<i64> offset = descriptor_->try_offset("Module", "FileName"))
    if (std::optional<u64> name = memory_->try_pointer(module + static_cast<u64>(*offset)); name && *name)
      if (std::optional<std::string> text = memory_->try_text16(*name, 4096); text && !text->empty())
        return shortened(text->substr(text->find_last_of("/\\") + 1), 200);
  if (std::optional<i64> offset = descriptor_->try_offset("Module", "SimpleName"))
    if (std::optional<u64> name = memory_->try_pointer(module + static_cast<u64>(*offset)); name && *name)
      if (std::optional<std::string> text = memory_->try_text(*name, 4096); text && !text->empty())
        return shortened(*text, 200);
  return "<module " + hex(module) + ">";
}

std::string Loader1::why_no_metadata(Address module) {
  if (metadata(module))
    return "types shown by row number instead of name, since the module's metadata has no name there";
  const Module *mapped = mapped_module(module);
  if (mapped && mapped->inferred)
    return "types shown by row number instead of name, since the file that was found is another build than the one "
           "loaded (it defines another number of types); give the right one's folder with --modules";
  if (mapped)
    return "types shown by row number instead of name, since the dump lacks their module's metadata; give the module's "
           "folder with --modules";
  return "types shown by row number instead of name, since the dump lacks their module's metadata";
}

std::optional<ModuleMetadata> Loader1::find_metadata(Address module) const {
  if (std::optional<ModuleMetadata> edited = read_edited_metadata(*memory_, *descriptor_, module))
    return edited;
  for (Address base : image_bases(module))
    if (std::optional<ModuleMetadata> found = read_image_metadata(*memory_, base);
        found && fits(module, base, found->metadata))
      return found;
  return emitted_metadata(module);
}

// A file that was assigned to the module without proof must define as many types as the runtime reserved room for when
// it loaded the module: Module.TypeDefToMethodTableMap, which is indexed by row number.
bool Loader1::fits(Address module, Address base, const Metadata &metadata) const {
  const Module *mapped = target_->find_module(base);
  std::optional<i64> map = descriptor_->try_offset("Module", "TypeDefToMethodTableMap");
  if (!mapped || !mapped->inferred || !map)
    return true;
  const u64 count_at = 2 * memory_->format().pointer_size; // behind Next and TableData
  std::optional<u32> count = memory_->try_load<u32>(module + static_cast<u64>(*map) + count_at);
  return !count || *count == metadata.row_count(Table::TypeDef) + 1;
}

const Module *Loader1::mapped_module(Address module) const {
  for (Address base : image_bases(module))
    if (const Module *mapped = target_->find_module(base))
      return mapped;
  return nullptr;
}

// .NET 9 and later: Module.Base. 8.0: the layout that PEImage marks as loaded, or the flat one beside it.
std::vector<Address> Loader1::image_bases(Address module) const {
  const u64 p = memory_->format().pointer_size;
  std::vector<Address> out;
  auto follow = [&](Address from, std::optional<i64> offset) -> Address {
    return from && offset ? memory_->try_pointer(from + static_cast<u64>(*offset)).value_or(0) : 0;
  };
  if (Address base = follow(module, descriptor_->try_offset("Module", "Base")))
    out.push_back(base);
  Address assembly = follow(module, descriptor_->try_offset("Module", "PEAssembly"));
  Address image = follow(assembly, descriptor_->try_offset("PEAssembly", "PEImage"));
  std::optional<i64> slot = descriptor_->try_offset("PEImage", "LoadedImageLayout");
  if (image && slot)
    for (i64 neighbour : {i64{0}, -static_cast<i64>(p), static_cast<i64>(p)}) {
      Address layout = follow(image, *slot + neighbour);
      if (Address base = follow(layout, descriptor_->try_offset("PEImageLayout", "Base")))
        out.push_back(base);
    }
  return out;
}

// Reflection.Emit: there is no image; the runtime keeps a copy of the metadata for debuggers. {u32 size; bytes} in .NET
// 9 and later, a buffer object {u32 size; …; bytes *} in 8.0. If the descriptor does not publish which word of the
// Module points at it, the word that leads to a metadata root is taken.
std::optional<ModuleMetadata> Loader1::emitted_metadata(Address module) const {
  const u64 p = memory_->format().pointer_size;
  auto read = [&](Address at) -> std::optional<ModuleMetadata> {
    std::optional<u64> structure = memory_->try_pointer(at);
    std::optional<u32> size = structure && *structure ? memory_->try_load<u32>(*structure) : std::nullopt;
    if (!size || *size < 32)
      return std::nullopt;
    if (auto inline_data = read_metadata(*memory_, *structure + 4, *size))
      return inline_data;
    std::optional<u64> buffer = memory_->try_pointer(*structure + 2 * p);
    return buffer ? read_metadata(*memory_, *buffer, *size) : std::nullopt;
  };
  if (std::optional<i64> offset = descriptor_->try_offset("Module", "DynamicMetadata"))
    return read(module + static_cast<u64>(*offset));
  for (u64 offset = p; offset < 256 * p; offset += p)
    if (std::optional<ModuleMetadata> found = read(module + offset))
      return found;
  return std::nullopt;
}

} // namespace dnheap
