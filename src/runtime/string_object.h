// Reads the length and the text of System.String objects, in every kind of runtime. Only this file reads the text, when
// somebody asks for values. Any thread.
#pragma once
#include "runtime/runtime.h"

#include <optional>
#include <string>

namespace dnheap {

struct StringText {
  std::string text;    // UTF-8, lone surrogates as U+FFFD; not printable() yet
  bool is_cut = false; // longer than the limit
};

// Offsets of a String's length and first character from its first byte.
struct StringLayout {
  u64 length = 0, characters = 0;
};
StringLayout string_layout(const Runtime &runtime);

// `object` must be a String: neither function checks its type. Nullopt: not in the dump.
std::optional<u32> string_length(const Runtime &runtime, Address object); // UTF-16 code units
// At most `limit` code units.
std::optional<StringText> string_text(const Runtime &runtime, Address object, u64 limit);

} // namespace dnheap
