#include "image/symbol_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dnheap {

namespace {

class Mangled {
public:
  explicit Mangled(std::string_view text) : rest_(text) {}

  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix))
      return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }

  // Takes "6memcpy"; empty: no name of that form.
  std::string_view take_name() {
    std::size_t length = 0, digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9' && length < rest_.size(); ++digits)
      length = 10 * length + static_cast<std::size_t>(rest_[digits] - '0');
    if (length == 0 || length > rest_.size() - digits)
      return {};
    const std::string_view out = rest_.substr(digits, length);
    rest_.remove_prefix(digits + length);
    return out;
  }

  // Skips "I…E", the arguments of a template; false: it does not end.
  bool skip_arguments() {
    std::size_t depth = 0;
    while (!rest_.empty()) {
      if (!take_name().empty())
        continue;
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == 'I' || c == 'N' || c == 'X' || c == 'L' || c == 'J' || c == 'F')
        ++depth;
      else if (c == 'E' && --depth == 0)
        return true;
      else if (c == 'S' || c == 'T') // S_, S1_, T_: substitutions and parameters
        while (!rest_.empty() && rest_.front() != '_' && (rest_.front() < 'a' || rest_.front() > 'z'))
          rest_.remove_prefix(1);
    }
    return false;
  }

private:
  std::string_view rest_;
};

void add(std::string &to, std::string_view name) {
  if (name.starts_with("_GLOBAL__N"))
    name = "(anonymous namespace)";
  to += (to.empty() ? "" : "::") + std::string(name);
}

// Reads what stands between N and E; empty: it has a part that is not a name.
std::string nested_name(Mangled &from) {
  std::string out, last;
  for (const char *qualifier : {"r", "V", "K", "R", "O"})
    from.take(qualifier);
  while (true) {
    if (from.take("E"))
      return out;
    if (from.take("St")) {
      add(out, "std");
    } else if (from.next() == 'I') {
      if (!from.skip_arguments())
        return "";
      out += "<>";
    } else if (from.take("C1") || from.take("C2") || from.take("C3")) {
      add(out, last);
    } else if (from.take("D0") || from.take("D1") || from.take("D2")) {
      add(out, "~" + last);
    } else if (from.take("L")) { // of one source file alone
      continue;
    } else if (const std::string_view name = from.take_name(); !name.empty()) {
      add(out, last = name);
    } else {
      return "";
    }
  }
}

// "?add@Cart@Shop@@QEAAHH@Z": the function, then what it lies in, outwards. Empty: it has a part that is not a name,
// such as an operator, a template's arguments or the number of a name that was there before.
std::string microsoft_name(std::string_view symbol) {
  constexpr std::string_view end = "@@";
  const std::size_t size = symbol.find(end);
  if (!symbol.starts_with('?') || size == std::string_view::npos)
    return "";
  std::vector<std::string_view> parts; // the innermost first
  std::string_view rest = symbol.substr(1, size - 1);
  while (true) {
    const std::size_t length = std::min(rest.find('@'), rest.size());
    const std::string_view part = rest.substr(0, length);
    if (part.empty() || part.find_first_of("?$<>") != std::string_view::npos || (part[0] >= '0' && part[0] <= '9'))
      return "";
    parts.push_back(part);
    if (length == rest.size())
      break;
    rest.remove_prefix(length + 1);
  }
  std::string out;
  for (std::size_t i = parts.size(); i-- > 0;)
    out += std::string(parts[i]) + (i ? "::" : "");
  return out;
}

} // namespace

std::string readable_symbol(std::string_view symbol) {
  if (const std::string name = microsoft_name(symbol); !name.empty())
    return name;
  Mangled from(symbol);
  if (!from.take("_Z"))
    return std::string(symbol);
  std::string out;
  if (from.take("N")) {
    out = nested_name(from);
  } else {
    const bool is_std = from.take("St");
    from.take("L");
    if (const std::string_view name = from.take_name(); !name.empty())
      out = (is_std ? "std::" : "") + std::string(name);
  }
  return out.empty() ? std::string(symbol) : out;
}

} // namespace dnheap
