#include "runtime/nativeaot/ready_to_run.h"

#include "image/module_image.h"

namespace dnheap {

namespace {

constexpr std::string_view magic{"RTR\0", 4};
constexpr u16 most_sections = 512;
constexpr u64 most_scanned = u64{1} << 30, most_looks = 65536;

// Magic; u16 major, minor; u32 flags; u16 section count; u8 row size, type; rows of u32 id, u32 flags, start, end.
std::optional<ReadyToRun> parse(const Memory &memory, const ModuleImage &image, Address at) {
  const u64 p = memory.format().pointer_size;
  if (at % p)
    return std::nullopt;
  std::optional<u16> major = memory.try_load<u16>(at + 4), minor = memory.try_load<u16>(at + 6),
                     count = memory.try_load<u16>(at + 12);
  std::optional<u8> row_size = memory.try_load<u8>(at + 14);
  if (!major || !minor || !count || *count == 0 || *count > most_sections || row_size != 8 + 2 * p)
    return std::nullopt;
  ReadyToRun out{at, *major, *minor, {}};
  u32 last = 0;
  for (u64 i = 0; i < *count; ++i) {
    Address row = at + 16 + i * (8 + 2 * p);
    std::optional<u32> id = memory.try_load<u32>(row);
    std::optional<u64> start = memory.try_pointer(row + 8), end = memory.try_pointer(row + 8 + p);
    // Compilers write them in the order of their numbers; all lie in the image.
    if (!id || !start || !end || *id <= last || *start < image.base() || *start >= image.end() ||
        (*end && (*end < *start || *end > image.end())))
      return std::nullopt;
    out.sections[*id] = {*start, *end};
    last = *id;
  }
  return out;
}

// At most two: that is one too many.
void find_in(const Memory &memory, const ModuleImage &image, std::map<Address, ReadyToRun> &found) {
  u64 bytes_left = most_scanned, looks_left = most_looks;
  for (const Range &range : image.writable_bytes(memory)) {
    std::string_view bytes = as_text(range.bytes.first(std::min<u64>(range.bytes.size(), bytes_left)));
    bytes_left -= bytes.size();
    for (std::size_t at = bytes.find(magic); at != bytes.npos && looks_left > 0 && found.size() < 2;
         at = bytes.find(magic, at + 1), --looks_left)
      if (std::optional<ReadyToRun> header = parse(memory, image, range.address + at))
        found.emplace(header->header, std::move(*header));
  }
}

} // namespace

Address ReadyToRun::start_of(u32 section) const {
  auto it = sections.find(section);
  return it == sections.end() ? 0 : it->second.start;
}

ReadyToRun::Section ReadyToRun::section(u32 id) const {
  auto it = sections.find(id);
  return it == sections.end() || it->second.end == 0 ? Section{} : it->second;
}

std::optional<ReadyToRun> find_ready_to_run(const Target &target, const Module &module) {
  std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base);
  if (!image)
    return std::nullopt;
  std::map<Address, ReadyToRun> found;
  find_in(target.memory, *image, found);
  if (found.empty())
    find_in(target.initial, *image, found);
  if (found.size() != 1)
    return std::nullopt;
  return found.begin()->second;
}

} // namespace dnheap
