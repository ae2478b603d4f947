#include "base/text.h"
#include "contract/find.h"
#include "image/macho_file.h"
#include "image/macho_image.h"
#include "snapshot/files/file_fit.h"

namespace dnheap {

namespace {

constexpr u64 macho_compare_limit = 1 << 20;

std::string uuid_text(const std::vector<u8> &id) { return id.empty() ? "(none)" : hex_bytes(id.data(), id.size()); }

u32 cpu_of(Architecture architecture) {
  return architecture == Architecture::x64     ? u32{macho::cpu_x64}
         : architecture == Architecture::arm64 ? u32{macho::cpu_arm64}
                                               : 0;
}

// Returns the file for that processor, if there are several the one with that UUID.
std::optional<MachoFile> choose_slice(Bytes bytes, u32 cpu, const std::vector<u8> &wanted) {
  std::optional<MachoFile> out;
  for (const Bytes slice : macho_slices(bytes))
    if (std::optional<MachoFile> file = MachoFile::parse(slice);
        file && file->cpu() == cpu && (!out || (!wanted.empty() && file->build_id() == wanted)))
      out = std::move(file);
  return out;
}

void add_descriptor(const Memory &laid_out, Address base, FileFit &out) {
  const std::optional<MachoImage> image = MachoImage::at(laid_out, base);
  const std::optional<Address> descriptor = image ? image->find_symbol(descriptor_export) : std::nullopt;
  if (!descriptor)
    return;
  const std::vector<Range> parts = descriptor_parts(laid_out, *descriptor);
  out.parts.insert(out.parts.end(), parts.begin(), parts.end());
}

} // namespace

FileFit fit_macho_file(const Target &target, const Module &module, const MappedFilePtr &mapped) {
  FileFit out;
  const std::optional<MachoImage> in_dump = MachoImage::at(target.memory, module.base);
  const std::vector<u8> wanted = in_dump ? in_dump->build_id() : std::vector<u8>();
  const std::optional<MachoFile> file = choose_slice(mapped->bytes(), cpu_of(target.architecture), wanted);
  if (!file) {
    out.reason = "no Mach-O library for " + std::string(name_of(target.architecture));
    return out;
  }
  if (!wanted.empty() && file->build_id() != wanted) {
    out.reason = "UUID " + uuid_text(file->build_id()) + " is not the dump's " + uuid_text(wanted);
    return out;
  }
  out.storage = {mapped};
  std::vector<Range> all;
  for (const MachoFile::Piece &piece : file->layout(module.base, out.storage)) {
    all.push_back(piece.range);
    (piece.is_constant ? out.parts : out.initial).push_back(piece.range);
  }
  out.identity = "UUID " + uuid_text(file->build_id());
  if (wanted.empty()) {
    out.identity = "inferred";
    if (!compare_known(target.memory, out.parts, macho_compare_limit).whole())
      out.reason = "its bytes are not those that the dump holds";
  }
  add_descriptor(Memory(target.format(), std::move(all)), module.base, out);
  out.fits = out.reason.empty() && !out.parts.empty();
  return out;
}

} // namespace dnheap
