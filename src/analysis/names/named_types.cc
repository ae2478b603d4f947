#include "analysis/names/named_types.h"

#include "analysis/names/csharp_name.h"
#include "analysis/names/subject.h"
#include "base/nearest.h"
#include "base/not_found.h"
#include "base/text.h"

#include <algorithm>
#include <map>
#include <re2/re2.h>

namespace dnheap {

namespace {

using Names = std::vector<std::string>;

Names names_on_heap(const Snapshot &snapshot) {
  Names out;
  for (const TypeTally &type : snapshot.tally().types)
    out.push_back(snapshot.runtime().types().name(type.method_table));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Names matching(const Names &names, const RE2 &expression) {
  Names out;
  std::copy_if(names.begin(), names.end(), std::back_inserter(out),
               [&](const std::string &name) { return RE2::PartialMatch(name, expression); });
  return out;
}

Names written_in_csharp(const Names &names, const std::string &word) {
  Names out;
  for (CSharpName::Question question : {CSharpName::Question::nullable, CSharpName::Question::nothing})
    if (std::optional<CSharpName> written = CSharpName::read(word, question); written && out.empty())
      std::copy_if(names.begin(), names.end(), std::back_inserter(out),
                   [&](const std::string &name) { return written->means(name); });
  return out;
}

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

// Returns "Order" for Shop.Order.
std::string_view without_namespace(std::string_view name) {
  const std::size_t dot = name.substr(0, name.find_first_of("<+[")).rfind('.');
  return dot == name.npos || dot + 1 == name.size() ? name : name.substr(dot + 1);
}

// Returns ", did you mean 'Shop.Order'?", or advice how to search.
std::string suggestion(const Names &names, const std::string &word) {
  const std::size_t slips = word.size() / 3 + 1;
  std::map<std::string_view, const std::string *> full_name; // by the spelling that may have been meant
  for (const std::string &name : names)
    for (std::string_view spelling : {std::string_view(name), without_namespace(name)}) {
      if (lower_case(spelling) == lower_case(word))
        return ", did you mean '" + name + "'?";
      const bool is_near = spelling.size() <= word.size() + slips && word.size() <= spelling.size() + slips;
      if (is_near || spelling.starts_with(word))
        full_name.emplace(spelling, &name);
    }
  std::vector<std::string_view> spellings;
  for (const auto &[spelling, name] : full_name)
    spellings.push_back(spelling);
  const std::string_view best = nearest(word, spellings);
  return best.empty() ? "; dnheap stat --type '(?i)…' finds names in upper or lower case"
                      : ", did you mean '" + *full_name[best] + "'?";
}

[[noreturn]] void fail(const Snapshot &snapshot, const Names &names, const std::string &word, const char *what) {
  const bool all = snapshot.heap().gaps().empty() && snapshot.tally().walk.gaps.empty();
  const Notes unknown = snapshot.runtime().types().notes();
  throw NotFound(std::string("no type on this heap") + (all ? "" : ", as far as it could be read,") + " is called '" +
                 printable(word, 200) + "'" + what +
                 (unknown.empty() ? "" : ", but not all names are known (" + unknown.front().text + ")") +
                 suggestion(names, word));
}

// A word such as "0x7f00c0de" cannot be a name.
std::optional<std::string> name_at(const Snapshot &snapshot, const std::string &word) {
  const std::optional<Address> address = word.starts_with("0x") ? written_address(word) : std::nullopt;
  if (!address || !is_method_table(snapshot, *address))
    return std::nullopt;
  return snapshot.runtime().types().name(*address);
}

// Finds a full name, a C# name, or a MethodTable's address; otherwise returns no names.
NamedTypes called(const Snapshot &snapshot, const Names &names, const std::string &word) {
  if (std::optional<std::string> name = name_at(snapshot, word))
    return {NamedTypes::How::method_table, {std::move(*name)}};
  if (std::binary_search(names.begin(), names.end(), word))
    return {NamedTypes::How::full_name, {word}};
  return {NamedTypes::How::csharp, written_in_csharp(names, word)};
}

} // namespace

bool NamedTypes::has(const std::string &name) const { return std::binary_search(names.begin(), names.end(), name); }

std::string NamedTypes::note(const std::string &word) const {
  if (how == How::full_name || names.empty())
    return "";
  if (how == How::method_table)
    return word + " is the MethodTable of " + names.front();
  if (how == How::expression)
    return "no type is called " + word + ": these are the types whose names match it";
  constexpr std::size_t most = 3;
  std::string out = word + " is taken for ";
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    out += (i == 0 ? "" : ", ") + names[i];
  return names.size() > most ? out + " and " + count_text(names.size() - most) + " more" : out;
}

NamedTypes types_called(const Snapshot &snapshot, const std::string &word) {
  const Names names = names_on_heap(snapshot);
  NamedTypes out = called(snapshot, names, word);
  if (out.names.empty())
    fail(snapshot, names, word, "");
  return out;
}

std::vector<std::string> names_called(const Snapshot &snapshot, const std::vector<std::string> &words) {
  std::vector<std::string> out;
  for (const std::string &word : words)
    for (const std::string &name : types_called(snapshot, word).names)
      out.push_back(name);
  return out;
}

NamedTypes types_called_or_like(const Snapshot &snapshot, const std::string &word) {
  const Names names = names_on_heap(snapshot);
  NamedTypes out = called(snapshot, names, word);
  if (!out.names.empty())
    return out;
  const RE2 expression(word, quiet());
  if (expression.ok())
    out = {NamedTypes::How::expression, matching(names, expression)};
  else if (!CSharpName::read(word))
    throw UsageError("no type is called '" + word + "', nor is it a regular expression: " + expression.error());
  if (out.names.empty())
    fail(snapshot, names, word, expression.ok() ? " or matches it" : "");
  return out;
}

NamedTypes types_like(const Snapshot &snapshot, const std::string &text) {
  const Names names = names_on_heap(snapshot);
  if (std::optional<std::string> name = name_at(snapshot, text))
    return {NamedTypes::How::method_table, {std::move(*name)}};
  const RE2 expression(text, quiet());
  NamedTypes out{NamedTypes::How::expression, expression.ok() ? matching(names, expression) : Names()};
  if (!out.names.empty())
    return out;
  if (!expression.ok() && !CSharpName::read(text))
    throw UsageError("--type " + text + ": " + expression.error());
  return {NamedTypes::How::csharp, written_in_csharp(names, text)};
}

} // namespace dnheap
