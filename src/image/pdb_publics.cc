#include "image/pdb_publics.h"

#include <algorithm>
#include <cstring>

namespace dnheap {

namespace {

constexpr std::string_view msf_magic("Microsoft C/C++ MSF 7.00\r\n\x1a"
                                     "DS\0\0\0",
                                     32);
constexpr u64 msf_header_size = 56;
constexpr u32 smallest_block = 512, largest_block = 1 << 16;
constexpr u64 largest_directory = 64 << 20;
constexpr u32 no_size = 0xffffffff; // of a stream that was deleted
constexpr u16 no_stream = 0xffff;

enum : u32 { info_stream = 1, dbi_stream = 3 };

constexpr u64 info_size = 28, info_guid_at = 12;
constexpr u64 dbi_header_size = 64, dbi_age_at = 8, dbi_records_at = 20, dbi_sizes_at = 24, dbi_headers_size_at = 48,
              dbi_ec_size_at = 52;
constexpr u64 sizes_in_front = 5; // of substreams, in a row, that lie in front of the list of further streams
enum : u64 { omap_from_source = 4, section_headers = 5 };

constexpr u64 section_header_size = 40;
constexpr u32 section_executes = 0x20000000;
constexpr u16 public_symbol = 0x110e; // S_PUB32: {size, kind, flags, offset, section, name}
constexpr u64 public_header_size = 14;

template <std::unsigned_integral T> T pdb_field(Bytes from, u64 at) {
  return load_at<T>(from, at, ByteOrder::little).value_or(T{0});
}

// The streams of the file.
class MsfStreams {
public:
  explicit MsfStreams(Bytes file) : file_(file) {}

  static bool is_one(Bytes file) {
    return file.size() >= msf_header_size && std::memcmp(file.data(), msf_magic.data(), msf_magic.size()) == 0;
  }

  bool open() {
    block_size_ = pdb_field<u32>(file_, 32);
    const u64 size = pdb_field<u32>(file_, 44), map = u64{pdb_field<u32>(file_, 52)} * block_size_;
    if (block_size_ < smallest_block || block_size_ > largest_block || (block_size_ & (block_size_ - 1)) != 0 ||
        size > std::min<u64>(largest_directory, file_.size()) || map >= file_.size())
      return false;
    std::optional<std::vector<std::byte>> directory = blocks(file_.subspan(map), size);
    return directory && read_directory(std::move(*directory));
  }

  // Empty: there is no such stream, or it leads out of the file.
  std::vector<std::byte> stream(u64 index) const {
    if (index >= streams_.size())
      return {};
    const Stream &one = streams_[index];
    return blocks(Bytes(directory_).subspan(one.blocks_at), one.size).value_or(std::vector<std::byte>());
  }

private:
  struct Stream {
    u32 size = 0;
    u64 blocks_at = 0; // in the directory
  };

  u64 blocks_of(u64 size) const { return (size + block_size_ - 1) / block_size_; }

  // Puts blocks together, whose numbers lie at the beginning of `list`.
  std::optional<std::vector<std::byte>> blocks(Bytes list, u64 size) const {
    if (size > file_.size() || list.size() / 4 < blocks_of(size))
      return std::nullopt;
    std::vector<std::byte> out(size);
    for (u64 done = 0, i = 0; done < size; done += block_size_, ++i) {
      const u64 at = u64{pdb_field<u32>(list, 4 * i)} * block_size_, wanted = std::min<u64>(block_size_, size - done);
      if (at > file_.size() || file_.size() - at < wanted)
        return std::nullopt;
      std::memcpy(out.data() + done, file_.data() + at, wanted);
    }
    return out;
  }

  bool read_directory(std::vector<std::byte> bytes) {
    directory_ = std::move(bytes);
    const u64 count = pdb_field<u32>(directory_, 0);
    if (count >= directory_.size() / 4)
      return false;
    u64 at = 4 + 4 * count;
    for (u64 i = 0; i < count && at <= directory_.size(); ++i) {
      const u32 size = pdb_field<u32>(directory_, 4 + 4 * i);
      streams_.push_back({size == no_size ? 0 : size, at});
      at += 4 * blocks_of(streams_.back().size);
    }
    return at <= directory_.size();
  }

