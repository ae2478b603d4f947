#include "report/formats/shorten.h"

#include "base/utf8.h"
#include "report/character_width.h"
#include "report/encoding.h"

#include <algorithm>
#include <vector>

namespace dnheap::report {

namespace {

constexpr std::string_view gone = "…";
constexpr u64 longest = 16 * 1024, deepest_names = 32; // beyond these limits only the ends are kept

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '`' ||
         static_cast<u8>(c) >= 0x80;
}

// Brackets that belong to a name, as in `List<…>` and `Run(…)`; `<Run>d__5` and `(shared)` are names themselves.
struct Brackets {
  u64 open, close; // where they stand
  u64 depth;       // 0: not inside others
};

std::vector<Brackets> brackets_of(std::string_view name) {
  std::vector<Brackets> out;
  struct Open {
    u64 at;
    bool counts;
  };
  std::vector<Open> open;
  u64 depth = 0;
  for (u64 i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') {
      const bool called = name[i] == '(' && i && name[i - 1] == '>';
      open.push_back({i, called || (i && is_name_character(name[i - 1]))});
      depth += open.back().counts;
    } else if (!open.empty() && name[i] == (name[open.back().at] == '<' ? '>' : ')')) {
      depth -= open.back().counts;
      if (open.back().counts)
        out.push_back({open.back().at, i, depth});
      open.pop_back();
    }
  }
  return out;
}

// Replaces `Shop.Cache.Session` inside brackets by `Session`.
std::string without_inner_namespaces(std::string_view name) {
  std::vector<Brackets> outer = brackets_of(name);
  std::erase_if(outer, [](const Brackets &b) { return b.depth != 0; });
  std::sort(outer.begin(), outer.end(), [](const Brackets &a, const Brackets &b) { return a.open < b.open; });
  std::string out;
  u64 at = 0;
  for (const Brackets &brackets : outer) {
    out += name.substr(at, brackets.open + 1 - at);
    for (at = brackets.open + 1; at < brackets.close;) {
      const u64 start = at;
      while (at < brackets.close && (is_name_character(name[at]) || name[at] == '.'))
        ++at;
      std::string_view word = name.substr(start, at - start);
      const bool has_namespace = !word.empty() && !(word[0] >= '0' && word[0] <= '9');
      const u64 dot = has_namespace ? word.substr(0, word.size() - 1).rfind('.') : word.npos;
      out += dot == word.npos ? word : word.substr(dot + 1);
      if (at < brackets.close)
        out += name[at++];
    }
  }
  return out.append(name.substr(at));
}

// Replaces `System.Collections.Generic.List<Session>` by `List<Session>`: the arguments of .NET's own generic types say
// more than their namespaces.
std::string without_framework_namespace(std::string_view name) {
  constexpr std::string_view framework = "System.", of_field = "static ";
  const u64 start = name.starts_with(of_field) ? of_field.size() : 0, open = name.find('<');
  if (open == name.npos || open == 0 || !name.substr(start).starts_with(framework) ||
      !is_name_character(name[open - 1]))
    return std::string(name);
  const u64 dot = name.rfind('.', open);
  return std::string(name.substr(0, start)).append(name.substr(dot + 1));
}

// Removes the contents of brackets inside `depth` others. Brackets shorter than `…` stay.
std::string collapsed(std::string_view name, const std::vector<Brackets> &all, u64 depth) {
  std::vector<Brackets> these;
  std::copy_if(all.begin(), all.end(), std::back_inserter(these), [&](const Brackets &b) {
    return b.depth == depth && width_of(name.substr(b.open, b.close - b.open)) > 2;
  });
  std::sort(these.begin(), these.end(), [](const Brackets &a, const Brackets &b) { return a.open < b.open; });
  std::string out;
  u64 at = 0;
  for (const Brackets &brackets : these) {
    (out += name.substr(at, brackets.open + 1 - at)) += gone;
    at = brackets.close;
  }
  return out.append(name.substr(at));
}

// Returns the longest start of `text` that takes at most `width` columns.
std::string_view head_of(std::string_view text, u64 width) {
  u64 at = 0;
  while (at < text.size()) {
    const u64 length = std::max<u64>(utf8_length(text.substr(at)), 1), wide = character_width(text.substr(at, length));
    if (wide > width)
      break;
    width -= wide;
    at += length;
  }
  return text.substr(0, at);
}

// The same for its end.
std::string_view tail_of(std::string_view text, u64 width) {
  u64 at = text.size();
  while (at) {
    u64 start = at - 1;
    while (start && (static_cast<u8>(text[start]) & 0xc0) == 0x80)
      --start;
    const u64 wide = character_width(text.substr(start, at - start));
    if (wide > width)
      break;
    width -= wide;
    at = start;
  }
  return text.substr(at);
}

// Keeps more of the end than of the beginning, since names mostly differ at their ends.
std::string without_middle(std::string_view name, u64 width) {
  if (!width)
    return "";
  const u64 head = (width - 1) * 2 / 5;
  return std::string(head_of(name, head)).append(gone).append(tail_of(name, width - 1 - head));
}

// Returns the length of the spaces and tree lines at the start.
u64 lead_of(std::string_view name) {
  u64 at = 0;
  while (at < name.size()) {
    if (name[at] == ' ')
      ++at;
    else if (name.substr(at).starts_with("│") || name.substr(at).starts_with("├") || name.substr(at).starts_with("└") ||
             name.substr(at).starts_with("─"))
      at += 3;
    else
      break;
  }
  return at;
}

std::string shorten_name(std::string_view name, u64 width) {
  if (name.size() > longest)
    return without_middle(name, width);
  std::string out = without_inner_namespaces(name);
  if (width_of(out) > width)
    out = without_framework_namespace(out);
  while (width_of(out) > width) {
    const std::vector<Brackets> all = brackets_of(out);
    u64 deepest = 0;
    for (const Brackets &b : all)
      deepest = std::max(deepest, b.depth);
    std::string less = out;
    for (u64 depth = deepest + 1; depth-- && deepest <= deepest_names && less == out;)
      less = collapsed(out, all, depth);
    if (less == out)
      return without_middle(out, width);
    out = std::move(less);
  }
  return out;
}

} // namespace

std::string shorten(std::string_view name, u64 width) {
  if (width_of(name) <= width)
    return std::string(name);
  const std::string_view lead = name.substr(0, lead_of(name));
  const u64 taken = width_of(lead);
  constexpr u64 room = 12; // columns for a useful name
  if (lead.empty() || taken + room > width)
    return shorten_name(name, width);
  return std::string(lead) + shorten_name(name.substr(lead.size()), width - taken);
}

} // namespace dnheap::report
