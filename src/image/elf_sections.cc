#include "image/elf_sections.h"

#include <algorithm>
#include <zlib.h>
#include <zstd.h>

namespace dnheap {

namespace {

constexpr u32 type_symbols = 2, type_note = 7, type_no_bits = 8;
constexpr u64 most_sections = 65536, longest_name = 65536;
constexpr u64 flag_compressed = 0x800;
enum : u32 { compressed_zlib = 1, compressed_zstd = 2 };
constexpr u64 largest_content = 1 << 30;

struct Section {
  u32 name = 0, type = 0, link = 0;
  u64 flags = 0, alignment = 0, entry_size = 0;
  Bytes content;
};

class Sections {
public:
  explicit Sections(Bytes file) : file_(file) {
    const std::optional<ElfHeader> header = ElfHeader::parse(file);
    if (!header)
      return;
    format_ = header->format;
    const bool wide = this->wide();
    const ByteOrder order = this->order();
    u64 size = load_at<u16>(file, wide ? 0x3a : 0x2e, order).value_or(0);
    u64 count = load_at<u16>(file, wide ? 0x3c : 0x30, order).value_or(0);
    names_ = load_at<u16>(file, wide ? 0x3e : 0x32, order).value_or(0);
    if (size < (wide ? 64 : 40) || header->section_headers == 0)
      return;
    for (u64 i = 0; i < count && i < most_sections; ++i) {
      Bytes row = slice(file, header->section_headers + i * size, wide ? 64 : 40);
      if (row.size() < (wide ? 64 : 40))
        break;
      sections_.push_back(parse(row, wide, order));
    }
  }

  const std::vector<Section> &all() const { return sections_; }
  // Valid only if there are sections.
  ByteOrder order() const { return format_.byte_order; }
  bool wide() const { return format_.pointer_size == 8; }
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
    out.flags = address(8);
    u64 offset = address(wide ? 24 : 16), size = address(wide ? 32 : 20);
    out.link = word(wide ? 40 : 24);
    out.alignment = address(wide ? 48 : 32);
    out.entry_size = address(wide ? 56 : 36);
    if (out.type != type_no_bits && offset <= file_.size() && size <= file_.size() - offset)
      out.content = slice(file_, offset, size);
    return out;
  }

  Bytes file_;
  Format format_;
  std::vector<Section> sections_;
  u64 names_ = 0;
};

// Collects a decoder's output. The buffer grows as the decoder fills it, so the size claimed by the file is never
// allocated at once. `run(output)` returns how much it wrote, or nullopt if it fails; less than all of `output` is the
// end.
template <class Run> std::vector<std::byte> collect(u64 size, Run run) {
  std::vector<std::byte> out;
  for (u64 filled = 0;;) {
    out.resize(std::min(size, std::max<u64>(2 * filled, 1 << 20)));
    const u64 room = out.size() - filled;
    std::optional<u64> written = run(std::span(out).subspan(filled));
    if (!written || (room == 0 && filled < size))
      return {};
    filled += *written;
    if (*written < room || filled == size) {
      out.resize(filled);
      return filled == size ? std::move(out) : std::vector<std::byte>();
    }
  }
}

std::vector<std::byte> inflate_all(Bytes input, u64 size) {
  z_stream stream{};
  if (input.size() > ~uInt{0} || inflateInit(&stream) != Z_OK)
    return {};
  std::unique_ptr<z_stream, void (*)(z_stream *)> end(&stream, [](z_stream *s) { inflateEnd(s); });
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(input.data()));
  stream.avail_in = static_cast<uInt>(input.size());
  return collect(size, [&](std::span<std::byte> output) -> std::optional<u64> {
    stream.next_out = reinterpret_cast<Bytef *>(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return std::nullopt;
    return output.size() - stream.avail_out;
  });
}

std::vector<std::byte> unpack_zstd(Bytes input, u64 size) {
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx *)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (!context)
    return {};
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  return collect(size, [&](std::span<std::byte> output) -> std::optional<u64> {
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    while (out.pos < out.size) {
      const u64 before = out.pos + in.pos;
      if (ZSTD_isError(ZSTD_decompressStream(context.get(), &out, &in)))
        return std::nullopt;
      if (out.pos + in.pos == before)
        break;
    }
    return out.pos;
  });
}

// The data follow a header: {u32 type, [u32 reserved], size, alignment}; the last two are as wide as addresses.
std::vector<std::byte> decompress(Bytes content, bool wide, ByteOrder order) {
  const u64 header = wide ? 24 : 12;
  if (content.size() < header)
    return {};
  u64 size = wide ? load<u64>(content.data() + 8, order) : load<u32>(content.data() + 4, order);
  if (size == 0 || size > largest_content)
    return {};
  switch (load<u32>(content.data(), order)) {
  case compressed_zlib: return inflate_all(content.subspan(header), size);
  case compressed_zstd: return unpack_zstd(content.subspan(header), size);
  default: return {};
  }
}

const Section *find_section(const Sections &sections, std::string_view name) {
  auto found = std::find_if(sections.all().begin(), sections.all().end(),
                            [&](const Section &s) { return sections.name(s) == name; });
  return found == sections.all().end() ? nullptr : &*found;
}

} // namespace

Bytes find_elf_section(Bytes file, std::string_view name) {
  Sections sections(file);
  const Section *found = find_section(sections, name);
  return found ? found->content : Bytes();
}

ElfSectionContent read_elf_section(Bytes file, std::string_view name) {
  Sections sections(file);
  const Section *found = find_section(sections, name);
  if (!found || !(found->flags & flag_compressed))
    return {found ? found->content : Bytes(), nullptr};
  auto content =
      std::make_shared<std::vector<std::byte>>(decompress(found->content, sections.wide(), sections.order()));
  return {*content, content};
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

std::optional<ElfFunction> find_elf_function(Bytes file, u64 address) {
  constexpr u32 type_exported_symbols = 11;
  constexpr u8 kind_mask = 15, function = 2, indirect_function = 10;
  const Sections sections(file);
  const bool wide = sections.wide();
  const ByteOrder order = sections.order();
  std::optional<ElfFunction> best;
  for (const Section &s : sections.all()) {
    const u64 size = s.entry_size;
    if ((s.type != type_symbols && s.type != type_exported_symbols) || s.link >= sections.all().size() ||
        size < (wide ? 24 : 16))
      continue;
    for (u64 at = 0; at + size <= s.content.size(); at += size) {
      const std::byte *row = s.content.data() + at;
      const u8 kind = load<u8>(row + (wide ? 4 : 12), order) & kind_mask;
      const u64 start = wide ? load<u64>(row + 8, order) : load<u32>(row + 4, order),
                length = wide ? load<u64>(row + 16, order) : load<u32>(row + 8, order);
      if ((kind != function && kind != indirect_function) || load<u16>(row + (wide ? 6 : 14), order) == 0 ||
          start > address || (length && address - start >= length) ||
          (!length && start < address && s.type == type_exported_symbols) || (best && start <= best->start))
        continue;
      const std::string_view name = text_at(sections.all()[s.link].content, load<u32>(row, order), longest_name);
      if (!name.empty())
        best = ElfFunction{name, start};
    }
  }
  return best;
}

} // namespace dnheap
