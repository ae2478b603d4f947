#include "runtime/string_object.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_length = 0x3fffffdf; // limit of every string, in code units (String.Common: MaxLength)

// {MethodTable, u32 length, u16 characters}: the layout of every runtime that publishes no other.
u64 offset_of(const Runtime &runtime, const char *field, u64 otherwise) {
  std::optional<i64> found = runtime.descriptor().try_offset("String", field);
  return found ? static_cast<u64>(*found) : otherwise;
}

} // namespace

StringLayout string_layout(const Runtime &runtime) {
  const u64 p = runtime.memory().format().pointer_size;
  return {offset_of(runtime, "m_StringLength", p), offset_of(runtime, "m_FirstChar", p + 4)};
}

std::optional<u32> string_length(const Runtime &runtime, Address object) {
  std::optional<u32> length = runtime.memory().try_load<u32>(object + string_layout(runtime).length);
  return length && *length <= max_length ? length : std::nullopt;
}

std::optional<StringText> string_text(const Runtime &runtime, Address object, u64 limit) {
  std::optional<u32> length = string_length(runtime, object);
  if (!length)
    return std::nullopt;
  const Memory &memory = runtime.memory();
  u64 shown = std::min<u64>(*length, limit);
  Address at = object + string_layout(runtime).characters;
  if (memory.known_bytes(at, at + 2 * shown) < 2 * shown)
    return std::nullopt;
  std::string units(2 * shown, '\0');
  if (!memory.read(at, std::as_writable_bytes(std::span(units))))
    return std::nullopt;
  return StringText{utf16_to_utf8(std::as_bytes(std::span(units)), memory.format().byte_order), shown < *length};
}

} // namespace dnheap
