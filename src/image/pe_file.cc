#include "image/pe_file.h"

#include "image/ready_to_run_header.h"

#include <algorithm>

namespace dnheap {

namespace {

// Applies base relocations to copies of sections.
class BaseRelocation {
public:
  explicit BaseRelocation(u64 delta) : delta_(delta) {}

  struct Copy {
    u32 rva;
    std::vector<std::byte> bytes;
  };
  // Sorted by ascending rva.
  std::vector<Copy> copies;

  // Blocks of {page, size of the block}, followed by 16-bit entries: 4 bits for the type, 12 for the offset in the
  // page.
  void apply(Bytes blocks) {
    constexpr u64 header = 8;
    while (blocks.size() >= header) {
      u32 page = load<u32>(blocks.data(), ByteOrder::little), size = load<u32>(blocks.data() + 4, ByteOrder::little);
      if (size < header || size > blocks.size())
        return;
      for (u64 at = header; at + 2 <= size; at += 2) {
        u16 entry = load<u16>(blocks.data() + at, ByteOrder::little);
        apply_one(entry >> 12, u64{page} + (entry & 0xfff));
      }
      blocks = blocks.subspan(size);
    }
  }

private:
  enum : unsigned { highlow = 3, dir64 = 10 };

  void apply_one(unsigned type, u64 rva) {
    u64 size = type == dir64 ? 8 : type == highlow ? 4 : 0;
    auto after =
        std::upper_bound(copies.begin(), copies.end(), rva, [](u64 r, const Copy &copy) { return r < copy.rva; });
    if (size == 0 || after == copies.begin())
      return;
    Copy &copy = *std::prev(after);
    u64 at = rva - copy.rva;
    if (at >= copy.bytes.size() || copy.bytes.size() - at < size)
      return;
    u64 value = 0;
    std::memcpy(&value, copy.bytes.data() + at, size); // PE files are little-endian, as are all supported hosts
    if (!is_native(ByteOrder::little))
      value = swap_bytes(value) >> 8 * (8 - size);
    value += delta_;
    for (u64 i = 0; i < size; ++i)
      copy.bytes[at + i] = static_cast<std::byte>(value >> 8 * i);
  }

  const u64 delta_;
};

// Adds `range` without [start, end).
void add_without(std::vector<Range> &out, Range range, Address start, Address end) {
  if (start >= range.end() || end <= range.address) {
    out.push_back(range);
    return;
  }
  if (start > range.address)
    out.push_back({range.address, range.bytes.first(start - range.address)});
  if (end < range.end())
    out.push_back({end, range.bytes.subspan(end - range.address)});
}

} // namespace

std::optional<PeFile> PeFile::parse(Bytes file) {
  std::optional<PeImage> image = PeImage::from_file(file);
  return image ? std::optional(PeFile(file, std::move(*image))) : std::nullopt;
}

struct PeFile::Placed {
  const PeImage::Section *section;
  Range range;
};

// Returns copies by address, with relocations applied.
std::vector<PeFile::Placed> PeFile::place(Address base, bool only_writable,
                                          std::vector<std::shared_ptr<const void>> &storage) const {
  auto relocation = std::make_shared<BaseRelocation>(base - image_.image_base());
  u64 copied = 0;
  std::vector<const PeImage::Section *> sections;
  for (const PeImage::Section &section : image_.sections()) {
    u64 size = section.virtual_size ? std::min(section.file_size, section.virtual_size) : section.file_size;
    Bytes bytes = only_writable && !section.writable ? Bytes() : slice(file_, section.file_offset, size);
    copied += bytes.size();
    if (bytes.empty() || copied > file_.size()) // sections that share bytes could fill any memory
      continue;
    sections.push_back(&section);
    relocation->copies.push_back({section.rva, {bytes.begin(), bytes.end()}});
  }
  std::vector<u64> order(sections.size());
  for (u64 i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](u64 a, u64 b) { return sections[a]->rva < sections[b]->rva; });
  std::vector<BaseRelocation::Copy> copies;
  for (u64 i : order)
    copies.push_back(std::move(relocation->copies[i]));
  relocation->copies = std::move(copies);
  if (std::optional<PeBlock> blocks = image_.base_relocations())
    relocation->apply(image_.view(*blocks));

  std::vector<Placed> out;
  for (u64 i = 0; i < order.size(); ++i)
    out.push_back({sections[order[i]], {base + relocation->copies[i].rva, relocation->copies[i].bytes}});
  storage.push_back(std::move(relocation));
  return out;
}

std::vector<Range> PeFile::initial(Address base, std::vector<std::shared_ptr<const void>> &storage) const {
  std::vector<Range> out;
  for (const Placed &placed : place(base, true, storage))
    out.push_back(placed.range);
  return out;
}

std::vector<Range> PeFile::constant_tables(Address base, const std::vector<Range> &initial) const {
  constexpr u32 import_sections = 101, first_kind = 100, last_kind = 200, most_tables = 64;
  constexpr u64 header_size = 16, entry_size = 12; // {kind, RVA, size}
  std::vector<Range> out;
  const std::optional<PeBlock> header = image_.managed_native_header();
  const Bytes bytes = header ? slice(file_, header->address, header->size) : Bytes();
  auto word = [&](u64 at) { return load_at<u32>(bytes, at, ByteOrder::little).value_or(0); };
  if (word(0) != ready_to_run_signature)
    return out;
  for (u64 i = 0; i < std::min(word(12), most_tables); ++i) {
    const u64 at = header_size + i * entry_size;
    const u32 kind = word(at), rva = word(at + 4), size = word(at + 8);
    const std::optional<PeBlock> block = image_.find(rva, size);
    const Bytes table = block ? slice(file_, block->address, block->size) : Bytes();
    if (kind < first_kind || kind > last_kind || kind == import_sections || table.empty())
      continue;
    const Address start = base + rva;
    for (const Range &range : initial)
      if (const Bytes same = start < range.address ? Bytes() : slice(range.bytes, start - range.address, size);
          same.size() == table.size() && std::equal(same.begin(), same.end(), table.begin()))
        out.push_back({start, table});
  }
  return out;
}

PeFile::Layout PeFile::layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const {
  Layout out;
  out.constants.push_back({base, slice(file_, 0, std::min<u64>(image_.size_of_headers(), file_.size()))});
  std::optional<PeImage::Place> imports = image_.import_addresses();
  for (const Placed &placed : place(base, false, storage))
    if (placed.section->writable)
      out.initial.push_back(placed.range);
    else
      add_without(out.constants, placed.range, imports ? base + imports->rva : 0,
                  imports ? base + imports->rva + imports->size : 0);
  return out;
}

} // namespace dnheap
