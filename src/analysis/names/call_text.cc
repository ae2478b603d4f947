#include "analysis/names/call_text.h"

#include "algorithms/repeats.h"
#include "base/text.h"

namespace dnheap {

namespace {

constexpr u64 most_named = 4; // methods of a pattern that are named

} // namespace

std::string calls_text(std::span<const std::string> calls, const char *between) {
  std::string out;
  for (u64 i = 0; i < calls.size() && i < most_named; ++i)
    out += (i ? between : "") + calls[i];
  if (calls.size() > most_named)
    out += between + ("… " + count_text(calls.size() - most_named) + " more");
  return out;
}

std::vector<std::string> folded_calls(const std::vector<std::string> &methods, const char *between) {
  std::vector<std::string> out;
  for (const Repeat &repeat : repeats_of(methods)) {
    std::string text = calls_text(std::span(methods).subspan(repeat.first, repeat.length), between);
    if (repeat.length > 1)
      text = "(" + text + ")";
    if (repeat.times > 1)
      text += " ×" + count_text(repeat.times);
    out.push_back(std::move(text));
  }
  return out;
}

} // namespace dnheap
