#include "runtime/nativeaot/ready_to_run.h"

#include "image/module_image.h"

namespace dnheap {

namespace {

constexpr std::string_view magic{"RTR\0", 4};
constexpr u16 most_sections = 512;
constexpr u64 most_scanned = u64{1} << 30, most_looks = 65536;

// A row of the table of sections; its size shows which of the two forms it has.
struct Row {
  u32 id = 0;
  Address start = 0, end = 0; // end 0: unknown
};

// u32 id, u32 flags, start, end; or u32 id, u32 length, start.
std::optional<Row> row_at(const Memory &memory, Address at, bool has_length) {
  const u64 p = memory.format().pointer_size;
  const std::optional<u32> id = memory.try_load<u32>(at), length = memory.try_load<u32>(at + 4);
  const std::optional<u64> start = memory.try_pointer(at + 8),
                           end = has_length ? std::optional(start.value_or(0) + length.value_or(0))
                                            : memory.try_pointer(at + 8 + p);
  return id && length && start && end ? std::optional(Row{*id, *start, *end}) : std::nullopt;
}

// Magic; u16 major, minor; u32 flags; u16 section count; u8 row size, type; rows.
std::optional<ReadyToRun> parse(const Memory &memory, const ModuleImage &image, Address at) {
  const u64 p = memory.format().pointer_size;
  if (at % p)
    return std::nullopt;
  std::optional<u16> major = memory.try_load<u16>(at + 4), minor = memory.try_load<u16>(at + 6),
                     count = memory.try_load<u16>(at + 12);
  std::optional<u8> row_size = memory.try_load<u8>(at + 14);
  const bool has_length = row_size == 8 + p;
  if (!major || !minor || !count || *count == 0 || *count > most_sections || (row_size != 8 + 2 * p && !has_length))
    return std::nullopt;
  ReadyToRun out{at, *major, *minor, {}};
  u32 last = 0;
  for (u64 i = 0; i < *count; ++i) {
    const std::optional<Row> row = row_at(memory, at + 16 + i * *row_size, has_length);
    // Compilers write the rows in the order of their numbers; all sections lie in the image.
    if (!row || row->id <= last || row->start < image.base() || row->start >= image.end() ||
        (row->end && (row->end < row->start || row->end > image.end())))
      return std::nullopt;
    out.sections[row->id] = {row->start, row->end};
    last = row->id;
  }
  return out;
}

// Stops at the second header: then neither is trusted.
void find_in(const Memory &memory, const ModuleImage &image, std::map<Address, ReadyToRun> &found) {
  u64 bytes_left = most_scanned, looks_left = most_looks;
  for (const Range &range : image.relocated_bytes(memory)) {
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
