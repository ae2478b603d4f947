// `inspect regex`: regular expressions, how they are executed, and how many different patterns they have. Whenever a
// program creates an equal expression again, it is parsed again and, if compiled, gets native code again.
#include "algorithms/equal_contents.h"
#include "analysis/inspectors/inspector.h"
#include "analysis/names/compiled_names.h"
#include "analysis/shapes/base_types.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/held_by.h"
#include "analysis/shapes/largest_first.h"
#include "analysis/shapes/string_contents.h"
#include "analysis/shapes/typed_objects.h"
#include "analysis/shapes/unknown_shape.h"
#include "base/text.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;

constexpr const char *regex_type = "System.Text.RegularExpressions.Regex";
// Base types of objects that refer to the Regex they belong to.
constexpr const char *regex_parts[] = {"System.Text.RegularExpressions.RegexRunner",
                                       "System.Text.RegularExpressions.Match",
                                       "System.Text.RegularExpressions.MatchCollection"};

// Names the engine by the type of a Regex's runner factory.
struct RegexEngine {
  const char *factory, *name;
};
constexpr RegexEngine regex_engines[] = {
    {"System.Text.RegularExpressions.RegexInterpreterFactory", "interpreted"},
    {"System.Text.RegularExpressions.CompiledRegexRunnerFactory", "compiled"},
    {"System.Text.RegularExpressions.Symbolic.SymbolicRegexRunnerFactory", "non-backtracking"}};
constexpr const char *regex_options[] = {
    "IgnoreCase",  "Multiline",  "ExplicitCapture", "Compiled",         "Singleline",     "IgnorePatternWhitespace",
    "RightToLeft", "option 128", "ECMAScript",      "CultureInvariant", "NonBacktracking"};

struct RegexGroup {
  u64 count = 0;
  std::set<ContentHash> patterns;
  bool has_all_patterns = true;
  Address example = 0;
};
struct RegexKey {
  std::string type, engine, options;
  bool is_cached;
  std::string held_by;
  auto operator<=>(const RegexKey &) const = default;
};
using RegexGroups = std::map<RegexKey, RegexGroup>;

std::string options_text(u32 options) {
  std::vector<std::string> out;
  for (u32 i = 0; i < 32; ++i)
    if (options >> i & 1)
      out.push_back(i < std::size(regex_options) ? regex_options[i] : fmt::format("option {}", u32{1} << i));
  return out.empty() ? "None" : fmt::format("{}", fmt::join(out, ", "));
}

// Returns the engine. Source-generated code has a factory of its own.
std::string engine_of(const Runtime &runtime, FieldReader &fields, Address factory) {
  const Address type = fields.type_of(factory);
  if (!type)
    return "";
  const std::string &name = runtime.types().name(type);
  for (const RegexEngine &engine : regex_engines)
    if (name == engine.factory)
      return engine.name;
  return "generated";
}

report::Table regex_table(const RegexGroups &groups) {
  using G = RegexGroups::value_type;
  const std::vector<const G *> sorted = largest_first(groups, &RegexGroup::count);
  report::Table table = report::ColumnsOf<G>{
      {{"count", "Count", Kind::count}, [](const G &g) { return g.second.count; }},
      {{"patterns", "Patterns", Kind::count},
       [](const G &g) { return g.second.has_all_patterns ? Cell(u64{g.second.patterns.size()}) : Cell(); }},
      {{"engine", "Run", Kind::text}, [](const G &g) { return report::text_cell(g.first.engine); }},
      {{"options", "Options", Kind::text}, [](const G &g) { return g.first.options; }},
      {{"is_cached", "", Kind::boolean, report::Shown::in_data}, [](const G &g) { return g.first.is_cached; }},
      {{"type", "Type", Kind::text}, [](const G &g) { return g.first.type; }},
      {{"held_by", "Held by", Kind::text}, [](const G &g) { return g.first.held_by; }},
      {{"example", "Example", Kind::address}, [](const G &g) {
         return g.second.example;
       }}}.table("regex", "", sorted);
  u64 sum = 0;
  for (const auto &[key, group] : groups)
    sum += group.count;
  table.total = total_row(table, {{"count", sum}, {"type", total_of(sorted.size(), "row")}});
  for (const G *one : first_of(sorted))
    explain_compiled_names(one->first.held_by, table.notes);
  table.notes.insert(table.notes.begin(),
                     "Patterns: number of different patterns. If Count is much larger, one static Regex per pattern "
                     "would be enough");
  return table;
}

// Returns the regexes in RegexCache, which Regex.IsMatch(text, pattern) and the like use.
std::set<Address> cached_regexes(const Snapshot &snapshot, FieldReader &fields) {
  std::set<Address> out;
  for (const TypedObject &node : objects_called(snapshot, "System.Text.RegularExpressions.RegexCache+Node"))
    out.insert(fields.reference_or_null(node.address, "Regex"));
  return out;
}

} // namespace

void inspect_regex(const Snapshot &snapshot, const Question &, report::Answer &answer) {
  const Runtime &runtime = snapshot.runtime();
  const BaseTypes bases(runtime);
  FieldReader fields(runtime);
  const std::vector<TypedObject> objects =
      objects_that(snapshot, [&](Address mt) { return bases.derives(mt, regex_type); });
  const std::vector<Address> parts = addresses_of(objects_that(snapshot, [&](Address mt) {
    return std::any_of(std::begin(regex_parts), std::end(regex_parts),
                       [&](const char *base) { return bases.derives(mt, base); });
  }));
  HeldBy holders(snapshot, worth_the_same(objects), parts);
  const std::set<Address> cached = cached_regexes(snapshot, fields);
  const std::vector<bool> is_string = string_types(snapshot.references().types(), runtime);
  const StringLayout layout = string_layout(runtime);
  const bool are_blanked = snapshot.target().has_blanked_values();
  ReferenceReader reader(snapshot.references());
  RegexGroups groups;
  u64 unknown = 0;
  for (u64 i = 0; i < objects.size(); ++i) {
    if (i % 1024 == 0)
      snapshot.watch().check();
    const Address object = objects[i].address;
    const std::optional<u32> options = fields.number<u32>(object, "roptions");
    const std::optional<Address> pattern = fields.reference(object, "pattern"),
                                 factory = fields.reference(object, "factory");
    if (!options || !pattern || !factory) {
      ++unknown;
      continue;
    }
    RegexGroup &group = groups[{runtime.types().name(objects[i].method_table), engine_of(runtime, fields, *factory),
                                options_text(*options), cached.contains(object), holders.of(object)}];
    if (group.count++ == 0)
      group.example = object;
    OpenedObject string;
    std::optional<Bytes> characters;
    if (!are_blanked && reader.open(*pattern, string) && is_string[static_cast<u32>(string.id)])
      characters = characters_of(string, layout, snapshot.references().format().byte_order);
    if (characters)
      group.patterns.insert(content_hash(*characters));
    else
      group.has_all_patterns = false;
  }
  answer.tables.push_back(regex_table(groups));
  if (unknown)
    answer.completeness->notes.add(unknown_shape_note(unknown, regex_type, "it"));
  const auto most = largest_first(groups, &RegexGroup::count);
  if (!most.empty())
    answer.next_command = hex(most.front()->second.example);
}

} // namespace dnheap
