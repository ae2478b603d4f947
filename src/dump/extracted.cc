#include "dump/extracted.h"

#include "base/json.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace dnheap::extracted {

namespace {

constexpr unsigned version = 1;
constexpr u64 largest = 64 << 20; // as JSON

constexpr Architecture architectures[] = {Architecture::unknown, Architecture::x64,   Architecture::x86,
                                          Architecture::arm64,   Architecture::arm,   Architecture::riscv64,
                                          Architecture::s390x,   Architecture::ppc64, Architecture::loongarch64};
constexpr OperatingSystem systems[] = {OperatingSystem::unknown, OperatingSystem::linux_os, OperatingSystem::windows,
                                       OperatingSystem::macos};
constexpr TakenAt::Clock clocks[] = {TakenAt::Clock::dump, TakenAt::Clock::file, TakenAt::Clock::now};
constexpr Effect effects_of_notes[] = {Effect::none, Effect::numbers, Effect::liveness};
constexpr const char *outcomes[] = {"used", "rejected", "missing"};

template <class T, std::size_t n> T named(const T (&all)[n], const std::string &name, T otherwise = T{}) {
  for (T value : all)
    if (name == name_of(value))
      return value;
  return otherwise;
}

template <std::unsigned_integral T = u64> T number(const Json &json) {
  if (json.number() > std::numeric_limits<T>::max())
    throw Error("a number is too large");
  return static_cast<T>(json.number());
}

template <std::unsigned_integral T, std::size_t n> std::array<T, n> numbers(const Json &json) {
  std::array<T, n> out;
  for (std::size_t i = 0; i < n; ++i)
    out[i] = number<T>(json.at(i));
  return out;
}

template <class List, class ToJson> std::string json_list(const List &list, ToJson to_json) {
  std::string out = "[";
  for (const auto &value : list)
    out += (out.size() == 1 ? "" : ",") + to_json(value);
  return out + "]";
}

std::string json_numbers(const auto &numbers) {
  return json_list(numbers, [](u64 number) { return std::to_string(number); });
}

std::string module_json(const Module &module) {
  std::string out = fmt::format(R"({{"path":{},"base":{},"extents":{})", json_quoted(module.path), module.base,
                                json_list(module.extents, [](const Extent &extent) {
                                  return fmt::format("[{},{},{}]", extent.start, extent.end, extent.file_offset);
                                }));
  if (module.inferred)
    out += R"(,"inferred":true)";
  if (module.pe) {
    out += fmt::format(R"(,"pe":{{"time_date_stamp":{},"size_of_image":{})", module.pe->time_date_stamp,
                       module.pe->size_of_image);
    if (module.pe->guid)
      out += R"(,"guid":)" + json_numbers(*module.pe->guid);
    if (module.pe->file_version)
      out += R"(,"file_version":)" + json_numbers(*module.pe->file_version);
    out += "}";
  }
  return out + "}";
}

Module module_of(const Json &json) {
  Module out;
  out.path = json.at("path").text();
  out.base = number(json.at("base"));
  out.inferred = json.find("inferred") && json.at("inferred").boolean();
  for (const Json &extent : json.at("extents").list())
    out.extents.push_back({number(extent.at(0)), number(extent.at(1)), number(extent.at(2))});
  if (const Json *found = json.find("pe")) {
    const Json &pe = *found;
    out.pe = PeIdentity{number<u32>(pe.at("time_date_stamp")), number<u32>(pe.at("size_of_image")), std::nullopt,
                        std::nullopt};
    if (const Json *guid = pe.find("guid"))
      out.pe->guid = numbers<u8, 16>(*guid);
    if (const Json *file_version = pe.find("file_version"))
      out.pe->file_version = numbers<u16, 4>(*file_version);
  }
  Address at = out.base;
  for (const Extent &extent : out.extents) {
    if (extent.start >= extent.end || extent.start < at)
      throw Error("a module's extents are not sound");
    at = extent.start;
  }
  return out;
}

Thread thread_of(const Json &json) {
  Thread out;
  out.id = number(json.at("id"));
  out.instruction_pointer = number(json.at("instruction_pointer"));
  out.stack_pointer = number(json.at("stack_pointer"));
  for (const Json &value : json.at("registers").list())
    out.registers.push_back(number(value));
  return out;
}

std::string crash_json(const CrashSignal &crash) {
  std::string out = fmt::format(R"({{"thread":{},"number":{})", crash.thread, crash.number);
  if (crash.code)
    out += fmt::format(R"(,"code":{})", static_cast<u32>(*crash.code));
  if (crash.sender)
    out += fmt::format(R"(,"sender":{})", crash.sender);
  if (crash.address)
    out += fmt::format(R"(,"address":{})", *crash.address);
  return out + "}";
}

CrashSignal crash_of(const Json &json) {
  CrashSignal out{.thread = number(json.at("thread")), .number = number<u32>(json.at("number"))};
  if (const Json *code = json.find("code"))
    out.code = static_cast<i32>(number<u32>(*code));
  if (const Json *sender = json.find("sender"))
    out.sender = number<u32>(*sender);
  if (const Json *address = json.find("address"))
    out.address = number(*address);
  return out;
}

Provenance provenance_of(const Json &json) {
  Provenance out;
  out.module = json.at("module").text();
  out.file = json.at("file").text();
  out.identity = json.at("identity").text();
  out.reason = json.at("reason").text();
  const std::string &outcome = json.at("outcome").text();
  out.outcome = outcome == outcomes[0]   ? Provenance::Outcome::used
                : outcome == outcomes[1] ? Provenance::Outcome::rejected
                                         : Provenance::Outcome::missing;
  return out;
}

// Earlier versions of dnheap wrote notes without effects. If the dump's bytes may be wrong, any of these notes may be
// the reason.
void read_notes(const Json &json, Notes &to) {
  const bool is_doubtful = json.at("doubtful").boolean();
  const Json *effects = json.find("effects");
  const auto &texts = json.at("notes").list();
  for (u64 i = 0; i < texts.size(); ++i)
    to.add(Subject::dump,
           effects       ? named(effects_of_notes, effects->at(i).text())
           : is_doubtful ? Effect::numbers
                         : Effect::none,
           texts[i].text());
}

void fill(const Json &json, Target &target) {
  if (number(json.at("version")) != version)
    throw Error("another version of dnheap wrote it");
  target.extraction = Extraction{json.at("from").text(), json.at("values_blanked").boolean()};
  target.container = json.at("container").text();
  if (target.container == "process") // the process cannot be read any more: this is a core of it
    target.container = "elf-core";
  target.dump_kind = json.at("dump_kind").text();
  target.os = named(systems, json.at("os").text());
  target.architecture = named(architectures, json.at("architecture").text());
  target.pid = number(json.at("pid"));
  target.program = json.at("program").text();
  target.advice = json.at("advice").text();
  read_notes(json, target.notes);
  for (const Json &module : json.at("modules").list())
    target.modules.push_back(module_of(module));
  for (const Json &thread : json.at("threads").list())
    target.threads.push_back(thread_of(thread));
  if (const Json *taken = json.find("taken"))
    target.taken = TakenAt{number(taken->at("seconds")), named(clocks, taken->at("clock").text(), TakenAt::Clock::file),
                           taken->find("ticks") ? std::optional(number(taken->at("ticks"))) : std::nullopt};
  if (const Json *crash = json.find("crash"))
    target.crash = crash_of(*crash);
  for (const Json &entry : json.at("auxv").list())
    target.auxv[number(entry.at(0))] = number(entry.at(1));
  for (const Json &range : json.at("absent").list())
    target.absent.push_back({number(range.at(0)), number(range.at(1)), range.at(2).text()});
  for (const Json &row : json.at("provenance").list())
    target.provenance.push_back(provenance_of(row));
  auto sorted = [](const auto &list, auto key) {
    return std::is_sorted(list.begin(), list.end(), [&](const auto &a, const auto &b) { return key(a) < key(b); });
  };
  if (!sorted(target.modules, [](const Module &m) { return m.base; }) ||
      !sorted(target.absent, [](const AbsentRange &a) { return a.start; }))
    throw Error("its lists are not in order");
}

} // namespace