  Bytes file_;
  u32 block_size_ = 0;
  std::vector<std::byte> directory_;
  std::vector<Stream> streams_;
};

// Returns the list of further streams (section headers and the like); nullopt: the sizes in front of it are wrong.
std::optional<Bytes> further_streams(Bytes dbi) {
  u64 at = dbi_header_size;
  for (u64 i = 0; i < sizes_in_front; ++i)
    at += pdb_field<u32>(dbi, dbi_sizes_at + 4 * i);
  at += pdb_field<u32>(dbi, dbi_ec_size_at);
  const u64 size = pdb_field<u32>(dbi, dbi_headers_size_at);
  if (at > dbi.size() || dbi.size() - at < size)
    return std::nullopt;
  return dbi.subspan(at, size);
}

u16 further_stream(Bytes list, u64 index) {
  return 2 * index + 2 <= list.size() ? pdb_field<u16>(list, 2 * index) : no_stream;
}

} // namespace

std::optional<PdbPublics> PdbPublics::read(Bytes file, std::string &why_not) {
  const auto refuse = [&](const char *why) {
    why_not = why;
    return std::nullopt;
  };
  if (!MsfStreams::is_one(file))
    return refuse("it is no .pdb of native code");
  MsfStreams streams(file);
  if (!streams.open())
    return refuse("its list of streams leads out of the file");
  const std::vector<std::byte> info = streams.stream(info_stream), dbi = streams.stream(dbi_stream);
  if (info.size() < info_size || dbi.size() < dbi_header_size || pdb_field<u32>(dbi, 0) != 0xffffffff)
    return refuse("its header is damaged or of a form that is not known");
  const std::optional<Bytes> further = further_streams(dbi);
  if (!further)
    return refuse("its list of symbols leads out of the file");
  if (further_stream(*further, omap_from_source) != no_stream)
    return refuse("its functions were rearranged after linking, which this program does not follow");
  PdbPublics out;
  std::memcpy(out.guid_.data(), info.data() + info_guid_at, out.guid_.size());
  out.age_ = pdb_field<u32>(dbi, dbi_age_at);
  out.records_ = streams.stream(pdb_field<u16>(dbi, dbi_records_at));
  if (!out.read_sections(streams.stream(further_stream(*further, section_headers))))
    return refuse("the headers of the image's sections are not in it");
  if (!out.read_symbols())
    return refuse("its symbols are damaged");
  return out;
}

bool PdbPublics::read_sections(Bytes headers) {
  for (u64 at = 0; at + section_header_size <= headers.size(); at += section_header_size)
    sections_.push_back({pdb_field<u32>(headers, at + 12), pdb_field<u32>(headers, at + 8),
                         (pdb_field<u32>(headers, at + 36) & section_executes) != 0});
  return !sections_.empty();
}

bool PdbPublics::read_symbols() {
  const Bytes from(records_);
  for (u64 at = 0; at + 4 <= from.size();) {
    const u64 size = u64{pdb_field<u16>(from, at)} + 2;
    if (size < 4 || from.size() - at < size)
      return false;
    const u64 section = pdb_field<u16>(from, at + 12), offset = pdb_field<u32>(from, at + 8);
    if (pdb_field<u16>(from, at + 2) == public_symbol && size > public_header_size && section > 0 &&
        section <= sections_.size() && sections_[section - 1].executable && offset < sections_[section - 1].size) {
      const char *name = reinterpret_cast<const char *>(from.data() + at + public_header_size);
      const std::string_view text(name, strnlen(name, size - public_header_size));
      symbols_.push_back({static_cast<u32>(sections_[section - 1].start + offset),
                          static_cast<u32>(at + public_header_size), static_cast<u32>(text.size())});
    }
    at += size;
  }
  std::ranges::stable_sort(symbols_, {}, &Symbol::rva);
  return true;
}

const PdbPublics::Section *PdbPublics::code_at(u32 rva) const {
  for (const Section &section : sections_)
    if (section.executable && rva >= section.start && rva - section.start < section.size)
      return &section;
  return nullptr;
}

std::optional<PdbPublics::Function> PdbPublics::find(u32 rva) const {
  const Section *section = code_at(rva);
  const auto behind = std::ranges::upper_bound(symbols_, rva, {}, &Symbol::rva);
  if (!section || behind == symbols_.begin() || std::prev(behind)->rva < section->start)
    return std::nullopt;
  // Functions with the same code may be one, with several names: the first one is taken.
  const Symbol &found = *std::ranges::lower_bound(symbols_, std::prev(behind)->rva, {}, &Symbol::rva);
  return Function{{reinterpret_cast<const char *>(records_.data()) + found.name_at, found.name_size}, found.rva};
}

} // namespace dnheap
