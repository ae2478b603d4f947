#include "image/elf_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_program_headers = 4096;
constexpr u64 most_dynamic_entries = 4096;
constexpr u64 largest_copy = 1 << 20; // for tables and notes, whose sizes come from the target
// A limit for steps along one hash chain: no real library reaches it, and a hostile one soon does.
constexpr u64 longest_chain = 1 << 20;

enum : u64 { tag_hash = 4, tag_strtab = 5, tag_symtab = 6, tag_strsz = 10, tag_gnu_hash = 0x6ffffef5 };

u32 gnu_hash(std::string_view name) {
  u32 h = 5381;
  for (char c : name)
    h = h * 33 + static_cast<unsigned char>(c);
  return h;
}

u32 sysv_hash(std::string_view name) {
  u32 h = 0;
  for (char c : name) {
    h = (h << 4) + static_cast<unsigned char>(c);
    h = (h ^ (h & 0xf0000000) >> 24) & 0x0fffffff;
  }
  return h;
}

} // namespace

struct ElfImage::Symbols {
  Address symbols = 0, strings = 0;
  u64 strings_size = 0;
};

std::optional<ElfImage> ElfImage::at(const Memory &memory, Address base) {
  ElfImage image(memory, base);
  std::optional<ElfHeader> header = ElfHeader::parse(image.copy(base, ElfHeader::largest));
  if (!header) // a 32-bit header may end where the memory does
    header = ElfHeader::parse(image.copy(base, 52));
  if (!header || (header->type != elf::type_executable && header->type != elf::type_shared) ||
      header->program_header_count > most_program_headers)
    return std::nullopt;
  image.header_ = *header;
  u64 table_size = u64{header->program_header_count} * header->program_header_size;
  image.headers_ = parse_program_headers(image.copy(narrow(base + header->program_headers, header->format), table_size),
                                         header->program_header_count, *header);

  std::optional<u64> bias = load_bias(image.headers_, base, header->format);
  if (!bias)
    return std::nullopt;
  image.bias_ = *bias;
  for (const ElfSegment &segment : image.headers_)
    if (segment.type == elf::segment_load) {
      Address address = narrow(segment.address + image.bias_, header->format);
      image.segments_.push_back({address, segment.memory_size, (segment.flags & elf::flag_write) != 0,
                                 (segment.flags & elf::flag_execute) != 0});
      image.end_ = std::max(image.end_, add_clamped(address, segment.memory_size));
    }
  return image;
}

std::optional<ElfImage::Segment> ElfImage::find_header(u32 type) const {
  for (const ElfSegment &segment : headers_)
    if (segment.type == type)
      return Segment{narrow(segment.address + bias_, header_.format), segment.memory_size,
                     (segment.flags & elf::flag_write) != 0, (segment.flags & elf::flag_execute) != 0};
  return std::nullopt;
}

std::vector<std::byte> ElfImage::copy(Address address, u64 size) const {
  std::vector<std::byte> out;
  if (size > largest_copy || !memory_->find(address))
    return out;
  out.resize(size);
  if (!memory_->read(address, out))
    out.clear();
  return out;
}

template <std::unsigned_integral T> std::optional<T> ElfImage::load_at(Address address) const {
  std::optional<T> value = memory_->try_load<T>(narrow(address, header_.format));
  if constexpr (sizeof(T) > 1)
    if (value && header_.format.byte_order != memory_->format().byte_order)
      return swap_bytes(*value);
  return value;
}

std::optional<u64> ElfImage::pointer_at(Address address) const {
  if (header_.format.pointer_size == 8)
    return load_at<u64>(address);
  return load_at<u32>(address);
}

std::vector<u8> ElfImage::build_id() const {
  for (const ElfSegment &segment : headers_) {
    if (segment.type != elf::segment_note)
      continue;
    std::vector<std::byte> notes = copy(narrow(segment.address + bias_, header_.format), segment.file_size);
    if (std::vector<u8> id = find_build_id(notes, segment.alignment, header_.format.byte_order); !id.empty())
      return id;
  }
  return {};
}

std::map<u64, u64> ElfImage::dynamic() const {
  std::map<u64, u64> out;
  u64 word = header_.format.pointer_size;
  for (const ElfSegment &segment : headers_) {
    if (segment.type != elf::segment_dynamic)
      continue;
    Address at = narrow(segment.address + bias_, header_.format);
    u64 count = std::min(segment.memory_size / (2 * word), most_dynamic_entries);
    for (u64 i = 0; i < count; ++i) {
      std::optional<u64> tag = pointer_at(at + 2 * i * word), value = pointer_at(at + (2 * i + 1) * word);
      if (!tag || !value || *tag == 0)
        break;
      out[*tag] = *value;
    }
  }
  return out;
}

