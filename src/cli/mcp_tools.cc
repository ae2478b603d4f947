#include "cli/mcp_tools.h"

#include "cli/options/shell_line.h"
#include "cli/options/values.h"
#include "dnheap/error.h"
#include "dnheap/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace dnheap::cli {

namespace {

using mcp::Json;

constexpr u64 default_rows = 20, most_rows = 10'000;

// False for verbs that write files, or read files other than the targets.
bool is_tool(const Verb &verb, std::size_t targets) {
  const bool reads_limits = std::ranges::find(verb.takes, Takes::limits) != verb.takes.end();
  return verb.needs_target && !verb.makes_file && !reads_limits && (!verb.takes_several || targets > 1);
}

bool is_argument(const Verb &verb, const Option &option, bool values) {
  if (!takes(verb, option))
    return false;
  if (const Takes *what = std::get_if<Takes>(&option.needs))
    return *what == Takes::values ? values : *what != Takes::symbols;
  const Needs *needs = std::get_if<Needs>(&option.needs);
  if (!needs)
    return false;
  return *needs == Needs::sort_columns || *needs == Needs::by || *needs == Needs::tables ||
         std::string_view(option.name) == "top" || std::string_view(option.name) == "verbose";
}

std::string key_of(const Option &option) {
  std::string out = option.name;
  std::ranges::replace(out, '-', '_');
  return out;
}

Json schema_of(const Verb &verb, const Option &option) {
  Json value;
  if (!option.value)
    value = {{"type", "boolean"}};
  else if (const std::vector<std::string_view> words = words_of_value(verb, option); !words.empty())
    value = {{"type", "string"}, {"enum", words}};
  else if (std::string_view(option.value) == "N")
    value = {{"type", "integer"}, {"minimum", 0}};
  else
    value = {{"type", "string"}};
  if (option.several == Several::all_count)
    value = {{"type", "array"}, {"items", std::move(value)}};
  if (std::string_view(option.name) == "top")
    value = {{"type", "integer"},
             {"minimum", 1},
             {"maximum", most_rows},
             {"description", fmt::format("at most this many rows of each table (default {})", default_rows)}};
  else
    value["description"] = option.help;
  return value;
}

Json subject_schema(const Verb &verb) {
  Json out = {{"type", "string"}, {"description", fmt::format("{} {}", verb.subject_asked, verb.subject)}};
  if (!verb.subjects.empty())
    out["enum"] = verb.subjects;
  return out;
}

Json target_schema(const Verb &verb, const std::vector<std::string> &names) {
  Json one = {{"type", "string"}, {"enum", names}};
  if (verb.takes_several)
    return {{"type", "array"}, {"items", one}, {"minItems", 2}, {"description", "which dumps, the oldest first"}};
  one["description"] = names.size() > 1 ? "which dump" : "the only dump that is open";
  return one;
}

std::size_t number_of_target(const Json &name, const std::vector<std::string> &names) {
  const auto at = name.is_string() ? std::ranges::find(names, name.get<std::string>()) : names.end();
  if (at == names.end())
    throw UsageError(fmt::format("there is no such file; the files are: {}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(at - names.begin());
}

std::string value_text(const std::string &key, const Json &value) {
  if (value.is_string())
    return value;
  if (value.is_number_unsigned())
    return value.dump();
  throw UsageError("'" + key + "' is neither a text nor a whole number");
}

void add_option(std::vector<std::string> &words, const Option &option, const std::string &key, const Json &value) {
  const std::string name = "--" + std::string(option.name);
  if (!option.value) {
    if (!value.is_boolean())
      throw UsageError("'" + key + "' needs true or false");
    if (value.get<bool>())
      words.push_back(name);
    return;
  }
  if (option.several == Several::all_count && value.is_array()) {
    for (const Json &one : value)
      words.push_back(name + "=" + value_text(key, one));
    return;
  }
  if (std::string_view(option.name) == "top" && (!value.is_number_unsigned() || value > most_rows || value < 1))
    throw UsageError(fmt::format("'top' needs a number from 1 to {}", most_rows));
  words.push_back(name + "=" + value_text(key, value));
}

} // namespace

std::vector<std::string> names_of_targets(const std::vector<std::string> &targets) {
  std::vector<std::string> out;
  for (const std::string &target : targets)
    out.push_back(target.substr(target.find_last_of('/') + 1));
  const std::vector<std::string> short_ones = out;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::ranges::count(short_ones, short_ones[i]) > 1 || out[i].empty())
      out[i] = targets[i];
  return out;
}

std::vector<mcp::Tool> mcp_tools(std::span<const Verb> verbs, const std::vector<std::string> &names, bool values) {
  std::vector<mcp::Tool> out;
  for (const Verb &verb : verbs) {
    if (!is_tool(verb, names.size()))
      continue;
    Json properties = Json::object(), required = Json::array();
    const char *target = verb.takes_several ? "files" : "file";
    properties[target] = target_schema(verb, names);
    if (names.size() > 1)
      required.push_back(target);
    if (!verb.subject.empty()) {
      properties["subject"] = subject_schema(verb);
      if (!verb.subject_is_optional)
        required.push_back("subject");
    }
    for (const Option &option : option_table())
      if (is_argument(verb, option, values))
        properties[key_of(option)] = schema_of(verb, option);
    Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty())
      schema["required"] = std::move(required);
    out.push_back({std::string(verb.name), fmt::format("{} {}", verb.question, verb.details), std::move(schema)});
  }
  return out;
}

