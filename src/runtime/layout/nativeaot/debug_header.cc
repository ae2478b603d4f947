#include "runtime/layout/nativeaot/debug_header.h"

#include "base/text.h"
#include "image/module_image.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

constexpr char export_name[] = "DotNetRuntimeDebugHeader";
constexpr std::string_view cookie = "DNDH";
constexpr u32 flag_64_bit = 1, flag_big_endian = 2;
constexpr u16 largest_major = 64; // a larger value means that this is not a header
constexpr u64 most_entries = 4096, longest_name = 128;
constexpr u64 most_strings = 64;           // addresses of one text
constexpr u64 most_scanned = u64{4} << 30; // bytes of all modules
constexpr u64 most_images = 512;

u32 flags_of(Format format) {
  return (format.pointer_size == 8 ? flag_64_bit : 0) | (format.byte_order == ByteOrder::big ? flag_big_endian : 0);
}

// Cookie; u16 major, minor; u32 flags, padding; two pointers into the same image.
std::optional<DebugHeaderPlace> header_at(const Memory &memory, const ModuleImage &image, Address at) {
  std::byte text[4];
  const u64 p = memory.format().pointer_size;
  if (at % p || !memory.read(at, text) || as_text(text) != cookie)
    return std::nullopt;
  std::optional<u16> major = memory.try_load<u16>(at + 4), minor = memory.try_load<u16>(at + 6);
  std::optional<u64> types = memory.try_pointer(at + 16), globals = memory.try_pointer(at + 16 + p);
  bool in_image = types && globals;
  for (Address table : {types.value_or(0), globals.value_or(0)})
    in_image &= table >= image.base() && table < image.end() && table % p == 0;
  if (!in_image || !major || !minor || *major == 0 || *major > largest_major ||
      memory.try_load<u32>(at + 8) != flags_of(memory.format()) || memory.try_load<u32>(at + 12) != 0u)
    return std::nullopt;
  return DebugHeaderPlace{at, *types, *globals, *major, *minor, ""};
}

std::optional<DebugHeaderPlace> exported_header(const Memory &memory, const ModuleImage &image) {
  std::optional<Address> at = image.find_symbol(export_name);
  if (!at)
    return std::nullopt;
  if (std::optional<DebugHeaderPlace> place = header_at(memory, image, *at))
    return place;
  // The runtime writes cookie and pointers when it starts.
  std::byte text[4];
  if (memory.read(*at, text) && as_text(text) == std::string_view("\0\0\0\0", 4))
    return DebugHeaderPlace{*at, 0, 0, 0, 0, ""};
  return std::nullopt;
}

std::optional<DebugHeaderPlace> scanned_header(const Memory &memory, const ModuleImage &image, u64 &budget) {
  std::optional<DebugHeaderPlace> out;
  for (const Range &range : image.writable_bytes(memory)) {
    std::string_view bytes = as_text(range.bytes.first(std::min<u64>(range.bytes.size(), budget)));
    budget -= bytes.size();
    for (std::size_t at = bytes.find(cookie); at != bytes.npos; at = bytes.find(cookie, at + 1))
      if (std::optional<DebugHeaderPlace> place = header_at(memory, image, range.address + at)) {
        if (out) // of two, one is wrong
          return std::nullopt;
        out = place;
      }
  }
  return out;
}

// Returns where `text` and a NUL lie in the image. Linkers merge the ends of strings: other text may precede it.
std::set<Address> find_text(const Memory &memory, const ModuleImage &image, std::string_view text, u64 &budget) {
  std::set<Address> out;
  std::string wanted(text.data(), text.size());
  wanted += '\0';
  for (const Range &range : memory.ranges()) {
    Address from = std::max(range.address, image.base()), to = std::min(range.end(), image.end());
    if (from >= to)
      continue;
    std::string_view bytes =
        as_text(memory.fetched(range.bytes.subspan(from - range.address, std::min(to - from, budget))));
    budget -= bytes.size();
    for (std::size_t at = bytes.find(wanted); at != bytes.npos && out.size() < most_strings;
         at = bytes.find(wanted, at + 1)) {
      out.insert(from + at);
      memory.note_read(from + at, wanted.size());
    }
  }
  return out;
}

std::optional<DebugHeaderPlace> tables_of(const Memory &memory, const ModuleImage &image, u64 &budget) {
  std::set<Address> first_type = find_text(memory, image, "GcDacVars", budget);
  std::set<Address> first_global;
  if (!first_type.empty())
    first_global = find_text(memory, image, "g_CrashInfoBuffer", budget);
  if (first_global.empty())
    return std::nullopt;
  const Format format = memory.format();
  const u64 p = format.pointer_size;
  std::vector<Address> types, globals;
  for (const Range &range : image.writable_bytes(memory)) {
    u64 size = std::min<u64>(range.bytes.size(), budget);
    budget -= size;
    for (u64 at = align_up(range.address, p) - range.address; at + p <= size; at += p) {
      u64 word = load_pointer(range.bytes.data() + at, format);
      if (first_type.contains(word) || first_global.contains(word))
        memory.note_read(range.address + at, p);
      if (first_type.contains(word)) {
        std::optional<u64> field = memory.try_pointer(range.address + at + p);
        if (field && memory.try_text(*field, longest_name) == "SIZEOF") // every type begins with its size
          types.push_back(range.address + at);
      }
      if (first_global.contains(word))
        globals.push_back(range.address + at);
    }
  }
  if (types.size() != 1 || globals.size() != 1)
    return std::nullopt;
  return DebugHeaderPlace{0, types[0], globals[0], 0, 0, ""};
}

