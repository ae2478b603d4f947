#include "image/elf_file.h"

#include "image/elf_image.h"

#include <algorithm>

namespace dnheap {

namespace {

enum : u64 {
  tag_pltgot = 3,
  tag_rela = 7,
  tag_relasz = 8,
  tag_rel = 17,
  tag_relsz = 18,
  tag_pltrel = 20,
  tag_pltrelsz = 2,
  tag_jmprel = 23,
  tag_relrsz = 35,
  tag_relr = 36,
};

// The relevant relocation types per machine: "add the bias", and the one that fills two words instead of one.
struct RelocationTypes {
  u16 machine;
  u32 relative, two_words;
};
constexpr RelocationTypes relocation_types[] = {
    {elf::machine_x64, 8, 36},       {elf::machine_arm64, 1027, 1031}, {elf::machine_x86, 8, 41},
    {elf::machine_arm, 23, 13},      {elf::machine_riscv, 3, 12},      {elf::machine_s390, 12, 0},
    {elf::machine_loongarch, 3, 14}, {elf::machine_ppc64, 22, 0},
};

const RelocationTypes *find_relocation_types(u16 machine) {
  for (const RelocationTypes &types : relocation_types)
    if (types.machine == machine)
      return &types;
  return nullptr;
}

void store_pointer(std::byte *p, u64 value, Format format) {
  for (u8 i = 0; i < format.pointer_size; ++i) {
    u8 shift = static_cast<u8>(8 * (format.byte_order == ByteOrder::little ? i : format.pointer_size - 1 - i));
    p[i] = static_cast<std::byte>(value >> shift);
  }
}

// Applies relocations to copies of the writable segments.
class Relocation {
public:
  Relocation(const Memory &raw, const ElfImage &image, const RelocationTypes &types)
      : raw_(raw), image_(image), types_(types), word_(image.format().pointer_size), tags_(image.dynamic()) {}

  // Add copies in address order.
  void add(Address address, std::span<std::byte> copy) { copies_.push_back({address, copy}); }

  // Returns false if a table cannot be read: then no word of the copies can be trusted.
  bool apply() {
    // The loader stores three words of its own at the start of the procedure linkage table's data.
    if (tags_.count(tag_pltgot))
      if (std::optional<Address> own = image_.resolve(tags_[tag_pltgot]))
        unknown_.insert(unknown_.end(), {*own, *own + word_, *own + 2 * word_});
    bool plt_has_addends = tags_.count(tag_pltrel) && tags_[tag_pltrel] == tag_rela;
    return apply_table(tag_rela, tag_relasz, true) && apply_table(tag_rel, tag_relsz, false) &&
           apply_table(tag_jmprel, tag_pltrelsz, plt_has_addends) && apply_compact();
  }

  // Appends the copies without the words that relocations left unknown.
  void append_to(std::vector<Range> &out) {
    std::sort(unknown_.begin(), unknown_.end());
    for (const Copy &copy : copies_) {
      Address at = copy.address, end = copy.address + copy.bytes.size();
      auto keep_up_to = [&](Address stop) {
        if (stop > at)
          out.push_back({at, Bytes(copy.bytes).subspan(at - copy.address, stop - at)});
      };
      for (auto it = std::lower_bound(unknown_.begin(), unknown_.end(), at); it != unknown_.end() && *it < end; ++it) {
        keep_up_to(*it);
        at = std::min(*it + word_, end);
      }
      keep_up_to(end);
    }
  }

private:
  struct Copy {
    Address address;
    std::span<std::byte> bytes;
  };

  // Finds the table that a tag points at. Returns false if there is one that cannot be read.
  bool find_table(u64 tag, u64 size_tag, Bytes &table) {
    if (!tags_.count(tag) || !tags_.count(size_tag) || tags_[size_tag] == 0)
      return true;
    if (std::optional<Address> at = image_.resolve(tags_[tag]))
      table = raw_.view(*at, tags_[size_tag]);
    return !table.empty();
  }

  std::byte *find_word(Address address) {
    auto it = std::upper_bound(copies_.begin(), copies_.end(), address,
                               [](Address a, const Copy &copy) { return a < copy.address; });
    if (it == copies_.begin())
      return nullptr;
    --it;
    u64 at = address - it->address, size = it->bytes.size();
    return at < size && size - at >= word_ ? it->bytes.data() + at : nullptr;
  }

  // Converts an address in the file to one in memory.
  Address place(u64 address) const { return narrow(address + image_.bias(), image_.format()); }

  void relocate(Address at, std::optional<u64> addend) {
    if (std::byte *p = find_word(at))
      store_pointer(p, addend.value_or(load_pointer(p, image_.format())) + image_.bias(), image_.format());
  }

