#include "lookout/condition.h"

#include "base/nearest.h"
#include "base/sizes.h"

#include <algorithm>
#include <charconv>

namespace dnheap {

namespace {

constexpr std::string_view oom = "oom";
constexpr u64 near_limit = 95; // % of the container's limit: the kernel may end the process any moment
constexpr u64 hysteresis = 95; // % of the condition's value, below which it is false again

std::vector<std::string_view> condition_words() {
  std::vector<std::string_view> out;
  for (u64 i = 0; i < figure_count; ++i)
    out.push_back(name_of(static_cast<Figure>(i)));
  out.push_back(oom);
  return out;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

std::string list(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words)
    out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

[[noreturn]] void refuse(std::string_view text, const std::string &why) {
  throw UsageError("'" + std::string(text) + "' is not a condition: " + why);
}

void set_threshold(Condition &out, std::string_view value) {
  if (value.ends_with('%')) {
    const std::string_view digits = value.substr(0, value.size() - 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.percent);
    if (error != std::errc() || end != digits.data() + digits.size() || out.percent < 1 || out.percent > 100)
      refuse(out.text, "a share of the container's limit is from 1% to 100%");
    return;
  }
  const std::optional<u64> bytes = parse_size(value);
  if (!bytes || *bytes == 0)
    refuse(out.text, "> needs a size such as 800M or 1.5G, or a share of the container's limit such as 90%");
  out.bytes = *bytes;
}

Condition parse_one(std::string_view text) {
  Condition out;
  out.text = text;
  const std::vector<std::string_view> words = condition_words();
  const std::size_t sign = text.find_first_of("<>=");
  const std::string_view name = trimmed(text.substr(0, sign));
  const auto at = std::ranges::find(words, name);
  if (at == words.end())
    refuse(text, "'" + std::string(name) + "' is none of " + list(words) + did_you_mean(name, words));
  if (name == oom) {
    if (sign != text.npos)
      refuse(text, "oom takes no size");
    return out;
  }
  if (sign == text.npos || text[sign] != '>' || text.substr(sign + 1).starts_with('='))
    refuse(text, "the name needs > and a size, as in " + std::string(name) + ">1.5G");
  out.figure = static_cast<Figure>(at - words.begin());
  set_threshold(out, trimmed(text.substr(sign + 1)));
  return out;
}

Level level_of(u64 value, u64 threshold) {
  return value > threshold ? Level::above : value > threshold / 100 * hysteresis ? Level::between : Level::below;
}

Level level_of_oom(const Figures &figures) {
  if (!figures.ran_out.empty())
    return Level::above;
  const std::optional<u64> used = figures.of(Figure::container);
  return used && figures.limit ? level_of(*used, *figures.limit / 100 * near_limit) : Level::below;
}

} // namespace

std::vector<Condition> parse_conditions(std::string_view text) {
  std::vector<Condition> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    out.push_back(parse_one(trimmed(text.substr(at, end - at))));
    at = end + 1;
  }
  return out;
}

Level level_of(const Condition &condition, const Figures &figures) {
  if (!condition.figure)
    return level_of_oom(figures);
  const std::optional<u64> value = figures.of(*condition.figure);
  if (!value || (condition.percent && !figures.limit))
    return Level::unknown;
  return level_of(*value, condition.percent ? *figures.limit / 100 * condition.percent : condition.bytes);
}

} // namespace dnheap
