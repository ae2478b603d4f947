#include "base/text.h"
#include "image/bundle.h"
#include "image/pe_file.h"
#include "image/pe_image.h"
#include "snapshot/files/file_fit.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 compare_limit = 256 << 10;
constexpr const char *bytes_differ = "its bytes are not those that the dump holds";

// A file is mapped whole, as on disk (the flat view), or section by section. Pieces of either kind begin at a page
// boundary of the file and end at one. `start`: where the assembly begins in the mapped file. For one inside another
// file, a whole page is mapped with the headers, even if they fill only part of it.
class Pieces {
public:
  explicit Pieces(u64 page) : page_(page) {}

  enum class Kind : u8 { none, constant, variable };

  void add(const PeImage &image, u64 start, u64 size) {
    add(start, size, Kind::constant);
    add(start, image.size_of_headers(), Kind::constant);
    if (start)
      add(start, page_, Kind::constant);
    for (const PeImage::Section &section : image.sections())
      if (section.file_size)
        add(start + section.file_offset, section.file_size, section.writable ? Kind::variable : Kind::constant);
  }
  Kind kind_of(const Extent &extent) const {
    auto it = kinds_.find({extent.file_offset, extent.file_offset + (extent.end - extent.start)});
    return it == kinds_.end() ? Kind::none : it->second;
  }

private:
  void add(u64 start, u64 size, Kind kind) {
    Kind &known = kinds_[{align_down(start, page_), align_up(start + size, page_)}];
    known = std::max(known, kind);
  }

  const u64 page_;
  std::map<std::pair<u64, u64>, Kind> kinds_;
};

// Joins extents that a change of protection had split.
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

std::string no_part(const Extent &extent, Bytes file) {
  return fmt::format("{} bytes long: the process mapped {} bytes from byte {} on, which the file does not have",
                     file.size(), extent.end - extent.start, extent.file_offset);
}

std::optional<Range> part_of(const Extent &extent, Bytes file) {
  if (extent.file_offset >= file.size())
    return std::nullopt;
  return Range{extent.start,
               file.subspan(extent.file_offset, std::min(extent.end - extent.start, file.size() - extent.file_offset))};
}

// Returns the initial contents of the writable sections, if the process mapped them section by section, with the
// relocations that its loader applied.
std::vector<Range> initial_data(const Module &module, const std::vector<Extent> &mapped, Bytes file,
                                std::vector<std::shared_ptr<const void>> &storage) {
  std::optional<PeFile> pe = mapped.empty() ? std::nullopt : PeFile::parse(file);
  if (!pe)
    return {};
  std::vector<Range> out = pe->initial(module.base, storage);
  std::erase_if(out, [&](const Range &range) {
    return std::none_of(mapped.begin(), mapped.end(), [&](const Extent &extent) {
      return range.address >= extent.start && range.address < extent.end;
    });
  });
  return out;
}

// Returns the constant tables of ReadyToRun code, if the process mapped it section by section.
std::vector<Range> constant_tables(const Module &module, const std::vector<Range> &initial, Bytes file) {
  const std::optional<PeFile> pe = initial.empty() ? std::nullopt : PeFile::parse(file);
  return pe ? pe->constant_tables(module.base, initial) : std::vector<Range>();
}

} // namespace

bool is_bundled_in(const Module &module, const Module &program) {
  return module.base != program.base && module.path == program.path && !module.extents.empty() &&
         module.extents.front().file_offset != 0;
}

FileFit fit_managed_file(const Target &target, const Module &module, const MappedFilePtr &mapped) {
  FileFit out;
  Bytes file = mapped->bytes();
  std::optional<PeImage> image = PeImage::from_file(file);
  if (!image || !image->metadata()) {
    out.reason = "not a managed assembly";
    return out;
  }
  Pieces pieces(page_size(target));
  pieces.add(*image, 0, file.size());
  std::vector<Extent> variable;
  for (const Extent &extent : joined(module.extents)) {
    Pieces::Kind kind = pieces.kind_of(extent);
    if (kind == Pieces::Kind::none) {
      out.reason = no_part(extent, file);
      return out;
    }
    if (kind == Pieces::Kind::variable)
      variable.push_back(extent);
    else if (std::optional<Range> part = part_of(extent, file))
      out.parts.push_back(*part);
  }
  if (!compare_known(target.memory, out.parts, compare_limit).whole()) {
    out.reason = bytes_differ;
    return out;
  }
  bool headers = std::any_of(out.parts.begin(), out.parts.end(), [&](const Range &part) {
    return part.bytes.data() == file.data() &&
           target.memory.known_bytes(part.address, part.address + image->size_of_headers()) == image->size_of_headers();
  });
  out.identity = headers ? fmt::format("time stamp {:08x} and size", image->time_date_stamp()) : "inferred";
  out.storage = {mapped};
  out.initial = initial_data(module, variable, file, out.storage);
  for (const Range &table : constant_tables(module, out.initial, file))
    if (compare_known(target.memory, {&table, 1}, compare_limit).whole())
      out.parts.push_back(table);
  out.fits = true;
  return out;
}

FileFit fit_bundle(const Target &target, const Module &program, const MappedFilePtr &mapped) {
  FileFit out;
  Bytes file = mapped->bytes();
  Pieces pieces(page_size(target));
  for (const BundledFile &bundled : read_bundle(file))
    if (std::optional<PeImage> image = PeImage::from_file(slice(file, bundled.offset, bundled.size));
        image && !bundled.compressed)
      pieces.add(*image, bundled.offset, bundled.size);
  u64 found = 0;
  std::vector<Extent> odd; // the runtime maps a page or two besides, for an unknown purpose: left out
  for (const Module &module : target.modules)
    if (is_bundled_in(module, program))
      for (const Extent &extent : joined(module.extents)) {
        Pieces::Kind kind = pieces.kind_of(extent);
        if (kind == Pieces::Kind::none)
          odd.push_back(extent);
        else
          ++found;
        if (std::optional<Range> part = part_of(extent, file); part && kind == Pieces::Kind::constant)
          out.parts.push_back(*part);
      }
  if (odd.size() > found)
    out.reason = no_part(odd[0], file);
  else if (!compare_known(target.memory, out.parts, compare_limit).whole())
    out.reason = bytes_differ;
  out.identity = "inferred";
  out.storage = {mapped};
  out.fits = out.reason.empty();
  return out;
}

} // namespace dnheap