// Returns the modules' images that hold native code, each with its module; no more than most_images.
std::vector<std::pair<const Module *, ModuleImage>> images_of(const Target &target) {
  std::vector<std::pair<const Module *, ModuleImage>> out;
  for (const Module &module : target.modules)
    if (out.size() < most_images)
      if (std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base); image && !image->is_managed())
        out.emplace_back(&module, std::move(*image));
  return out;
}

std::string text_at(const Memory &memory, Address at, const Module &module) {
  std::optional<std::string> text = memory.try_text(at, longest_name);
  if (!text)
    throw Error("the names in the debug header of " + module.path + " lie in its read-only data, at " + hex(at) +
                ", which this dump lacks: give the folder of the program's file with --modules");
  return *text;
}

// Each major version added, or renamed, a value that distinguishes it from the one before.
u16 major_of(const DebugHeader &header) {
  if (header.offset("ee_alloc_context.m_rgbAllocContextBuffer"))
    return 5;
  return header.offset("RuntimeThreadLocals.m_pNext") ? 4 : 3;
}

} // namespace

std::optional<u32> DebugHeader::offset(std::string_view type_and_field) const {
  auto it = offsets.find(type_and_field);
  return it == offsets.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Address> DebugHeader::global(std::string_view name) const {
  auto it = globals.find(name);
  return it == globals.end() ? std::nullopt : std::optional(it->second);
}

std::string net_version(u16 header_major) {
  switch (header_major) {
  case 3: return "8.0";
  case 4: return "9.0";
  case 5: return "10.0";
  default: return "";
  }
}

std::vector<FoundDebugHeader> find_debug_headers(const Target &target) {
  std::vector<FoundDebugHeader> out;
  u64 budget = most_scanned;
  for (const auto &[module, image] : images_of(target)) {
    std::string file(module->file_name());
    std::optional<DebugHeaderPlace> found = exported_header(target.memory, image);
    if (found)
      found->how = "export of " + file;
    else if ((found = scanned_header(target.memory, image, budget)))
      found->how = "scan of " + file + " for its cookie";
    if (found)
      out.push_back({module, *found});
  }
  return out;
}

std::vector<FoundDebugHeader> find_debug_tables(const Target &target) {
  std::vector<FoundDebugHeader> out;
  u64 budget = most_scanned;
  for (const auto &[module, image] : images_of(target))
    if (std::optional<DebugHeaderPlace> found = tables_of(target.memory, image, budget)) {
      found->how = "its tables in " + std::string(module->file_name()) + ", by their first names";
      out.push_back({module, *found});
    }
  return out;
}

DebugHeader read_debug_header(const Target &target, const Module &module, const DebugHeaderPlace &place) {
  const Memory &memory = target.memory;
  const u64 p = memory.format().pointer_size;
  if (place.types == 0)
    throw Error("the NativeAOT runtime in " + module.path + " had not started when the dump was taken: its debug " +
                "header at " + hex(place.header) + " is empty");
  if (place.header && net_version(place.major).empty())
    throw Error("the NativeAOT runtime in " + module.path + " describes itself in version " +
                std::to_string(place.major) + "." + std::to_string(place.minor) +
                " of its debug header; this program knows 3 (.NET 8), 4 (.NET 9) and 5 (.NET 10)");
  DebugHeader out;
  out.place = place;
  // Type, field, u32 offset and padding.
  Address at = place.types;
  for (u64 i = 0; i < most_entries; ++i, at += p == 8 ? 24 : 12) {
    Address type = memory.pointer(at, "the debug header's table of types");
    if (type == 0)
      break;
    Address field = memory.pointer(at + p, "the debug header's table of types");
    u32 offset = memory.u32_at(at + 2 * p, "the debug header's table of types");
    // The two texts are read in separate statements, so that with every compiler the error names the same text if both
    // are missing.
    std::string name = text_at(memory, type, module) + ".";
    name += text_at(memory, field, module);
    out.offsets.emplace(std::move(name), offset);
  }
  at = place.globals;
  for (u64 i = 0; i < most_entries; ++i, at += 2 * p) {
    Address name = memory.pointer(at, "the debug header's table of globals");
    if (name == 0)
      break;
    const Address value = memory.pointer(at + p, "a global of the debug header");
    out.globals.emplace(text_at(memory, name, module), value);
  }
  if (place.header == 0)
    out.place.major = major_of(out);
  return out;
}

} // namespace dnheap
