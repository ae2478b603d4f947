#include "base/text.h"
#include "image/pe_image.h"
#include "snapshot/file_fit.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 compare_limit = 256 << 10;

// A file is mapped whole, as it is on disk (the flat view), or section by section; pieces of either kind begin at a
// page of the file and end with one.
class Pieces {
public:
  Pieces(const PeImage &image, u64 file_size, u64 page) : image_(image), size_(file_size), page_(page) {}

  enum class Kind : u8 { none, constant, variable };
  Kind kind_of(const Extent &extent) const {
    u64 end = extent.file_offset + (extent.end - extent.start);
    if (end < extent.file_offset || end > align_up(size_, page_))
      return Kind::none;
    if (extent.file_offset == 0 && (end == align_up(size_, page_) || end == align_up(image_.size_of_headers(), page_)))
      return Kind::constant;
    Kind out = Kind::none;
    for (const PeImage::Section &section : image_.sections())
      if (section.file_size && extent.file_offset == align_down(section.file_offset, page_) &&
          end == align_up(u64{section.file_offset} + section.file_size, page_))
        out = section.writable ? Kind::variable : out == Kind::none ? Kind::constant : out;
    return out;
  }

private:
  const PeImage &image_;
  const u64 size_, page_;
};

// Extents that a change of protection split are one again.
std::vector<Extent> joined(const std::vector<Extent> &extents) {
  std::vector<Extent> out;
  for (const Extent &extent : extents)
    if (!out.empty() && out.back().end == extent.start &&
        extent.file_offset - out.back().file_offset == extent.start - out.back().start)
      out.back().end = extent.end;
    else
      out.push_back(extent);
  return out;
}

u64 page_size(const Target &target) {
  constexpr u64 at_pagesz = 6;
  auto it = target.auxv.find(at_pagesz);
  bool sound =
      it != target.auxv.end() && it->second >= 4096 && it->second <= (1 << 20) && std::has_single_bit(it->second);
  return sound ? it->second : 4096;
}

} // namespace

FileFit fit_managed_file(const Target &target, const Module &module, const MappedFilePtr &mapped) {
  FileFit out;
  Bytes file = mapped->bytes();
  std::optional<PeImage> image = PeImage::from_file(file);
  if (!image || !image->metadata()) {
    out.reason = "not a managed assembly";
    return out;
  }
  Pieces pieces(*image, file.size(), page_size(target));
  for (const Extent &extent : joined(module.extents)) {
    Pieces::Kind kind = pieces.kind_of(extent);
    if (kind == Pieces::Kind::none) {
      out.reason = fmt::format("{} bytes long: the process mapped {} bytes from byte {} on, which is no part of it",
                               file.size(), extent.end - extent.start, extent.file_offset);
      return out;
    }
    if (kind == Pieces::Kind::constant && extent.file_offset < file.size())
      out.parts.push_back({extent.start, file.subspan(extent.file_offset, std::min(extent.end - extent.start,
                                                                                   file.size() - extent.file_offset))});
  }
  if (Agreement bytes = compare_known(target.memory, out.parts, compare_limit); !bytes.whole()) {
    out.reason = "its bytes are not those that the dump holds";
    return out;
  }
  bool headers = std::any_of(out.parts.begin(), out.parts.end(), [&](const Range &part) {
    return part.bytes.data() == file.data() &&
           target.memory.known_bytes(part.address, part.address + image->size_of_headers()) == image->size_of_headers();
  });
  out.identity = headers ? fmt::format("time stamp {:08x} and size", image->time_date_stamp()) : "inferred";
  out.storage = {mapped};
  out.fits = true;
  return out;
}

} // namespace dnheap
