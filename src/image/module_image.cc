#include "image/module_image.h"

#include "image/elf_file.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_pieces = 4096;

} // namespace

ModuleImage::ModuleImage(ElfImage image)
    : image_(std::move(image)), base_(std::get<ElfImage>(image_).base()), end_(std::get<ElfImage>(image_).end()),
      bias_(std::get<ElfImage>(image_).bias()) {
  for (const ElfImage::Segment &segment : std::get<ElfImage>(image_).segments())
    sections_.push_back({segment.address, segment.size, segment.writable, segment.executable});
}

ModuleImage::ModuleImage(MachoImage image)
    : image_(std::move(image)), base_(std::get<MachoImage>(image_).base()), end_(std::get<MachoImage>(image_).end()),
      bias_(std::get<MachoImage>(image_).bias()) {
  for (const MachoImage::Segment &segment : std::get<MachoImage>(image_).segments())
    sections_.push_back({segment.address, segment.size, segment.writable, segment.executable});
}

ModuleImage::ModuleImage(PeImage image, Address base) : image_(std::move(image)), base_(base) {
  const PeImage &pe = std::get<PeImage>(image_);
  end_ = add_clamped(base, pe.size_of_image());
  bias_ = base - pe.image_base();
  for (const PeImage::Section &section : pe.sections())
    sections_.push_back({add_clamped(base, section.rva), section.virtual_size, section.writable, section.executable});
}

std::optional<ModuleImage> ModuleImage::at(const Memory &memory, Address base) {
  if (std::optional<ElfImage> elf = ElfImage::at(memory, base))
    return ModuleImage(std::move(*elf));
  if (std::optional<MachoImage> macho = MachoImage::at(memory, base))
    return ModuleImage(std::move(*macho));
  if (std::optional<PeImage> pe = PeImage::at(memory, base, true))
    return ModuleImage(std::move(*pe), base);
  return std::nullopt;
}

bool ModuleImage::has_writable_sections() const {
  return std::any_of(sections_.begin(), sections_.end(), [](const Section &section) { return section.writable; });
}

std::vector<Range> ModuleImage::writable_bytes(const Memory &memory) const {
  return bytes_of(memory, [](const Section &section) { return section.writable; });
}

std::vector<Range> ModuleImage::relocated_bytes(const Memory &memory) const {
  return relocates_constants() ? bytes_of(memory, [](const Section &section) { return !section.executable; })
                               : writable_bytes(memory);
}

std::vector<Range> ModuleImage::bytes_of(const Memory &memory, bool (*wanted)(const Section &)) const {
  std::vector<Range> out;
  std::span<const Range> ranges = memory.ranges();
  for (const Section &section : sections_) {
    if (!wanted(section))
      continue;
    const Address section_end = add_clamped(section.address, section.size);
    auto range = std::lower_bound(ranges.begin(), ranges.end(), section.address,
                                  [](const Range &r, Address address) { return r.end() <= address; });
    for (; range != ranges.end() && range->address < section_end && out.size() < most_pieces; ++range) {
      Address from = std::max(section.address, range->address), to = std::min(section_end, range->end());
      if (from < to)
        out.push_back({from, memory.fetched(range->bytes.subspan(from - range->address, to - from))});
    }
  }
  return out;
}

std::vector<u8> ModuleImage::build_id() const {
  if (const MachoImage *macho = std::get_if<MachoImage>(&image_))
    return macho->build_id();
  const ElfImage *elf = std::get_if<ElfImage>(&image_);
  return elf ? elf->build_id() : std::vector<u8>();
}

std::optional<Address> ModuleImage::find_symbol(std::string_view name) const {
  if (const ElfImage *elf = std::get_if<ElfImage>(&image_))
    return elf->find_symbol(name);
  if (const MachoImage *macho = std::get_if<MachoImage>(&image_))
    return macho->find_symbol(name);
  std::optional<u32> rva = std::get<PeImage>(image_).find_export(name);
  return rva ? std::optional(base_ + *rva) : std::nullopt;
}

std::optional<ModuleImage::Section> ModuleImage::call_frame_table() const {
  constexpr u32 eh_frame_header = 0x6474e550;
  const ElfImage *elf = std::get_if<ElfImage>(&image_);
  const std::optional<ElfImage::Segment> found = elf ? elf->find_header(eh_frame_header) : std::nullopt;
  return found ? std::optional(Section{found->address, found->size, found->writable, found->executable}) : std::nullopt;
}

bool ModuleImage::is_managed() const {
  const PeImage *pe = std::get_if<PeImage>(&image_);
  return pe && pe->is_managed();
}

bool exports_any(Bytes file, std::span<const char *const> names) {
  std::optional<ElfFile> program = ElfFile::parse(file);
  if (!program)
    return false;
  std::vector<std::shared_ptr<const void>> storage;
  const Memory memory(program->format(), program->layout(0, storage));
  const std::optional<ModuleImage> image = ModuleImage::at(memory, 0);
  return image && std::any_of(names.begin(), names.end(),
                              [&](const char *name) { return image->find_symbol(name).has_value(); });
}

} // namespace dnheap
