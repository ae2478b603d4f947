#include "analysis/suspects/folded_way.h"

#include "base/integers.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_repeated = 4; // more of one field say no more

// The longest first. They are the insides of Dictionary and ConcurrentDictionary.
constexpr std::string_view insides_of_tables[] = {"._tables._buckets[*]._node._value",
                                                  "._tables._buckets[*]._node._key",
                                                  "._tables._buckets[*]._node",
                                                  "._tables._buckets[*]._value",
                                                  "._entries[*].value",
                                                  "._entries[*].key"};

bool is_end_of_field(std::string_view text, u64 at) { return at == text.size() || text[at] == '.' || text[at] == '['; }

// Returns the length of the inside of a table that begins there; 0: none does.
u64 inside_at(std::string_view text) {
  for (const std::string_view inside : insides_of_tables)
    if (text.starts_with(inside) && is_end_of_field(text, inside.size()))
      return inside.size();
  return 0;
}

// Returns how often the field at the beginning follows itself: 1 for ".a.b".
u64 repeats_of(std::string_view text, std::string_view field) {
  u64 out = 1;
  while (text.substr(out * field.size()).starts_with(field) && is_end_of_field(text, (out + 1) * field.size()))
    ++out;
  return out;
}

} // namespace

std::string folded_way(std::string_view fields) {
  std::string out;
  for (u64 at = 0; at < fields.size();) {
    const std::string_view rest = fields.substr(at);
    if (const u64 inside = inside_at(rest)) {
      out += "[*]";
      at += inside;
      continue;
    }
    const std::string_view field = rest.substr(0, rest.find('.', 1));
    const u64 repeats = repeats_of(rest, field);
    out += field;
    if (repeats > most_repeated)
      out += fmt::format(" ({} ×)", repeats);
    at += field.size() * (repeats > most_repeated ? repeats : 1);
  }
  return out;
}

} // namespace dnheap
