#include "image/pe_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 cli_header_size = 72;
constexpr u64 longest_pdb_path = 4096;
constexpr u16 most_pe_sections = 96; // the loader's own limit according to the specification

} // namespace

PeImage::PeImage(const Memory *memory, Bytes file, Address base, bool mapped)
    : memory_(memory), file_({8, ByteOrder::little}, {{0, file}}), base_(base), mapped_(mapped) {}

std::optional<PeImage> PeImage::from_file(Bytes file) {
  PeImage image(nullptr, file, 0, false);
  return image.read_headers() ? std::optional(std::move(image)) : std::nullopt;
}

std::optional<PeImage> PeImage::at(const Memory &memory, Address base, bool mapped) {
  PeImage image(&memory, {}, base, mapped);
  return image.read_headers() ? std::optional(std::move(image)) : std::nullopt;
}

template <std::unsigned_integral T> std::optional<T> PeImage::load_at(Address address) const {
  std::optional<T> value = memory().try_load<T>(address);
  if (value && memory().format().byte_order != ByteOrder::little)
    return swap_bytes(*value);
  return value;
}

template <std::unsigned_integral T> std::optional<T> PeImage::load_rva(u64 rva) const {
  if (rva > 0xffffffff)
    return std::nullopt;
  std::optional<PeBlock> block = find(static_cast<u32>(rva), sizeof(T));
  return block ? load_at<T>(block->address) : std::nullopt;
}

bool PeImage::read_headers() {
  constexpr u16 dos_signature = 0x5a4d, pe32 = 0x10b, pe32_plus = 0x20b;
  constexpr u32 pe_signature = 0x4550;
  std::optional<u32> header_at = load_at<u32>(base_ + 60);
  if (load_at<u16>(base_) != dos_signature || !header_at)
    return false;
  Address file_header = base_ + *header_at + 4, optional_header = file_header + 20;
  std::optional<u16> machine = load_at<u16>(file_header), section_count = load_at<u16>(file_header + 2),
                     optional_size = load_at<u16>(file_header + 16), magic = load_at<u16>(optional_header);
  std::optional<u32> stamp = load_at<u32>(file_header + 4);
  if (load_at<u32>(base_ + *header_at) != pe_signature || !machine || !section_count || !optional_size || !stamp ||
      (magic != pe32 && magic != pe32_plus) || *section_count > most_pe_sections)
    return false;
  bool wide = magic == pe32_plus;
  std::optional<u64> image_base =
      wide ? load_at<u64>(optional_header + 24) : std::optional<u64>(load_at<u32>(optional_header + 28));
  std::optional<u32> image_size = load_at<u32>(optional_header + 56), headers_size = load_at<u32>(optional_header + 60);
  std::optional<u32> directory_count = load_at<u32>(optional_header + (wide ? 108 : 92));
  if (!image_base || !image_size || !headers_size || !directory_count)
    return false;
  machine_ = *machine;
  time_date_stamp_ = *stamp;
  image_base_ = *image_base;
  size_of_image_ = *image_size;
  size_of_headers_ = *headers_size;

  auto directory = [&](u32 index) -> Directory {
    u64 at = (wide ? 112 : 96) + u64{index} * 8;
    if (index >= *directory_count || at + 8 > *optional_size)
      return {};
    std::optional<u32> rva = load_at<u32>(optional_header + at), size = load_at<u32>(optional_header + at + 4);
    return rva && size && *rva ? Directory{*rva, *size} : Directory{};
  };
  exports_ = directory(0);
  debug_ = directory(6);
  cli_header_ = directory(14);
  functions_ = directory(3);
  relocations_ = directory(5);
  imports_ = directory(12);

  for (u16 i = 0; i < *section_count; ++i) {
    Address at = optional_header + *optional_size + u64{i} * 40;
    std::byte name[8];
    std::optional<u32> virtual_size = load_at<u32>(at + 8), rva = load_at<u32>(at + 12), size = load_at<u32>(at + 16),
                       offset = load_at<u32>(at + 20), characteristics = load_at<u32>(at + 36);
    if (!memory().read(at, name) || !virtual_size || !rva || !size || !offset || !characteristics)
      return false;
    constexpr u32 may_execute = 0x20000000, may_write = 0x80000000; // IMAGE_SCN_MEM_EXECUTE, …_WRITE
    sections_.push_back({std::string(text_at(name, 0)), *rva, *virtual_size, *offset, *size,
                         (*characteristics & may_write) != 0, (*characteristics & may_execute) != 0});
  }
  return true;
}

std::optional<PeBlock> PeImage::find(u32 rva, u64 size) const {
  if (mapped_) {
    if (rva > size_of_image_ || size > size_of_image_ - rva)
      return std::nullopt;
    return PeBlock{base_ + rva, size};
  }
  auto within = [&](u64 start, u64 length) {
    return rva >= start && rva - start <= length && size <= length - (rva - start);
  };
  if (within(0, size_of_headers_))
    return PeBlock{base_ + rva, size};
  for (const Section &section : sections_)
    if (within(section.rva, section.file_size))
      return PeBlock{base_ + section.file_offset + (rva - section.rva), size};
  return std::nullopt;
}

