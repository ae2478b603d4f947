#include "image/macho_file.h"

#include "image/macho_fixups.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_segments_in_file = 256;

// Appends the copy without its unknown words, which are in ascending order.
void append_known(MachoFile::Piece piece, std::span<const u64> unknown, std::vector<MachoFile::Piece> &out) {
  const Range whole = piece.range;
  u64 at = 0;
  auto keep_up_to = [&](u64 end) {
    if (end > at)
      out.push_back({{whole.address + at, whole.bytes.subspan(at, end - at)}, piece.is_constant});
  };
  for (u64 word : unknown) {
    keep_up_to(word);
    at = std::max<u64>(at, std::min<u64>(word + 8, whole.bytes.size()));
  }
  keep_up_to(whole.bytes.size());
}

} // namespace

std::optional<MachoFile> MachoFile::parse(Bytes file) {
  const std::optional<MachoHeader> header = MachoHeader::parse(file);
  if (!header || (header->type != macho::type_executable && header->type != macho::type_library &&
                  header->type != macho::type_bundle && header->type != macho::type_linker))
    return std::nullopt;
  MachoFile out(file, *header);
  Bytes commands = slice(file, MachoHeader::size, header->commands_size);
  while (const std::optional<MachoCommand> command = next_command(commands))
    out.read(*command);
  return out.segments_.empty() ? std::nullopt : std::optional(std::move(out));
}

void MachoFile::read(const MachoCommand &command) {
  switch (command.kind) {
  case macho::command_segment:
    if (const std::optional<MachoSegment> segment = parse_macho_segment(command.content);
        segment && segments_.size() < most_segments_in_file)
      segments_.push_back(*segment);
    break;
  case macho::command_uuid: uuid_ = parse_macho_uuid(command.content); break;
  case macho::command_dyld_info:
  case macho::command_dyld_info_only: has_other_fixups_ = true; break;
  case macho::command_chained_fixups: fixups_ = slice(file_, command.word(8), command.word(12)); break;
  }
}

Bytes MachoFile::content(const MachoSegment &segment) const {
  if (segment.offset >= file_.size())
    return {};
  const Bytes rest = file_.subspan(segment.offset);
  return rest.first(std::min<u64>({rest.size(), segment.file_size, segment.memory_size}));
}

std::vector<MachoFile::Piece> MachoFile::layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const {
  std::vector<Piece> out;
  const auto text = std::ranges::find(segments_, "__TEXT", &MachoSegment::name);
  if (text == segments_.end())
    return out;
  const MachoPlace place{base, base - text->address};
  u64 copied = 0;
  for (u64 i = 0; i < segments_.size(); ++i) {
    const MachoSegment &segment = segments_[i];
    const Range range{segment.address + place.bias, content(segment)};
    if (!segment.protection || range.bytes.empty() || add_clamped(range.address, range.bytes.size()) == ~Address{0})
      continue;
    if (!segment.is_writable()) {
      out.push_back({range, true});
      continue;
    }
    copied += range.bytes.size();
    if (has_other_fixups_ || copied > file_.size()) // no real file's segments share bytes
      continue;
    auto copy = std::make_shared<std::vector<std::byte>>(range.bytes.begin(), range.bytes.end());
    std::vector<u64> unknown;
    if (!fixups_.empty() && !apply_chained_fixups(fixups_, i, place, *copy, unknown))
      continue;
    append_known({{range.address, *copy}, segment.is_constant()}, unknown, out);
    storage.push_back(std::move(copy));
  }
  return out;
}

} // namespace dnheap