std::optional<Address> ElfImage::resolve(u64 pointer) const {
  for (Address address : {pointer, narrow(pointer + bias_, header_.format)})
    if (address >= base_ && address < end_)
      return address;
  return std::nullopt;
}

std::optional<Address> ElfImage::find_symbol(std::string_view name) const {
  std::map<u64, u64> tags = dynamic();
  auto place = [&](u64 tag) -> std::optional<Address> {
    auto it = tags.find(tag);
    return it == tags.end() ? std::nullopt : resolve(it->second);
  };
  std::optional<Address> symbols = place(tag_symtab), strings = place(tag_strtab);
  if (!symbols || !strings || !tags.count(tag_strsz))
    return std::nullopt;
  Symbols tables{*symbols, *strings, tags[tag_strsz]};
  if (std::optional<Address> table = place(tag_gnu_hash))
    if (std::optional<Address> found = find_by_gnu_hash(tables, *table, name))
      return found;
  if (std::optional<Address> table = place(tag_hash))
    return find_by_hash(tables, *table, name);
  return std::nullopt;
}

// Layout: u32 bucket_count, first_symbol, bloom_words, bloom_shift; bloom words; u32 buckets[]; u32 chains[], one per
// symbol from first_symbol on: its hash with bit 0 set on the last of a bucket.
std::optional<Address> ElfImage::find_by_gnu_hash(const Symbols &symbols, Address table, std::string_view name) const {
  std::optional<u32> bucket_count = load_at<u32>(table), first = load_at<u32>(table + 4),
                     bloom_words = load_at<u32>(table + 8);
  if (!bucket_count || !first || !bloom_words || *bucket_count == 0)
    return std::nullopt;
  u32 hash = gnu_hash(name);
  Address buckets = table + 16 + u64{*bloom_words} * header_.format.pointer_size;
  Address chains = buckets + u64{*bucket_count} * 4;
  std::optional<u32> index = load_at<u32>(buckets + u64{hash % *bucket_count} * 4);
  if (!index || *index < *first)
    return std::nullopt;
  for (u64 i = *index; i - *index < longest_chain; ++i) {
    std::optional<u32> link = load_at<u32>(chains + (i - *first) * 4);
    if (!link)
      break;
    if ((*link | 1) == (hash | 1))
      if (std::optional<Address> found = check_symbol(symbols, i, name))
        return found;
    if (*link & 1)
      break;
  }
  return std::nullopt;
}

// Layout: u32 bucket_count, chain_count; u32 buckets[], chains[]: index of the next symbol of the bucket, 0 at the end.
std::optional<Address> ElfImage::find_by_hash(const Symbols &symbols, Address table, std::string_view name) const {
  std::optional<u32> bucket_count = load_at<u32>(table), chain_count = load_at<u32>(table + 4);
  if (!bucket_count || !chain_count || *bucket_count == 0)
    return std::nullopt;
  Address buckets = table + 8, chains = buckets + u64{*bucket_count} * 4;
  std::optional<u32> index = load_at<u32>(buckets + u64{sysv_hash(name) % *bucket_count} * 4);
  for (u64 steps = 0; index && *index && *index < *chain_count && steps < longest_chain; ++steps) {
    if (std::optional<Address> found = check_symbol(symbols, *index, name))
      return found;
    index = load_at<u32>(chains + u64{*index} * 4);
  }
  return std::nullopt;
}

// Returns the address of symbol `index` if it has this name and is defined here.
std::optional<Address> ElfImage::check_symbol(const Symbols &symbols, u64 index, std::string_view name) const {
  constexpr u8 type_tls = 6;
  constexpr u16 undefined = 0, absolute = 0xfff1;
  bool wide = header_.format.pointer_size == 8;
  Address at = symbols.symbols + index * (wide ? 24 : 16);
  std::optional<u32> name_at = load_at<u32>(at);
  std::optional<u8> info = load_at<u8>(at + (wide ? 4 : 12));
  std::optional<u16> section = load_at<u16>(at + (wide ? 6 : 14));
  std::optional<u64> value = pointer_at(at + (wide ? 8 : 4));
  if (!name_at || !info || !section || !value || *name_at >= symbols.strings_size)
    return std::nullopt;
  if (*section == undefined || (*info & 15) == type_tls)
    return std::nullopt;
  if (memory_->try_text(narrow(symbols.strings + *name_at, header_.format), name.size() + 1) != name)
    return std::nullopt;
  return *section == absolute ? *value : narrow(*value + bias_, header_.format);
}

} // namespace dnheap
