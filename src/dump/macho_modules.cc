#include "dump/macho_modules.h"

#include "base/text.h"
#include "image/macho_image.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace dnheap {

namespace {

constexpr u64 most_macho_modules = 1 << 14, longest_image_path = 4096, most_header_pages = 1 << 20, header_page = 4096,
              most_linkers = 16;

class MachoModules {
public:
  MachoModules(const MachoCoreNotes &notes, Target &target) : notes_(notes), target_(target), memory_(target.memory) {}

  void find() {
    for (const MachoNoteImage &image : notes_.images)
      add(image.base, image.path);
    if (modules_.empty() && !read_linkers_list())
      look_for_headers();
    sort();
    target_.modules = std::move(modules_);
  }

private:
  u32 type_at(Address at) const {
    constexpr u32 magic = 0xfeedfacf;
    return memory_.try_load<u32>(at) == magic ? memory_.try_load<u32>(at + 12).value_or(0) : 0;
  }

  void add(Address base, std::string path) {
    if (modules_.size() >= most_macho_modules || !known_.insert(base).second)
      return;
    Module module;
    module.path = std::move(path);
    module.base = base;
    if (const std::optional<MachoImage> image = MachoImage::at(memory_, base)) {
      for (const MachoImage::Segment &segment : image->segments())
        if (segment.address >= base)
          module.extents.push_back({segment.address, segment.address + segment.size, segment.file_offset});
      if (module.path.empty())
        module.path = image->own_name();
      if (image->type() == macho::type_executable && target_.program.empty())
        target_.program = module.path;
    }
    std::ranges::sort(module.extents, {}, &Extent::start);
    modules_.push_back(std::move(module));
  }

  // struct dyld_all_image_infos: u32 version, u32 count, the images' {base, path, date}, …, at 192 the linker's path.
  bool read_image_infos(Address infos, Address linker) {
    constexpr u64 row = 24, own_path = 192;
    const u64 count = memory_.try_load<u32>(infos + 4).value_or(0), list = memory_.try_pointer(infos + 8).value_or(0),
              own = memory_.try_pointer(infos + own_path).value_or(0);
    if (!list || !count || count > most_macho_modules || !memory_.try_pointer(list))
      return false;
    u64 unreadable = 0;
    for (u64 i = 0; i < count; ++i) {
      const u64 base = memory_.try_pointer(list + i * row).value_or(0),
                path = memory_.try_pointer(list + i * row + 8).value_or(0);
      if (base)
        add(base, memory_.try_text(path, longest_image_path).value_or(""));
      unreadable += !base;
    }
    if (unreadable)
      target_.notes.add(Subject::modules, Effect::none,
                        fmt::format("{} of {} rows of the dynamic linker's list of images could not be read",
                                    count_text(unreadable), count_text(count)));
    std::string name = memory_.try_text(own, longest_image_path).value_or("");
    add(linker, std::move(name));
    return true;
  }

  bool is_list_of(Address linker) {
    if (type_at(linker) != macho::type_linker || ++linkers_ > most_linkers)
      return false;
    const std::optional<MachoImage> image = MachoImage::at(memory_, linker);
    std::optional<Address> infos = image ? image->find_section("__all_image_info") : std::nullopt;
    if (image && !infos)
      infos = image->find_symbol("dyld_all_image_infos", true);
    return infos && read_image_infos(*infos, linker);
  }

  bool read_linkers_list() {
    for (const Address linker : notes_.linkers)
      if (is_list_of(linker))
        return true;
    for (const Mapping &mapping : target_.mappings)
      if (is_list_of(mapping.start))
        return true;
    return false;
  }

  // Images lie at the start of a page; where several share a mapping, as in dyld's cache, inside of it.
  void look_for_headers() {
    std::vector<Address> found;
    u64 pages = 0;
    for (const Mapping &mapping : target_.mappings) {
      const Address end = mapping.writable ? std::min(mapping.stored_end, mapping.start + 1) : mapping.stored_end;
      for (Address at = mapping.start; at < end && ++pages <= most_header_pages; at += header_page)
        if (const u32 type = type_at(at); type && type != macho::type_core)
          found.push_back(at);
    }
    for (const Address at : found)
      if (is_list_of(at))
        return;
    for (const Address at : found)
      if (MachoImage::at(memory_, at))
        add(at, "");
    target_.notes.add(
        Subject::modules, Effect::none,
        "the dynamic linker's list of images is not in this core: images were looked for by their headers, "
        "and have the names that the linker knows them by");
  }

  // None may cover another.
  void sort() {
    std::ranges::sort(modules_, {}, &Module::base);
    for (u64 i = 0; i + 1 < modules_.size(); ++i)
      std::erase_if(modules_[i].extents, [&](const Extent &e) { return e.end > modules_[i + 1].base; });
  }

  const MachoCoreNotes &notes_;
  Target &target_;
  const Memory &memory_;
  std::vector<Module> modules_;
  std::set<Address> known_;
  u64 linkers_ = 0;
};

} // namespace

void find_macho_modules(const MachoCoreNotes &notes, Target &target) { MachoModules(notes, target).find(); }

} // namespace dnheap
