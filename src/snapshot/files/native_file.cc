#include "base/text.h"
#include "contract/find.h"
#include "image/elf_file.h"
#include "image/elf_image.h"
#include "image/macho_format.h"
#include "snapshot/files/file_fit.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 compare_limit = 1 << 20;

std::string id_text(const std::vector<u8> &id) { return id.empty() ? "(none)" : hex_bytes(id.data(), id.size()); }

bool writable(const ElfImage &image, const Range &range) {
  return std::any_of(image.segments().begin(), image.segments().end(), [&](const ElfImage::Segment &s) {
    return s.writable && range.address < s.address + s.size && s.address < range.end();
  });
}

// Checks that each mapped piece of the file lies where the file's segments belong. Returns an empty text, or why not.
std::string misplaced(const Module &module, const ElfImage &image, const std::vector<Range> &layout, Bytes file) {
  constexpr u64 page = 64 << 10; // the largest in use
  for (const Extent &extent : module.extents) {
    if (extent.file_offset > file.size())
      return "too short: " + count_text(file.size()) + " bytes, but the process mapped it at " +
             count_text(extent.file_offset);
    if (extent.end > align_up(image.end(), page))
      return "its segments end before the last piece that the process mapped";
    for (const Range &range : layout)
      if (range.bytes.data() >= file.data() && range.bytes.data() < file.data() + file.size() &&
          extent.start >= range.address && extent.start < range.end() &&
          extent.file_offset != static_cast<u64>(range.bytes.data() - file.data()) + (extent.start - range.address))
        return "its segments lie elsewhere";
  }
  return "";
}

} // namespace

FileFit fit_native_file(const Target &target, const Module &module, const MappedFilePtr &mapped) {
  if (is_macho_file(mapped->bytes()))
    return fit_macho_file(target, module, mapped);
  FileFit out;
  std::optional<ElfFile> file = ElfFile::parse(mapped->bytes());
  if (!file) {
    out.reason = "not an ELF or Mach-O library";
    return out;
  }
  std::optional<ElfImage> in_dump = ElfImage::at(target.memory, module.base);
  std::vector<u8> wanted = in_dump ? in_dump->build_id() : std::vector<u8>(), id = file->build_id();
  if (!wanted.empty() && id != wanted) {
    out.reason = "build id " + id_text(id) + " is not the dump's " + id_text(wanted);
    return out;
  }
  out.storage = {mapped};
  std::vector<Range> layout = file->layout(module.base, out.storage);
  Memory memory(target.format(), layout);
  std::optional<ElfImage> image = ElfImage::at(memory, module.base);
  if (!image) {
    out.reason = "its segments cannot be laid out where the process had them";
    return out;
  }
  // Only constants go to `parts`: the file does not contain a variable's value in the process.
  for (const Range &range : layout)
    (writable(*image, range) ? out.initial : out.parts).push_back(range);
  out.identity = "build id " + id_text(id);
  if (wanted.empty()) {
    out.identity = "inferred";
    out.reason = misplaced(module, *image, layout, mapped->bytes());
    if (out.reason.empty() && !compare_known(target.memory, out.parts, compare_limit).whole())
      out.reason = "its bytes are not those that the dump holds";
  }
  if (std::optional<Address> descriptor = image->find_symbol(descriptor_export)) {
    std::vector<Range> parts = descriptor_parts(memory, *descriptor);
    out.parts.insert(out.parts.end(), parts.begin(), parts.end());
  }
  out.fits = out.reason.empty();
  return out;
}

} // namespace dnheap