std::optional<PeBlock> PeImage::metadata() const {
  constexpr u32 signature = 0x424a5342; // "BSJB"
  if (cli_header_.size < cli_header_size || load_rva<u32>(cli_header_.rva).value_or(0) < cli_header_size)
    return std::nullopt;
  std::optional<u32> rva = load_rva<u32>(u64{cli_header_.rva} + 8), size = load_rva<u32>(u64{cli_header_.rva} + 12);
  if (!rva || !size)
    return std::nullopt;
  std::optional<PeBlock> block = find(*rva, *size);
  if (!block || load_at<u32>(block->address) != signature)
    return std::nullopt;
  return block;
}

std::optional<PeBlock> PeImage::managed_native_header() const {
  const u64 at = u64{cli_header_.rva} + 64;
  const std::optional<u32> rva = cli_header_.size < cli_header_size ? std::nullopt : load_rva<u32>(at),
                           size = load_rva<u32>(at + 4);
  return rva && size && *rva && *size ? find(*rva, *size) : std::nullopt;
}

// Export directory: +20 number of functions, +24 number of names, +28 functions (RVAs), +32 names (RVAs), +36 for each
// name the index of its function.
std::optional<u32> PeImage::find_export(std::string_view name) const {
  u64 directory = exports_.rva;
  std::optional<u32> function_count = load_rva<u32>(directory + 20), name_count = load_rva<u32>(directory + 24),
                     functions = load_rva<u32>(directory + 28), names = load_rva<u32>(directory + 32),
                     indices = load_rva<u32>(directory + 36);
  if (exports_.size == 0 || !function_count || !name_count || !functions || !names || !indices)
    return std::nullopt;
  for (u64 i = 0; i < *name_count; ++i) {
    std::optional<u32> name_rva = load_rva<u32>(*names + i * 4);
    if (!name_rva)
      return std::nullopt;
    std::optional<PeBlock> text = find(*name_rva, name.size() + 1);
    if (!text || memory().try_text(text->address, name.size() + 1) != name)
      continue;
    std::optional<u16> index = load_rva<u16>(*indices + i * 2);
    if (!index || *index >= *function_count)
      return std::nullopt;
    std::optional<u32> rva = load_rva<u32>(*functions + u64{*index} * 4);
    bool forwarder = rva && *rva >= exports_.rva && *rva - exports_.rva < exports_.size;
    return forwarder ? std::nullopt : rva;
  }
  return std::nullopt;
}

// Debug directory entries have 28 bytes: +4 stamp, +10 minor version, +12 type, +16 size, +20 RVA and +24 file offset
// of the data. Nullopt after the last one.
std::optional<PeImage::DebugEntry> PeImage::debug_entry(u64 index) const {
  constexpr u64 size = 28, most = 64;
  if (index >= std::min<u64>(debug_.size / size, most))
    return std::nullopt;
  const u64 at = debug_.rva + size * index;
  std::optional<u32> stamp = load_rva<u32>(at + 4), type = load_rva<u32>(at + 12), length = load_rva<u32>(at + 16),
                     rva = load_rva<u32>(at + 20), offset = load_rva<u32>(at + 24);
  std::optional<u16> minor = load_rva<u16>(at + 10);
  if (!stamp || !type || !length || !rva || !offset || !minor)
    return std::nullopt;
  return DebugEntry{*type, *stamp, *minor, {base_ + (mapped_ ? *rva : *offset), *length}};
}

// CodeView data: "RSDS", GUID, u32 age, path.
std::optional<PeImage::CodeView> PeImage::code_view_of(const DebugEntry &entry) const {
  constexpr u32 type_code_view = 2, signature = 0x53445352;
  constexpr u16 portable = 0x504d;
  CodeView out;
  if (entry.type != type_code_view || load_at<u32>(entry.data.address) != signature ||
      !memory().read(entry.data.address + 4, std::as_writable_bytes(std::span(out.guid))))
    return std::nullopt;
  std::optional<u32> age = load_at<u32>(entry.data.address + 20);
  if (!age)
    return std::nullopt;
  out.age = *age;
  out.path = memory().try_text(entry.data.address + 24, longest_pdb_path).value_or("");
  out.stamp = entry.stamp;
  out.is_portable = entry.minor_version == portable;
  return out;
}

std::optional<PeImage::CodeView> PeImage::code_view() const {
  for (u64 i = 0; std::optional<DebugEntry> entry = debug_entry(i); ++i)
    if (std::optional<CodeView> found = code_view_of(*entry))
      return found;
  return std::nullopt;
}

std::optional<PeImage::CodeView> PeImage::portable_code_view() const {
  for (u64 i = 0; std::optional<DebugEntry> entry = debug_entry(i); ++i)
    if (std::optional<CodeView> found = code_view_of(*entry); found && found->is_portable)
      return found;
  return std::nullopt;
}

std::optional<PeBlock> PeImage::embedded_pdb() const {
  constexpr u32 type_embedded_pdb = 17;
  for (u64 i = 0; std::optional<DebugEntry> entry = debug_entry(i); ++i)
    if (entry->type == type_embedded_pdb)
      return entry->data;
  return std::nullopt;
}

} // namespace dnheap