std::string description(const Target &target) {
  std::string text = "{";
  auto add = [&](const char *key, const std::string &json) {
    text += fmt::format("{}\"{}\":{}", text.size() == 1 ? "" : ",", key, json);
  };
  auto boolean = [](bool value) { return std::string(value ? "true" : "false"); };
  add("version", std::to_string(version));
  add("from", json_quoted(target.extraction->from));
  add("values_blanked", boolean(target.extraction->values_blanked));
  add("container", json_quoted(target.container));
  add("dump_kind", json_quoted(target.dump_kind));
  add("os", json_quoted(name_of(target.os)));
  add("architecture", json_quoted(name_of(target.architecture)));
  add("pid", std::to_string(target.pid));
  add("program", json_quoted(target.program));
  add("doubtful", boolean(target.notes.have_effect()));
  add("advice", json_quoted(target.advice));
  add("notes", json_list(target.notes, [](const Note &note) { return json_quoted(note.sentence()); }));
  add("effects", json_list(target.notes, [](const Note &note) { return json_quoted(name_of(note.effect)); }));
  add("modules", json_list(target.modules, module_json));
  add("threads", json_list(target.threads, [](const Thread &thread) {
        return fmt::format(R"({{"id":{},"instruction_pointer":{},"stack_pointer":{},"registers":{}}})", thread.id,
                           thread.instruction_pointer, thread.stack_pointer, json_numbers(thread.registers));
      }));
  if (target.taken)
    add("taken", fmt::format(R"({{"seconds":{},"clock":"{}"{}}})", target.taken->seconds, name_of(target.taken->clock),
                             target.taken->ticks ? fmt::format(R"(,"ticks":{})", *target.taken->ticks) : ""));
  if (target.crash)
    add("crash", crash_json(*target.crash));
  add("auxv",
      json_list(target.auxv, [](const auto &entry) { return fmt::format("[{},{}]", entry.first, entry.second); }));
  add("absent", json_list(target.absent, [](const AbsentRange &range) {
        return fmt::format("[{},{},{}]", range.start, range.end, json_quoted(range.reason));
      }));
  add("provenance", json_list(target.provenance, [](const Provenance &p) {
        return fmt::format(R"({{"module":{},"file":{},"outcome":"{}","identity":{},"reason":{}}})",
                           json_quoted(p.module), json_quoted(p.file), outcomes[static_cast<u8>(p.outcome)],
                           json_quoted(p.identity), json_quoted(p.reason));
      }));
  text += "}";
  if (text.size() > largest)
    throw Error("the target has too many modules or threads to be described in a core");
  return text;
}

void apply_description(Bytes description, Target &target) {
  Target out;
  if (description.size() > largest)
    throw Error("it is too large");
  fill(parse_json(as_text(description)), out);
  out.path = std::move(target.path);
  out.memory = std::move(target.memory);
  out.initial = std::move(target.initial);
  out.storage = std::move(target.storage);
  target = std::move(out);
}

} // namespace dnheap::extracted
