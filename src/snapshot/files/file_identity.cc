#include "snapshot/files/file_identity.h"

#include "base/text.h"
#include "image/elf_file.h"
#include "image/elf_sections.h"
#include "image/macho_file.h"
#include "image/macho_format.h"
#include "image/module_image.h"
#include "image/pe_image.h"
#include "metadata/portable_pdb.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

using Guid = std::array<u8, 16>;

// Time stamp and size alone prove a file of the right name only.
std::string identity_of_image(u32 time_date_stamp, u32 size_of_image, const std::optional<Guid> &guid) {
  return guid ? fmt::format("image {:08x}-{:x} {}", time_date_stamp, size_of_image,
                            hex_bytes(guid->data(), guid->size()))
              : "";
}

std::string identity_of_image(const PeImage &image) {
  const std::optional<PeImage::CodeView> view = image.code_view();
  return identity_of_image(image.time_date_stamp(), image.size_of_image(),
                           view ? std::optional(view->guid) : std::nullopt);
}

std::vector<u8> build_id_of_elf(Bytes bytes) {
  const std::optional<ElfFile> file = ElfFile::parse(bytes);
  const std::vector<u8> id = file ? file->build_id() : std::vector<u8>();
  return id.empty() ? elf_section_build_id(bytes) : id;
}

std::string identity_of_slice(Bytes bytes) {
  const std::optional<MachoFile> file = MachoFile::parse(bytes);
  return file ? identity_of_build(file->build_id()) : "";
}

std::string identity_of_other_file(Bytes file) {
  if (has_elf_magic(file))
    return identity_of_build(build_id_of_elf(file));
  if (as_text(file).starts_with("BSJB")) {
    const std::optional<PortablePdb> pdb = PortablePdb::parse(file);
    return pdb ? identity_of_pdb(pdb->id()) : "";
  }
  const std::optional<PeImage> image = PeImage::from_file(file);
  return image ? identity_of_image(*image) : "";
}

} // namespace

std::string identity_of_build(const std::vector<u8> &id) {
  return id.size() < 2 ? "" : "build id " + hex_bytes(id.data(), id.size());
}

std::string identity_of_pdb(Bytes id) {
  return id.empty() ? "" : "pdb " + hex_bytes(reinterpret_cast<const u8 *>(id.data()), id.size());
}

std::string identity_of_module(const Target &target, const Module &module) {
  if (module.pe)
    return identity_of_image(module.pe->time_date_stamp, module.pe->size_of_image, module.pe->guid);
  if (const std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base))
    if (const std::vector<u8> id = image->build_id(); !id.empty())
      return identity_of_build(id);
  for (bool mapped : {true, false})
    if (const std::optional<PeImage> image = PeImage::at(target.memory, module.base, mapped))
      return identity_of_image(*image);
  return "";
}

std::vector<std::string> identities_of_file(Bytes file) {
  std::vector<std::string> out;
  if (!is_macho_file(file))
    out.push_back(identity_of_other_file(file));
  else
    for (Bytes slice : macho_slices(file))
      out.push_back(identity_of_slice(slice));
  std::erase(out, "");
  return out;
}

} // namespace dnheap
