#include "analysis/records/budget.h"

#include "analysis/process/memory_class.h"
#include "base/error.h"
#include "base/host/host.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/sizes.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <re2/re2.h>

namespace dnheap {

namespace {

constexpr u64 largest_budget = 1 << 20;
constexpr u64 most_limits = 10000;

using Keys = std::vector<std::string_view>;

// The figures that can be limited, by part of a budget.
const Keys total_metrics = {"heap_bytes", "live_bytes", "mapped", "objects", "live_objects"};
const Keys type_metrics = {"count", "live", "bytes", "retained"};
const Keys owner_metrics = {"retained", "objects"};
const Keys class_metrics = {"bytes"};

class BudgetReader {
public:
  BudgetReader(std::string file, Budget &to) : file_(std::move(file)), to_(to) {}

  void read(const Json &root) {
    for (const Json::Member &member : members(root, "", {"$schema", "comment", "totals", "types", "owners", "account"}))
      if (member.name == "$schema" || member.name == "comment")
        text(member.value, member.name);
    if (const Json *totals = root.find("totals"))
      read_totals(*totals);
    read_list(root, "types", [&](const Json &entry, const std::string &at) {
      read_entry(entry, at, {{"type", Limit::Of::type}}, Limit::Of::type, type_metrics);
    });
    read_list(root, "owners", [&](const Json &entry, const std::string &at) {
      read_entry(entry, at, {{"owner", Limit::Of::owner}, {"signature", Limit::Of::signature}}, Limit::Of::owner,
                 owner_metrics);
    });
    read_list(root, "account", [&](const Json &entry, const std::string &at) {
      read_entry(entry, at, {{"class", Limit::Of::memory_class}, {"group", Limit::Of::group}}, std::nullopt,
                 class_metrics);
    });
    if (to_.limits.empty())
      refuse("", "limits nothing");
  }

private:
  using Names = std::vector<std::pair<std::string_view, Limit::Of>>;

  [[noreturn]] void refuse(const std::string &at, const std::string &what) const {
    throw UsageError(file_ + ": " + (at.empty() ? "the budget" : printable(at, 200)) + " " + what);
  }

  // Returns the members of an object that has no other keys than these.
  const Json::Members &members(const Json &json, const std::string &at, const Keys &keys) const {
    if (!json.is_object())
      refuse(at, "is not an object, but " + printable(json.shown(), 60));
    for (const Json::Member &member : json.members())
      if (std::find(keys.begin(), keys.end(), member.name) == keys.end())
        refuse((at.empty() ? "" : at + ".") + member.name,
               fmt::format("is unknown{}; known are {}", did_you_mean(member.name, keys), fmt::join(keys, ", ")));
    return json.members();
  }

  std::string text(const Json &json, const std::string &at) const {
    if (!json.is_text() || json.text().empty())
      refuse(at, "is not a text, but " + printable(json.shown(), 60));
    return json.text();
  }

  template <class Read> void read_list(const Json &root, const char *name, Read read) const {
    const Json *found = root.find(name);
    if (!found)
      return;
    if (!found->is_list())
      refuse(name, "is not a list, but " + printable(found->shown(), 60));
    for (u64 i = 0; i < found->list().size(); ++i)
      read(found->list()[i], fmt::format("{}[{}]", name, i));
  }

  void read_totals(const Json &json) {
    Keys keys = total_metrics;
    keys.insert(keys.end(), {"growth", "comment"});
    members(json, "totals", keys);
    read_metrics(json, "totals", Limit(), total_metrics);
  }

  // `names`: the keys that can name the entry; `by_pattern`: what "match" applies to, if it is allowed.
  void read_entry(const Json &json, const std::string &at, const Names &names, std::optional<Limit::Of> by_pattern,
                  const Keys &metrics) {
    Keys keys;
    for (const auto &[key, of] : names)
      keys.push_back(key);
    if (by_pattern)
      keys.insert(keys.end(), {"match", "each"});
    const Keys ways(keys.begin(), keys.end() - (by_pattern ? 1 : 0));
    keys.insert(keys.end(), metrics.begin(), metrics.end());
    keys.insert(keys.end(), {"growth", "comment"});
    members(json, at, keys);

    Limit limit;
    u64 named = 0;
    for (const auto &[key, of] : names)
      if (const Json *name = json.find(key)) {
        limit.of = of;
        limit.name = text(*name, at + "." + std::string(key));
        check_name(limit, at + "." + std::string(key));
        ++named;
      }
    if (const Json *match = by_pattern ? json.find("match") : nullptr) {
      limit.of = *by_pattern;
      limit.pattern = pattern(*match, at + ".match");
      ++named;
    }
    if (named != 1)
      refuse(at, fmt::format("has {} of {}: it needs exactly one", named ? "several" : "none", fmt::join(ways, ", ")));
    if (const Json *each = by_pattern ? json.find("each") : nullptr) {
      if (limit.pattern.empty() || !(each->shown() == "true" || each->shown() == "false"))
        refuse(at + ".each", limit.pattern.empty() ? "needs \"match\"" : "is neither true nor false");
      limit.each = each->shown() == "true";
    }
    read_metrics(json, at, limit, metrics);
  }

