#include "analysis/shapes/gc_settings.h"

#include "analysis/shapes/dictionary_entries.h"
#include "base/digits.h"
#include "runtime/string_object.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 auxv_file_name = 31;             // AT_EXECFN
constexpr u64 most_environment = u64{6} << 20; // the kernel's limit for arguments and environment
constexpr u64 longest_value = 200;
constexpr u32 most_properties = 4096;
constexpr std::string_view limit_names[] = {"GCHeapHardLimit", "System.GC.HeapHardLimit"};
constexpr std::string_view property_prefix = "System.GC.";

std::optional<u64> number_of(std::string_view text, int base) {
  if (text.starts_with("0x") || text.starts_with("0X"))
    text.remove_prefix(2), base = 16;
  return number_of_digits(text, base);
}

bool is_limit(std::string_view name) {
  return std::ranges::any_of(limit_names, [&](std::string_view one) { return name.ends_with(one); });
}

// On Linux the kernel puts the strings of the environment directly below the program's file name.
void add_environment(const Target &target, GCSettings &to) {
  const auto file_name = target.auxv.find(auxv_file_name);
  if (file_name == target.auxv.end() || !file_name->second) {
    to.problems.add(Subject::gc, Effect::none,
                    "the place of this target's environment variables is unknown: GC settings in them are missing");
    return;
  }
  const Address end = file_name->second;
  const Range *range = target.memory.find(end - 1);
  const u64 size = range ? std::min(end - range->address, most_environment) : 0;
  const Bytes bytes = size ? target.memory.peek_up_to(end - size, size) : Bytes();
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (text.empty() || std::ranges::all_of(text, [](char c) { return c == 0; })) {
    to.problems.add(Subject::gc, Effect::none,
                    "the environment variables are not in this dump: GC settings in them are missing");
    return;
  }
  while (!text.empty()) {
    const std::size_t zero = std::min(text.find('\0'), text.size());
    if (std::optional<GCSetting> found = gc_setting_of_variable(text.substr(0, zero)))
      to.list.push_back(std::move(*found));
    text.remove_prefix(std::min(zero + 1, text.size()));
  }
}

// `dictionary` is a Dictionary<string, object>, whose values are strings.
void add_properties(const Runtime &runtime, Address dictionary, GCSettings &to) {
  FieldReader fields(runtime);
  const auto entries = dictionary_entries(runtime, fields, dictionary, most_properties);
  if (!entries) {
    to.problems.add(Subject::gc, Effect::none, "the GC settings in AppContext could not be read");
    return;
  }
  auto text_of = [&](Address object) {
    if (!object || runtime.types().name(fields.type_of(object)) != "System.String")
      return std::string();
    const std::optional<StringText> text = string_text(runtime, object, longest_value);
    return text ? text->text : std::string();
  };
  for (const DictionaryEntry &entry : *entries) {
    std::string name = text_of(entry.key);
    if (!name.starts_with(property_prefix))
      continue;
    GCSetting found{std::move(name), text_of(entry.value)};
    if (is_limit(found.name))
      found.hard_limit = number_of(found.value, 10);
    to.list.push_back(std::move(found));
  }
}

} // namespace

std::optional<GCSetting> gc_setting_of_variable(std::string_view variable) {
  const std::size_t equals = variable.find('=');
  std::string_view name = variable.substr(0, equals), rest;
  if (equals == variable.npos)
    return std::nullopt;
  for (std::string_view prefix : {"DOTNET_", "COMPlus_"})
    if (name.starts_with(prefix))
      rest = name.substr(prefix.size());
  if (rest.size() < 3 || (rest[0] != 'G' && rest[0] != 'g') || (rest[1] != 'C' && rest[1] != 'c'))
    return std::nullopt;
  const std::string_view value = variable.substr(equals + 1).substr(0, longest_value);
  return GCSetting{std::string(name), std::string(value), true, is_limit(name) ? number_of(value, 16) : std::nullopt};
}

const GCSetting *GCSettings::hard_limit() const {
  const auto found = std::ranges::find_if(list, [](const GCSetting &one) { return one.hard_limit.value_or(0) > 0; });
  return found == list.end() ? nullptr : &*found;
}

GCSettings find_gc_settings(const Snapshot &snapshot) {
  GCSettings out;
  if (snapshot.target().has_blanked_values()) {
    out.problems.add(Subject::gc, Effect::none, "this core was extracted with --no-values: GC settings are not in it");
    return out;
  }
  if (snapshot.target().os == OperatingSystem::linux_os)
    add_environment(snapshot.target(), out);
  else
    out.problems.add(Subject::gc, Effect::none,
                     "environment variables are only read on Linux: GC settings in them are missing");
  Notes unsaid; // the listing of roots reports these problems
  std::vector<StaticRoot> statics;
  try {
    statics = snapshot.runtime().static_roots(unsaid);
  } catch (const Error &) { // the store is then reported as not found
  }
  const auto store =
      std::ranges::find_if(statics, [](const StaticRoot &one) { return one.name == "System.AppContext.s_dataStore"; });
  if (store != statics.end())
    add_properties(snapshot.runtime(), store->object, out);
  else
    out.problems.add(Subject::gc, Effect::none,
                     "the properties of AppContext were not found: GC settings in runtimeconfig.json are missing");
  return out;
}

} // namespace dnheap
