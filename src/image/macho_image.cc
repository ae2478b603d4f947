#include "image/macho_image.h"

#include "image/macho_exports.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 largest_commands = 256 << 10, most_segments = 256, most_symbols = 1 << 22, largest_trie = 1 << 26;
constexpr u64 section_record = 80, symbol_record = 16;

// Returns bytes that may lie in several pieces; `copy` then holds them. Empty if they are not all known.
Bytes view_or_copy(const Memory &memory, Address at, u64 size, std::vector<std::byte> &copy) {
  if (const Bytes whole = memory.view(at, size); !whole.empty())
    return whole;
  if (memory.known_bytes(at, add_clamped(at, size)) < size)
    return {};
  copy.resize(size);
  return memory.read(at, copy) ? Bytes(copy) : Bytes();
}

} // namespace

std::optional<MachoImage> MachoImage::at(const Memory &memory, Address base) {
  MachoImage image(memory, base);
  std::byte head[MachoHeader::size];
  if (!memory.read(base, head))
    return std::nullopt;
  const std::optional<MachoHeader> header = MachoHeader::parse(head);
  if (!header || header->type == macho::type_core || header->commands_size > largest_commands)
    return std::nullopt;
  image.header_ = *header;
  std::vector<std::byte> commands(header->commands_size);
  if (!memory.read(base + MachoHeader::size, commands))
    return std::nullopt;
  image.commands_ = std::make_shared<const std::vector<std::byte>>(std::move(commands));
  Bytes rest = *image.commands_;
  while (const std::optional<MachoCommand> command = next_command(rest))
    image.read(*command);
  return image.place_segments() ? std::optional(std::move(image)) : std::nullopt;
}

bool MachoImage::place_segments() {
  const auto text = std::ranges::find(all_segments_, "__TEXT", &MachoSegment::name);
  if (text == all_segments_.end())
    return false;
  bias_ = base_ - text->address;
  const bool in_cache = header_.flags & macho::flag_in_cache;
  for (const MachoSegment &s : all_segments_) {
    const Address address = s.address + bias_;
    if (!s.protection || !s.memory_size || (in_cache && s.name != "__TEXT") || // __PAGEZERO; what others share
        add_clamped(address, s.memory_size) == ~Address{0})
      continue;
    segments_.push_back(
        {address, s.memory_size, s.offset, s.is_writable(), (s.protection & macho::protection_execute) != 0});
    end_ = std::max(end_, address + s.memory_size);
  }
  return true;
}

void MachoImage::read(const MachoCommand &command) {
  switch (command.kind) {
  case macho::command_segment:
    if (const std::optional<MachoSegment> segment = parse_macho_segment(command.content);
        segment && all_segments_.size() < most_segments)
      all_segments_.push_back(*segment);
    break;
  case macho::command_uuid: uuid_ = parse_macho_uuid(command.content); break;
  case macho::command_library_name:
  case macho::command_linker_name: own_name_ = text_at(command.content, command.word(8)); break;
  case macho::command_symbols:
    symbols_ = command.word(8), symbol_count_ = command.word(12);
    strings_ = command.word(16), strings_size_ = command.word(20);
    break;
  case macho::command_dynamic_symbols: first_external_ = command.word(16), external_count_ = command.word(20); break;
  case macho::command_dyld_info:
  case macho::command_dyld_info_only: exports_ = command.word(40), exports_size_ = command.word(44); break;
  case macho::command_exports: exports_ = command.word(8), exports_size_ = command.word(12); break;
  }
}

// The link editor's data are named by their offset in the file; they are mapped with the segment that holds it.
std::optional<Address> MachoImage::address_of_offset(u64 offset) const {
  for (const MachoSegment &s : all_segments_)
    if (offset >= s.offset && offset - s.offset < s.file_size)
      return s.address + bias_ + (offset - s.offset);
  return std::nullopt;
}

std::optional<Address> MachoImage::find_section(std::string_view name) const {
  for (const MachoSegment &s : all_segments_)
    for (Bytes at = s.sections; at.size() >= section_record; at = at.subspan(section_record))
      if (text_at(at, 0, 16) == name)
        return load<u64>(at.data() + 32, ByteOrder::little) + bias_;
  return std::nullopt;
}

std::optional<Address> MachoImage::find_symbol(std::string_view name, bool any) const {
  const std::string wanted = "_" + std::string(name);
  std::vector<std::byte> copy;
  const std::optional<Address> at = exports_size_ ? address_of_offset(exports_) : std::nullopt;
  const Bytes trie = at && exports_size_ <= largest_trie ? view_or_copy(*memory_, *at, exports_size_, copy) : Bytes();
  if (const std::optional<MachoExport> found = find_macho_export(trie, wanted))
    return found->is_absolute ? found->value : base_ + found->value;
  if (any)
    return find_in_table(wanted, 0, symbol_count_, true);
  if (!trie.empty()) // it has all exports
    return std::nullopt;
  return find_in_table(wanted, first_external_.value_or(0), external_count_.value_or(symbol_count_), false);
}

// struct nlist_64: u32 name, u8 type, u8 section, u16 description, u64 value.
std::optional<Address> MachoImage::find_in_table(std::string_view name, u64 first, u64 count, bool any) const {
  constexpr u8 debugging = 0xe0, kind = 0x0e, absolute = 0x02, in_section = 0x0e, external = 0x01;
  const std::optional<Address> table = address_of_offset(symbols_), texts = address_of_offset(strings_);
  if (!table || !texts || first > symbol_count_)
    return std::nullopt;
  std::vector<std::byte> copy;
  const u64 rows = std::min({count, symbol_count_ - first, most_symbols});
  for (Bytes row = view_or_copy(*memory_, *table + first * symbol_record, rows * symbol_record, copy);
       row.size() >= symbol_record; row = row.subspan(symbol_record)) {
    const u8 type = static_cast<u8>(row[4]);
    const u32 text = load<u32>(row.data(), ByteOrder::little);
    const bool fits = !(type & debugging) && (any || (type & external)) &&
                      ((type & kind) == in_section || (type & kind) == absolute) && text < strings_size_;
    if (!fits || memory_->try_text(*texts + text, name.size() + 1) != name)
      continue;
    const u64 value = load<u64>(row.data() + 8, ByteOrder::little);
    return (type & kind) == absolute ? value : value + bias_;
  }
  return std::nullopt;
}

} // namespace dnheap
