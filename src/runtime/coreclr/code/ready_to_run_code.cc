#include "runtime/coreclr/code/ready_to_run_code.h"

#include "image/ready_to_run_header.h"
#include "runtime/compiled/native_array.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 max_functions = 1 << 26, max_buckets = 1 << 26;
constexpr u32 linear_search = 10; // a range of no more functions than this is searched one by one
constexpr u32 max_sections = 1024, debug_info_section = 105;
constexpr u64 keys_per_bucket = 4;

} // namespace

// If the target does not publish a value, that of .NET 8 to 10 is used.
ReadyToRunCode::ReadyToRunCode(const Target &target, const ContractDescriptor &d)
    : target_(&target), memory_(&target.memory), p_(target.format().pointer_size) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    return static_cast<u64>(d.try_offset(type, field).value_or(static_cast<i64>(otherwise)));
  };
  auto derived = [&](const char *type, const char *field) {
    std::optional<i64> found = d.try_offset(type, field);
    return found ? std::optional(static_cast<u64>(*found)) : std::nullopt;
  };
  at_.info = derived("Module", "ReadyToRunInfo");
  at_.method_map = derived("ReadyToRunInfo", "EntryPointToMethodDescMap");
  at_.header = offset("ReadyToRunInfo", "ReadyToRunHeader", 2 * p_);
  at_.composite = offset("ReadyToRunInfo", "CompositeInfo", 5 * p_);
  at_.functions = offset("ReadyToRunInfo", "RuntimeFunctions", 10 * p_);
  at_.function_count = offset("ReadyToRunInfo", "NumRuntimeFunctions", 11 * p_);
  at_.hot_cold_map = offset("ReadyToRunInfo", "HotColdMap", 12 * p_);
  at_.hot_cold_count = offset("ReadyToRunInfo", "NumHotColdMap", 13 * p_);
  at_.thunks = offset("ReadyToRunInfo", "DelayLoadMethodCallThunks", 14 * p_);
  at_.buckets = offset("HashMap", "Buckets", 2 * p_);
  gc_info_version_ = static_cast<u32>(d.try_number("GCInfoVersion").value_or(0));
  for (const char *field : {"Module.ReadyToRunInfo", "ReadyToRunInfo.EntryPointToMethodDescMap"})
    if (auto missing = d.missing.find(field); missing != d.missing.end() && why_unknown_.empty())
      why_unknown_ = ": " + missing->first + " " + missing->second;
}

// In a composite image, the header and the map of methods belong to the whole image.
ReadyToRunCode::Image ReadyToRunCode::image_of(const RangeSection &section, Address info) const {
  const char *what = "the runtime's data on a ReadyToRun image";
  const Address whole = memory_->pointer(info + at_.composite, what);
  return {section.begin,
          memory_->pointer(whole + at_.header, what),
          whole + *at_.method_map,
          RuntimeFunctions(*target_, memory_->pointer(info + at_.functions, what),
                           std::min(memory_->u32_at(info + at_.function_count, what), max_functions)),
          memory_->pointer(info + at_.hot_cold_map, what),
          std::min(memory_->u32_at(info + at_.hot_cold_count, what), max_functions)};
}

// The image's own header has the range of thunks, and a heap dump may lack its page. Then no address counts as a thunk;
// a thunk is not in the map of methods either.
bool ReadyToRunCode::is_thunk(Address info, u64 relative) const {
  const u64 directory = memory_->try_pointer(info + at_.thunks).value_or(0);
  const std::optional<u32> start = directory ? memory_->try_load<u32>(directory) : std::nullopt,
                           size = directory ? memory_->try_load<u32>(directory + 4) : std::nullopt;
  return start && size && relative >= *start && relative - *start < *size;
}

std::optional<u32> ReadyToRunCode::function_at(const RuntimeFunctions &functions, u64 relative) const {
  if (functions.count() == 0)
    return std::nullopt;
  u32 low = 0, high = functions.count() - 1;
  while (high - low > linear_search) {
    const u32 middle = low + (high - low) / 2;
    if (relative < functions.begin(middle))
      high = middle - 1;
    else
      low = middle;
  }
  for (u32 i = low; i <= high; ++i)
    if (i + 1 == functions.count() || relative < functions.begin(i + 1))
      return relative >= functions.begin(i) ? std::optional(i) : std::nullopt;
  return std::nullopt;
}

// Pairs of function numbers, of a cold part and its hot part, sorted by the former.
std::optional<u32> ReadyToRunCode::hot_part(const Image &image, u32 index) const {
  auto cold = [&](u32 i) { return memory_->u32_at(image.hot_cold_map + 8 * u64{i}, "a map of hot and cold parts"); };
  const u32 pairs = image.hot_cold_count / 2;
  if (pairs == 0 || index < cold(0))
    return std::nullopt;
  u32 low = 0, high = pairs; // cold(low) <= index < cold(high)
  while (high - low > 1) {
    const u32 middle = low + (high - low) / 2;
    (index < cold(middle) ? high : low) = middle;
  }
  return memory_->u32_at(image.hot_cold_map + 8 * u64{low} + 4, "a map of hot and cold parts");
}

