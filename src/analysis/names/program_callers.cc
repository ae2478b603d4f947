#include "analysis/names/program_callers.h"

#include "analysis/names/compiled_names.h"
#include "base/text.h"
#include "metadata/type_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace dnheap {

namespace {

constexpr u64 most_named_callers = 2;

// Methods of asynchronous calls are MoveNext of a type that is called as the method: "Shop.Cart+<Pay>d__11".
std::string words_of(const std::string &method) {
  constexpr std::string_view step = ".MoveNext";
  const std::string name = without_arity_marks(method);
  if (name.ends_with(step)) {
    const std::string box = "AsyncStateMachineBox<" + name.substr(0, name.size() - step.size()) + ">";
    if (std::string call = call_of_box(box); !call.empty())
      return call;
  }
  return method_in_words(name);
}

} // namespace

std::string ProgramCaller::brief_callee() const {
  const std::string plain = without_arity_marks(callee_type);
  const std::string brief = plain.substr(plain.find_last_of(".+") + 1);
  return callee == ".ctor" ? brief : brief + "." + callee;
}

std::vector<ProgramCaller> find_callers(const ProgramIl &il, const IsWanted &is_wanted) {
  std::vector<ProgramCaller> out;
  for (const ProgramModule &module : il.modules()) {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    for (const ProgramMember &member : module.members)
      if (is_wanted(member.type, member.name, member.use))
        for (u32 method : member.methods)
          out.push_back({&module, method, words_of(module.name_of(method)), member.type, std::string(member.name),
                         module.has_run(method)});
    auto key = [](const ProgramCaller &one) { return std::tie(one.method, one.callee_type, one.callee); };
    std::sort(out.begin() + begin, out.end(),
              [&](const ProgramCaller &a, const ProgramCaller &b) { return key(a) < key(b); });
    out.erase(std::unique(out.begin() + begin, out.end(),
                          [&](const ProgramCaller &a, const ProgramCaller &b) { return key(a) == key(b); }),
              out.end());
  }
  return out;
}

std::vector<ProgramCaller> first_run(std::vector<ProgramCaller> callers) {
  if (std::ranges::any_of(callers, &ProgramCaller::has_run))
    std::erase_if(callers, [](const ProgramCaller &one) { return !one.has_run; });
  return callers;
}

bool none_ran(const ProgramIl &il, const std::vector<ProgramCaller> &callers) {
  return il.is_run_known() ? std::ranges::none_of(callers, &ProgramCaller::has_run) : callers.empty();
}

std::vector<ProgramCaller> find_makers(const ProgramIl &il, std::string_view type) {
  const std::string open = open_type_name(type);
  return first_run(find_callers(
      il, [&](std::string_view name, std::string_view, IlUse use) { return use == IlUse::makes && name == open; }));
}

std::string callers_text(const std::vector<ProgramCaller> &callers) {
  std::vector<std::string> names;
  for (const ProgramCaller &one : callers)
    if (std::ranges::find(names, one.name) == names.end())
      names.push_back(one.name);
  if (names.empty())
    return "";
  if (names.size() == 1)
    return names[0];
  if (names.size() == most_named_callers)
    return names[0] + " and " + names[1];
  const u64 others = names.size() - most_named_callers;
  return fmt::format("{}, {} and {} {}", names[0], names[1], count_text(others), others == 1 ? "other" : "others");
}

std::string open_type_name(std::string_view name) {
  std::string out;
  u64 depth = 0, arguments = 0;
  for (u64 i = 0; i < name.size(); ++i) {
    const char c = name[i];
    // Names that compilers make up have brackets, too, but at the beginning of a name.
    const bool opens = c == '<' && (depth || (i && name[i - 1] != '.' && name[i - 1] != '+'));
    if (opens && depth++ == 0)
      arguments = 1;
    else if (depth == 1 && c == ',')
      ++arguments;
    else if (c == '>' && depth && --depth == 0)
      out += fmt::format("`{}", arguments);
    else if (!depth)
      out += c;
  }
  return out;
}

} // namespace dnheap