ToolWords words_of_call(const Verb &verb, const Json &arguments, const std::vector<std::string> &names, bool values) {
  ToolWords out;
  std::string subject;
  bool has_top = false;
  for (const auto &[key, value] : arguments.items()) {
    if (key == "file" && !verb.takes_several) {
      out.targets = {number_of_target(value, names)};
    } else if (key == "files" && verb.takes_several) {
      if (!value.is_array())
        throw UsageError("'files' needs a list of files, the oldest first");
      for (const Json &name : value)
        out.targets.push_back(number_of_target(name, names));
    } else if (key == "subject" && !verb.subject.empty()) {
      subject = value_text(key, value);
    } else {
      const auto option = std::ranges::find_if(
          option_table(), [&](const Option &one) { return key_of(one) == key && is_argument(verb, one, values); });
      if (option == option_table().end())
        throw UsageError("'" + std::string(verb.name) + "' takes no '" + printable_text(key) + "'" +
                         (key == "values" && !values ? ": dnheap mcp was started without --values" : ""));
      has_top |= key == "top";
      add_option(out.words, *option, key, value);
    }
  }
  if (!has_top)
    out.words.push_back(fmt::format("--top={}", default_rows));
  if (out.targets.empty() && !verb.takes_several && names.size() == 1)
    out.targets = {0};
  if (out.targets.empty())
    throw UsageError(
        fmt::format("which {}? The files are: {}", verb.takes_several ? "files" : "file", fmt::join(names, ", ")));
  // "--" keeps the model's words from being taken for options.
  out.words.insert(out.words.end(), {"--", std::string(verb.name)});
  if (!(verb.answers_alone && (subject == "list" || !verb.needs_target)))
    for (std::size_t target : out.targets)
      out.words.push_back(std::to_string(target));
  if (!subject.empty())
    out.words.push_back(subject);
  return out;
}

std::string tool_call_text(const std::string &command, const std::string &target,
                           const std::vector<std::string> &names) {
  try {
    const std::vector<std::string> all = parse_line(command).words;
    const std::vector<std::string_view> words(all.begin() + 1, all.end()); // without "dnheap"
    const Options options = parse_options(words, verbs());
    if (!is_tool(*options.verb, names.size()) || options.verb->takes_several)
      return command;
    Json arguments = Json::object();
    if (names.size() > 1)
      arguments["file"] = target;
    if (!options.question.subject.empty())
      arguments["subject"] = options.question.subject;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!words[i].starts_with("--"))
        continue;
      const std::string_view name = words[i].substr(2, words[i].find('=') - 2);
      const auto option = std::ranges::find(option_table(), name, &Option::name);
      if (option == option_table().end() || !is_argument(*options.verb, *option, false))
        continue;
      if (!option->value)
        arguments[key_of(*option)] = true;
      else
        arguments[key_of(*option)] =
            words[i].find('=') != words[i].npos ? words[i].substr(words[i].find('=') + 1) : words[++i];
    }
    return std::string(options.verb->name) + " " + arguments.dump();
  } catch (const UsageError &) {
    return command; // it needs a terminal, or a running process
  }
}

std::string left_out_text(const Json &answer) {
  std::string out;
  if (const auto left_out = answer.find("left_out"); left_out != answer.end())
    for (const auto &[name, rows] : left_out->items())
      out += fmt::format("{}{}more rows of '{}'", out.empty() ? "" : ", ",
                         rows.is_number() ? count_text(rows.get<u64>()) + " " : "", name);
  return out.empty() ? "" : "there are " + out + "; ask with a larger 'top' for these";
}

std::string cut_to_size(Json &answer, std::size_t most_bytes) {
  const auto size_of = [](const Json &json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace).size();
  };
  struct List {
    std::string name;
    Json *rows;
    std::size_t before, bytes;
  };
  std::vector<List> lists;
  const auto add = [&](const std::string &name, Json &rows) {
    if (rows.is_array())
      lists.push_back({name, &rows, rows.size(), size_of(rows)});
  };
  for (auto &[name, rows] : answer["tables"].items())
    add(name, rows);
  if (answer.contains("completeness"))
    for (const char *name : {"gaps", "notes"})
      if (answer["completeness"].contains(name))
        add(name, answer["completeness"][name]);
  for (std::size_t size = size_of(answer); size > most_bytes;) {
    const auto longest =
        std::ranges::max_element(lists, {}, [](const List &list) { return list.rows->empty() ? 0 : list.bytes; });
    if (longest == lists.end() || longest->rows->empty())
      break;
    longest->rows->get_ref<Json::array_t &>().resize(longest->rows->size() / 2);
    size -= std::exchange(longest->bytes, size_of(*longest->rows));
    size += longest->bytes;
  }
  std::string out;
  for (const List &list : lists)
    if (list.rows->size() < list.before)
      out += fmt::format("{}{} of {} rows of '{}'", out.empty() ? "" : ", ", list.rows->size(), list.before, list.name);
  return out.empty() ? ""
                     : "the answer was too large and was cut: it has only " + out +
                           "; ask for less: a smaller top, a filter, one table";
}

} // namespace dnheap::cli