// Open addressing over buckets of four keys and four values; the topmost bit of the first value means that keys
// overflowed into another bucket.
Address ReadyToRunCode::method_at(Address map, Address entry) const {
  const u64 topmost = u64{1} << (8 * p_ - 1);
  const Address buckets = memory_->pointer(map + at_.buckets, "a map of methods");
  const u32 size = memory_->u32_at(buckets, "a map of methods");
  if (size < 2 || size > max_buckets)
    return 0;
  u32 seed = static_cast<u32>(entry >> 2);
  const u32 step = 1 + (static_cast<u32>(entry >> 5) + 1) % (size - 1);
  for (u32 i = 0; i < size; ++i, seed += step) {
    const Address bucket = buckets + 2 * keys_per_bucket * p_ * (seed % size + 1),
                  values = bucket + keys_per_bucket * p_;
    for (u64 k = 0; k < keys_per_bucket; ++k)
      if (memory_->pointer(bucket + k * p_, "a map of methods") == entry)
        return (memory_->pointer(values + k * p_, "a map of methods") & ~topmost) << 1;
    if (!(memory_->pointer(values, "a map of methods") & topmost))
      break;
  }
  return 0;
}

ReadyToRunCode::Section ReadyToRunCode::find_section(Address header, Address base, u32 kind) const {
  const u32 sections = std::min(memory_->try_load<u32>(header + 12).value_or(0), max_sections);
  for (u32 i = 0; i < sections; ++i) {
    const Address at = header + 16 + 12 * u64{i};
    if (memory_->try_load<u32>(at) != kind)
      continue;
    const std::optional<u32> rva = memory_->try_load<u32>(at + 4), size = memory_->try_load<u32>(at + 8);
    return rva && size ? Section{base + *rva, *size} : Section{};
  }
  return {};
}

// The compiler gives filters another personality routine than all other functions; its address is the last word of
// unwind data.
bool ReadyToRunCode::is_filter(const Image &image, Address main, Address funclet) const {
  auto personality = [&](Address info) {
    return memory_->u32_at(info + image.functions.unwind_info_size(info) - 4, "unwind data");
  };
  return personality(main) != personality(funclet);
}

std::optional<CodeBlock> ReadyToRunCode::find(const RangeSection &section, Address ip) const {
  if (!at_.info || !at_.method_map)
    throw Error("the place of the methods of ReadyToRun images is unknown" + why_unknown_);
  const Address info = memory_->pointer(section.ready_to_run_module + *at_.info, "a module's ReadyToRun image");
  const u64 relative = ip - section.begin;
  if (!info || is_thunk(info, relative))
    return std::nullopt;
  const Image image = image_of(section, info);
  const std::optional<u32> index = function_at(image.functions, relative);
  if (!index)
    return std::nullopt;
  const std::optional<u32> hot = hot_part(image, *index);
  CodeBlock out;
  out.ready_to_run = true;
  out.image_base = section.begin;
  out.header = image.header;
  // The map has no key for a funclet, which follows its method.
  u32 method = hot.value_or(*index);
  for (u32 begin = 0;; --method) {
    begin = image.functions.begin(method);
    out.start = section.begin + begin;
    out.method_desc = method_at(image.method_map, out.start);
    if (out.method_desc || method == 0)
      break;
  }
  if (!out.method_desc)
    return std::nullopt;
  out.method_index = method;
  const RuntimeFunction function = image.functions.at(*index);
  out.function_start = section.begin + function.begin;
  out.function_end = out.function_start + image.functions.length(*index, section.begin);
  out.unwind_info = section.begin + function.unwind_data;
  const Address main = section.begin + image.functions.at(method).unwind_data;
  out.gc_info = main + image.functions.unwind_info_size(main);
  // Without the header: a runtime accepts only images of its own version, except some that have the same format.
  const std::optional<u16> major = memory_->try_load<u16>(image.header + 4);
  out.gc_info_version = major ? ready_to_run_gc_info_version(*major) : gc_info_version_;
  if (hot)
    out.cold_offset = image.functions.length(method, section.begin);
  out.is_funclet = !hot && method != *index;
  out.is_filter = out.is_funclet && is_filter(image, main, out.unwind_info);
  return out;
}

// Methods with the same debug info share it: an entry is the distance back to the shared one, or 0, and then its own
// follows.
DebugInfoPlace ReadyToRunCode::debug_info(const CodeBlock &block) const {
  const u16 major = memory_->try_load<u16>(block.header + 4).value_or(0);
  DebugInfoPlace out;
  out.format = ready_to_run_packs_debug_info(major)
                   ? major < 17 ? DebugInfoFormat::packed : DebugInfoFormat::packed_with_sizes
                   : DebugInfoFormat::nibbles;
  const Section section = find_section(block.header, block.image_base, debug_info_section);
  if (!section.address)
    return out;
  const NativeArray entries(*memory_, block.image_base, static_cast<u32>(section.address - block.image_base));
  const std::optional<u32> entry = entries.find(block.method_index);
  const std::optional<NativeArray::Number> back =
      entry ? NativeArray::number(*memory_, block.image_base, *entry) : std::nullopt;
  if (!back && memory_->known_bytes(section.address, add_clamped(section.address, section.size)) < section.size)
    throw Error("the dump lacks the debug info of an image");
  if (back && back->value <= *entry)
    out.address = block.image_base + (back->value ? *entry - back->value : back->end);
  return out;
}

} // namespace dnheap
