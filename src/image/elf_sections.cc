#include "image/elf_sections.h"

namespace dnheap {

namespace {

constexpr u32 type_symbols = 2, type_note = 7, type_no_bits = 8;
constexpr u64 most_sections = 65536, longest_name = 65536;

struct Section {
  u32 name = 0, type = 0, link = 0;
  u64 alignment = 0, entry_size = 0;
  Bytes content;
};

class Sections {
public:
  explicit Sections(Bytes file) : file_(file), header_(ElfHeader::parse(file)) {
    if (!header_)
      return;
    const bool wide = header_->format.pointer_size == 8;
    const ByteOrder order = header_->format.byte_order;
    u64 size = load_at<u16>(file, wide ? 0x3a : 0x2e, order).value_or(0);
    u64 count = load_at<u16>(file, wide ? 0x3c : 0x30, order).value_or(0);
    names_ = load_at<u16>(file, wide ? 0x3e : 0x32, order).value_or(0);
    if (size < (wide ? 64 : 40) || header_->section_headers == 0)
      return;
    for (u64 i = 0; i < count && i < most_sections; ++i) {
      Bytes row = slice(file, header_->section_headers + i * size, wide ? 64 : 40);
      if (row.size() < (wide ? 64 : 40))
        break;
      sections_.push_back(parse(row, wide, order));
    }
  }

  const std::vector<Section> &all() const { return sections_; }
  ByteOrder order() const { return header_->format.byte_order; }
  bool wide() const { return header_->format.pointer_size == 8; }
  std::string_view name(const Section &section) const {
    return names_ < sections_.size() ? text_at(sections_[names_].content, section.name, longest_name)
                                     : std::string_view();
  }

private:
  Section parse(Bytes row, bool wide, ByteOrder order) const {
    auto word = [&](u64 at) { return load<u32>(row.data() + at, order); };
    auto address = [&](u64 at) { return wide ? load<u64>(row.data() + at, order) : u64{word(at)}; };
    Section out;
    out.name = word(0);
    out.type = word(4);
    u64 offset = address(wide ? 24 : 16), size = address(wide ? 32 : 20);
    out.link = word(wide ? 40 : 24);
    out.alignment = address(wide ? 48 : 32);
    out.entry_size = address(wide ? 56 : 36);
    if (out.type != type_no_bits && offset <= file_.size() && size <= file_.size() - offset)
      out.content = slice(file_, offset, size);
    return out;
  }

  Bytes file_;
  std::optional<ElfHeader> header_;
  std::vector<Section> sections_;
  u64 names_ = 0;
};

} // namespace

Bytes find_elf_section(Bytes file, std::string_view name) {
  Sections sections(file);
  for (const Section &s : sections.all())
    if (sections.name(s) == name)
      return s.content;
  return {};
}

std::vector<u8> elf_section_build_id(Bytes file) {
  Sections sections(file);
  for (const Section &s : sections.all())
    if (s.type == type_note)
      if (std::vector<u8> id = find_build_id(s.content, s.alignment, sections.order()); !id.empty())
        return id;
  return {};
}

void for_each_elf_symbol(Bytes file, const std::function<void(u64 address, std::string_view name)> &visit) {
  Sections sections(file);
  for (const Section &s : sections.all()) {
    const u64 size = s.entry_size;
    if (s.type != type_symbols || s.link >= sections.all().size() || size < (sections.wide() ? 24 : 16))
      continue;
    Bytes strings = sections.all()[s.link].content;
    for (u64 at = 0; at + size <= s.content.size(); at += size) {
      const std::byte *row = s.content.data() + at;
      u64 address = sections.wide() ? load<u64>(row + 8, sections.order()) : load<u32>(row + 4, sections.order());
      u16 section = load<u16>(row + (sections.wide() ? 6 : 14), sections.order());
      if (section == 0)
        continue;
      if (std::string_view name = text_at(strings, load<u32>(row, sections.order()), longest_name); !name.empty())
        visit(address, name);
    }
  }
}

} // namespace dnheap
