#include "runtime/nativeaot/managed_code.h"

#include "image/module_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 words_looked_at = 16; // searched words of a RuntimeInstance; 8 to 10 have nine

std::optional<CodeRange> published_range(const Memory &memory, const ContractDescriptor &d) {
  const std::optional<u64> variable = d.try_number("RuntimeInstance");
  const std::optional<i64> start_at = d.try_offset("RuntimeInstance", "ManagedCodeStartRange"),
                           size_at = d.try_offset("RuntimeInstance", "ManagedCodeRangeSize");
  const std::optional<u64> instance = variable ? memory.try_pointer(*variable) : std::nullopt;
  if (!instance || !start_at || !size_at)
    return std::nullopt;
  const std::optional<u64> start = memory.try_pointer(*instance + static_cast<u64>(*start_at));
  const std::optional<u32> size = memory.try_load<u32>(*instance + static_cast<u64>(*size_at));
  return start && size && *size ? std::optional(CodeRange{*start, add_clamped(*start, *size)}) : std::nullopt;
}

} // namespace

// If it is not published: looks for an address and a length that make up a part of the module's executable memory. All
// other words there are other objects, handles and flags.
std::optional<CodeRange> find_managed_code(const Target &target, const Module &module,
                                           const ContractDescriptor &descriptor) {
  if (const std::optional<CodeRange> published = published_range(target.memory, descriptor))
    return published;
  const std::optional<u64> instance = descriptor.try_number("ThreadStore"); // the thread store is its first member
  const std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base);
  if (!instance || !image)
    return std::nullopt;
  const u64 p = target.memory.format().pointer_size;
  std::optional<CodeRange> found;
  for (u64 i = 1; i < words_looked_at; ++i) {
    const std::optional<u64> start = target.memory.try_pointer(*instance + i * p);
    const std::optional<u32> size = target.memory.try_load<u32>(*instance + (i + 1) * p);
    if (!start || !size || *size == 0)
      continue;
    const bool fits =
        std::any_of(image->sections().begin(), image->sections().end(), [&](const ModuleImage::Section &s) {
          return s.executable && *start >= s.address && *start - s.address < s.size &&
                 *size <= s.size - (*start - s.address);
        });
    if (fits && found)
      return std::nullopt;
    if (fits)
      found = CodeRange{*start, *start + *size};
  }
  return found;
}

} // namespace dnheap