  // RELA, REL: entries of place, type, and for RELA the addend.
  bool apply_table(u64 tag, u64 size_tag, bool has_addends) {
    Bytes table;
    if (!find_table(tag, size_tag, table))
      return false;
    Format format = image_.format();
    u64 entry = word_ * (has_addends ? 3 : 2);
    for (u64 at = 0; at + entry <= table.size(); at += entry) {
      const std::byte *p = table.data() + at;
      Address where = place(load_pointer(p, format));
      u64 info = load_pointer(p + word_, format);
      u32 type = static_cast<u32>(word_ == 8 ? info & 0xffffffff : info & 0xff);
      if (type == types_.relative) {
        relocate(where, has_addends ? std::optional(load_pointer(p + 2 * word_, format)) : std::nullopt);
      } else if (type != 0) {
        unknown_.push_back(where);
        if (type == types_.two_words)
          unknown_.push_back(where + word_);
      }
    }
    return true;
  }

  // RELR: an even word is an address to relocate; an odd one is a bitmap of the following words to relocate, too.
  bool apply_compact() {
    Bytes table;
    if (!find_table(tag_relr, tag_relrsz, table))
      return false;
    Address next = 0;
    for (u64 at = 0; at + word_ <= table.size(); at += word_) {
      u64 entry = load_pointer(table.data() + at, image_.format());
      if ((entry & 1) == 0) {
        next = place(entry);
        relocate(next, std::nullopt);
        next += word_;
        continue;
      }
      for (u64 bit = 1; bit < 8 * word_; ++bit)
        if (entry >> bit & 1)
          relocate(next + (bit - 1) * word_, std::nullopt);
      next += (8 * word_ - 1) * word_;
    }
    return true;
  }

  const Memory &raw_;
  const ElfImage &image_;
  const RelocationTypes &types_;
  const u64 word_;
  std::map<u64, u64> tags_;
  std::vector<Copy> copies_;
  std::vector<Address> unknown_; // words whose values depend on other modules
};

} // namespace

std::optional<ElfFile> ElfFile::parse(Bytes file) {
  std::optional<ElfHeader> header = ElfHeader::parse(file);
  if (!header || (header->type != elf::type_executable && header->type != elf::type_shared))
    return std::nullopt;
  ElfFile out(file, *header);
  u64 size = u64{header->program_header_count} * header->program_header_size;
  out.segments_ =
      parse_program_headers(slice(file, header->program_headers, size), header->program_header_count, *header);
  if (out.segments_.empty())
    return std::nullopt;
  return out;
}

Bytes ElfFile::content(const ElfSegment &segment) const {
  if (segment.offset >= file_.size())
    return {};
  Bytes rest = file_.subspan(segment.offset);
  return rest.first(std::min<u64>(rest.size(), segment.file_size));
}

std::vector<u8> ElfFile::build_id() const {
  for (const ElfSegment &segment : segments_)
    if (segment.type == elf::segment_note)
      if (std::vector<u8> id = find_build_id(content(segment), segment.alignment, header_.format.byte_order);
          !id.empty())
        return id;
  return {};
}

std::vector<Range> ElfFile::layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const {
  std::optional<u64> bias = load_bias(segments_, base, header_.format);
  if (!bias)
    return {};
  std::vector<Range> all, out;
  std::vector<const ElfSegment *> writable;
  for (const ElfSegment &segment : segments_) {
    if (segment.type != elf::segment_load)
      continue;
    all.push_back({narrow(segment.address + *bias, header_.format), content(segment)});
    if (segment.flags & elf::flag_write)
      writable.push_back(&segment);
    else
      out.push_back(all.back());
  }

  // The unmodified file, to read the dynamic section and the relocations through their addresses.
  Memory raw(header_.format, all);
  std::optional<ElfImage> image = ElfImage::at(raw, base);
  const RelocationTypes *types = find_relocation_types(header_.machine);
  if (!image || !types || writable.empty())
    return out;

  std::sort(writable.begin(), writable.end(),
            [](const ElfSegment *a, const ElfSegment *b) { return a->address < b->address; });
  Relocation relocation(raw, *image, *types);
  std::vector<std::shared_ptr<const void>> copies;
  u64 copied = 0;
  for (const ElfSegment *segment : writable) {
    Bytes bytes = content(*segment);
    copied += bytes.size();
    if (copied > file_.size()) // segments that share bytes: no real file has them, and they could fill any memory
      return out;
    auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    relocation.add(narrow(segment->address + *bias, header_.format), *copy);
    copies.push_back(std::move(copy));
  }
  if (!relocation.apply())
    return out;
  relocation.append_to(out);
  storage.insert(storage.end(), copies.begin(), copies.end());
  return out;
}

} // namespace dnheap