  void check_name(const Limit &limit, const std::string &at) const {
    if (limit.of == Limit::Of::signature) {
      const bool is_hex = limit.name.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!is_hex || limit.name.size() < 6 || limit.name.size() > 16)
        refuse(at, "is not a signature: 6 to 16 digits of 0-9 and a-f");
    }
    if (limit.of != Limit::Of::memory_class && limit.of != Limit::Of::group)
      return;
    Keys known;
    for (u32 i = 0; i < memory_class_count; ++i)
      if (const auto memory = static_cast<MemoryClass>(i);
          memory != MemoryClass::objects && memory != MemoryClass::reserved)
        if (const char *name = limit.of == Limit::Of::group ? group_of(memory) : name_of(memory);
            std::find(known.begin(), known.end(), name) == known.end())
          known.push_back(name);
    if (std::find(known.begin(), known.end(), limit.name) == known.end())
      refuse(at, fmt::format("is not in the account: '{}'{}; there are {}", printable(limit.name, 100),
                             did_you_mean(limit.name, known), fmt::join(known, ", ")));
  }

  std::string pattern(const Json &json, const std::string &at) const {
    const std::string out = text(json, at);
    RE2::Options options;
    options.set_log_errors(false);
    if (const RE2 expression(out, options); !expression.ok())
      refuse(at, "is not a regular expression: " + printable(expression.error(), 200));
    return out;
  }

  void read_metrics(const Json &json, const std::string &at, const Limit &like, const Keys &metrics) {
    const u64 before = to_.limits.size();
    if (const Json *comment = json.find("comment"))
      text(*comment, at + ".comment");
    add_limits(json, at, like, metrics);
    if (const Json *growth = json.find("growth")) {
      members(*growth, at + ".growth", metrics);
      Limit of_growth = like;
      of_growth.is_growth = true;
      add_limits(*growth, at + ".growth", of_growth, metrics);
    }
    if (to_.limits.size() == before)
      refuse(at, fmt::format("limits nothing: it needs {}, or growth of one of these", fmt::join(metrics, ", ")));
  }

  void add_limits(const Json &json, const std::string &at, const Limit &like, const Keys &metrics) {
    for (std::string_view metric : metrics)
      if (const Json *value = json.find(metric)) {
        Limit limit = like;
        limit.metric = metric;
        limit.place = at + "." + limit.metric;
        read_value(*value, limit);
        if (to_.limits.size() == most_limits)
          refuse(limit.place, "is one limit too many: the most is " + count_text(most_limits));
        to_.limits.push_back(std::move(limit));
      }
  }

  void read_value(const Json &json, Limit &limit) const {
    const std::string wanted =
        std::string(counts_bytes(limit) ? "a number of bytes, or a size such as \"1.5GiB\"" : "a number from 0 on") +
        (limit.is_growth ? ", or a percentage such as \"10%\"" : "");
    std::optional<u64> value;
    if (json.is_unsigned()) {
      value = json.number();
    } else if (json.is_text() && limit.is_growth && json.text().ends_with('%')) {
      value = percentage(json.text());
      limit.is_percent = true;
    } else if (json.is_text() && counts_bytes(limit)) {
      value = parse_size(json.text());
    }
    if (!value || *value > u64{1} << 62)
      refuse(limit.place, "is not " + wanted + ", but " + printable(json.shown(), 60));
    limit.most = *value;
  }

  // Returns "12.5%" in thousandths of a percent.
  static std::optional<u64> percentage(std::string_view text) {
    text.remove_suffix(1);
    if (text.empty() || text.find_first_not_of("0123456789.") != text.npos)
      return std::nullopt;
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > 1e9)
      return std::nullopt;
    return static_cast<u64>(value * 1000 + 0.5);
  }

  const std::string file_;
  Budget &to_;
};

} // namespace

bool Budget::needs_baseline() const {
  return std::any_of(limits.begin(), limits.end(), [](const Limit &limit) { return limit.is_growth; });
}

bool counts_bytes(const Limit &limit) {
  return limit.metric != "count" && limit.metric != "live" && limit.metric != "objects" &&
         limit.metric != "live_objects";
}

Budget parse_budget(std::string_view json, const std::string &file) {
  if (json.size() > largest_budget)
    throw UsageError(file + ": a budget of more than " + bytes_text(largest_budget));
  Budget out;
  try {
    BudgetReader(file, out).read(parse_json(json));
  } catch (const UsageError &) {
    throw;
  } catch (const Error &error) {
    throw UsageError(file + ": " + error.what());
  }
  return out;
}

Budget read_budget(const std::string &file) {
  std::shared_ptr<const MappedFile> mapped;
  try {
    mapped = MappedFile::open(file);
  } catch (const Error &error) {
    throw UsageError(std::string("--budget: ") + error.what());
  }
  return parse_budget(as_text(mapped->bytes()), file);
}

} // namespace dnheap
