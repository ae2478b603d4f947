#include "dump/modules.h"

#include "image/elf_image.h"
#include "image/pe_image.h"

#include <algorithm>
#include <unordered_map>

namespace dnheap {

namespace {

// The data that decide whether further pieces of the file belong to a module.
struct Growing {
  u64 index; // in the list of modules
  // The end of the ELF image at the module's base; nullopt if it is none, or if its header is not in the dump.
  std::optional<Address> elf_end;
  std::optional<PeImage> pe;
};

// Sections of managed images start at multiples of this, which suits systems with large pages.
constexpr u64 section_alignment = 64 << 10;
// Without a header, pieces further apart than any alignment of segments are taken for separate mappings.
constexpr u64 widest_hole = 4 << 20;
// A limit for segments and sections of all modules: no real process reaches it, and it bounds hostile dumps, where
// every module may have the same header with as many sections as the format allows. Beyond it no header is read.
constexpr u64 most_parts = 1 << 18;

// True if `next` maps the part of the file that belongs there according to one of the image's sections.
bool is_section(const PeImage &pe, Address base, const Extent &next) {
  if (next.start - base >= pe.size_of_image())
    return false;
  return std::any_of(pe.sections().begin(), pe.sections().end(), [&](const PeImage::Section &section) {
    return base + section.rva - next.start == section.file_offset - next.file_offset;
  });
}

// True if `next`, the following extent of the same file in address order, belongs to the module.
bool continues(const Module &module, const Growing &growing, const Extent &next) {
  const Extent &first = module.extents.front(), &last = module.extents.back();
  // One mapping, split by a change of protection.
  if (next.start == last.end && next.file_offset == last.file_offset + (last.end - last.start))
    return true;
  // The loader reserves an image's whole span. Its segments may even map the first page twice.
  if (growing.elf_end)
    return next.start < *growing.elf_end;
  if (growing.pe)
    return is_section(*growing.pe, module.base, next);
  // If the header is missing, use what both formats have in common. A segment is at least as far from the base as its
  // offset in the file. Only the first segment after a small header may map the file's start again.
  u64 distance = next.start - first.start, hole = next.start - last.end;
  if (first.file_offset != 0 || next.start < last.end)
    return false;
  if (next.file_offset == 0)
    return module.extents.size() == 1 && hole != 0 && distance == section_alignment;
  return distance >= next.file_offset && hole <= widest_hole;
}

} // namespace

std::vector<Module> group_into_modules(std::vector<MappedExtent> files, const Memory &memory) {
  std::stable_sort(files.begin(), files.end(),
                   [](const MappedExtent &a, const MappedExtent &b) { return a.extent.start < b.extent.start; });
  std::vector<Module> modules;
  std::unordered_map<std::string_view, Growing> latest; // by path
  u64 parts = 0;
  for (const MappedExtent &file : files) {
    auto it = latest.find(file.path);
    if (it != latest.end() && continues(modules[it->second.index], it->second, file.extent)) {
      modules[it->second.index].extents.push_back(file.extent);
      continue;
    }
    Growing growing{modules.size(), std::nullopt, std::nullopt};
    if (file.extent.file_offset == 0 && parts < most_parts) {
      ++parts;
      if (std::optional<ElfImage> elf = ElfImage::at(memory, file.extent.start)) {
        growing.elf_end = elf->end();
        parts += elf->segments().size();
      } else if ((growing.pe = PeImage::at(memory, file.extent.start, true))) {
        parts += growing.pe->sections().size();
      }
    }
    latest.insert_or_assign(file.path, std::move(growing));
    modules.push_back({std::string(file.path), file.extent.start, {file.extent}});
  }
  return modules;
}

} // namespace dnheap
