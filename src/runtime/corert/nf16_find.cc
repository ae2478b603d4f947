#include "runtime/corert/nf16_find.h"

#include "base/text.h"
#include "image/module_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr const char *export_name = "g_NetNativeRuntimeDebugHeader";

// Random bytes exceed this; no real version has come near it.
constexpr u16 most_versions = 255;

// If the cookie is not there, the module counts as one without a runtime.
std::optional<Address> find_export(const Memory &memory, const Module &module) {
  std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
  std::optional<Address> out = image ? image->find_symbol(export_name) : std::nullopt;
  return out && read_nf16_start(memory, *out) ? out : std::nullopt;
}

// Tests more than cookie and flags: in a header of version 1, all sections that it lists begin with a version, and the
// GC's two are listed. Headers of other versions have no further test.
bool looks_like_header(const Memory &memory, Address address, const Nf16Start &start) {
  if (start.format() != memory.format() || start.major_version > most_versions)
    return false;
  if (start.major_version != 1)
    return true;
  auto sections = read_nf16_addresses(memory, address);
  if (!sections || !sections->front() || !(*sections)[1])
    return false;
  return std::all_of(sections->begin(), sections->end(), [&](Address section) {
    if (section == 0)
      return true;
    std::optional<u16> major = memory.try_load<u16>(section);
    return section % memory.format().pointer_size == 0 && major && *major <= most_versions;
  });
}

// Returns headers of version 1; if there are none, those of other versions, so that they can be reported.
std::vector<Address> scan(const Memory &memory, const Module &module) {
  Address end = module.end();
  if (std::optional<ModuleImage> image = ModuleImage::at(memory, module.base))
    end = std::max(end, image->end());
  const u64 step = memory.format().pointer_size;
  std::vector<Address> known, other;
  for (const Range &range : memory.ranges()) {
    Address from = std::max(range.address, module.base), to = std::min(range.end(), end);
    if (from >= to)
      continue;
    Bytes bytes = memory.fetched(range.bytes.subspan(from - range.address, to - from));
    for (u64 at = align_up(from, step) - from; at < bytes.size() && bytes.size() - at >= 4; at += step)
      if (load<u32>(bytes.data() + at, ByteOrder::big) == 0x6e663136)
        if (std::optional<Nf16Start> start = read_nf16_start(memory, from + at))
          if (looks_like_header(memory, from + at, *start))
            (start->major_version == 1 ? known : other).push_back(from + at);
  }
  return known.empty() ? other : known;
}

} // namespace

std::optional<FoundNf16Header> find_nf16_header(const Target &target, const Module &module) {
  const Memory &memory = target.memory;
  std::string file(module.file_name());
  if (std::optional<Address> address = find_export(memory, module))
    return FoundNf16Header{*address, "export of " + file};
  std::vector<Address> hits = scan(memory, module);
  if (hits.size() > 1)
    throw Error(count_text(hits.size()) + " places in " + file +
                " look like a CoreRT debug header (NF16), the first at " + hex(hits[0]) + ", the second at " +
                hex(hits[1]));
  if (hits.empty())
    return std::nullopt;
  return FoundNf16Header{hits[0], "scan of " + file + " for its cookie"};
}

std::vector<const Module *> find_nf16_modules(const Target &target) {
  std::vector<const Module *> out;
  for (const Module &module : target.modules)
    if (find_export(target.memory, module))
      out.push_back(&module);
  if (out.empty())
    for (const Module &module : target.modules)
      if (!scan(target.memory, module).empty())
        out.push_back(&module);
  return out;
}

} // namespace dnheap
