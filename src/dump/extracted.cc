#include "dump/extracted.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace dnheap::extracted {

namespace {

using Json = nlohmann::json;

constexpr unsigned version = 1;
constexpr u64 largest = 64 << 20; // as JSON

constexpr Architecture architectures[] = {Architecture::unknown, Architecture::x64,   Architecture::x86,
                                          Architecture::arm64,   Architecture::arm,   Architecture::riscv64,
                                          Architecture::s390x,   Architecture::ppc64, Architecture::loongarch64};
constexpr OperatingSystem systems[] = {OperatingSystem::unknown, OperatingSystem::linux_os, OperatingSystem::windows,
                                       OperatingSystem::macos};
constexpr const char *outcomes[] = {"used", "rejected", "missing"};

template <class T, std::size_t n> T named(const T (&all)[n], const std::string &name) {
  for (T value : all)
    if (name == name_of(value))
      return value;
  return T::unknown;
}

// The library would convert anything.
template <std::unsigned_integral T = u64> T number(const Json &json) {
  if (!json.is_number_unsigned() || json.get<u64>() > std::numeric_limits<T>::max())
    throw Error("a number is none, or too large");
  return static_cast<T>(json.get<u64>());
}

template <std::unsigned_integral T, std::size_t n> std::array<T, n> numbers(const Json &json) {
  std::array<T, n> out;
  for (std::size_t i = 0; i < n; ++i)
    out[i] = number<T>(json.at(i));
  return out;
}

Json module_json(const Module &module) {
  Json out = {{"path", module.path}, {"base", module.base}, {"extents", Json::array()}};
  for (const Extent &extent : module.extents)
    out["extents"].push_back({extent.start, extent.end, extent.file_offset});
  if (module.inferred)
    out["inferred"] = true;
  if (module.pe) {
    out["pe"] = {{"time_date_stamp", module.pe->time_date_stamp}, {"size_of_image", module.pe->size_of_image}};
    if (module.pe->guid)
      out["pe"]["guid"] = *module.pe->guid;
    if (module.pe->file_version)
      out["pe"]["file_version"] = *module.pe->file_version;
  }
  return out;
}

Module module_of(const Json &json) {
  Module out;
  out.path = json.at("path");
  out.base = number(json.at("base"));
  out.inferred = json.value("inferred", false);
  for (const Json &extent : json.at("extents"))
    out.extents.push_back({number(extent.at(0)), number(extent.at(1)), number(extent.at(2))});
  if (json.contains("pe")) {
    const Json &pe = json["pe"];
    out.pe = PeIdentity{number<u32>(pe.at("time_date_stamp")), number<u32>(pe.at("size_of_image")), std::nullopt,
                        std::nullopt};
    if (pe.contains("guid"))
      out.pe->guid = numbers<u8, 16>(pe["guid"]);
    if (pe.contains("file_version"))
      out.pe->file_version = numbers<u16, 4>(pe["file_version"]);
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
  for (const Json &value : json.at("registers"))
    out.registers.push_back(number(value));
  return out;
}

Provenance provenance_of(const Json &json) {
  Provenance out;
  out.module = json.at("module");
  out.file = json.at("file");
  out.identity = json.at("identity");
  out.reason = json.at("reason");
  const std::string outcome = json.at("outcome");
  out.outcome = outcome == outcomes[0]   ? Provenance::Outcome::used
                : outcome == outcomes[1] ? Provenance::Outcome::rejected
                                         : Provenance::Outcome::missing;
  return out;
}

void fill(const Json &json, Target &target) {
  if (number(json.at("version")) != version)
    throw Error("it is of another version of dnheap");
  target.extraction = Extraction{json.at("from"), json.at("values_blanked")};
  target.container = json.at("container");
  target.dump_kind = json.at("dump_kind");
  target.os = named(systems, json.at("os"));
  target.architecture = named(architectures, json.at("architecture"));
  target.pid = number(json.at("pid"));
  target.program = json.at("program");
  target.is_doubtful = json.at("doubtful");
  target.advice = json.at("advice");
  target.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json &module : json.at("modules"))
    target.modules.push_back(module_of(module));
  for (const Json &thread : json.at("threads"))
    target.threads.push_back(thread_of(thread));
  for (const Json &entry : json.at("auxv"))
    target.auxv[number(entry.at(0))] = number(entry.at(1));
  for (const Json &range : json.at("absent"))
    target.absent.push_back({number(range.at(0)), number(range.at(1)), range.at(2)});
  for (const Json &row : json.at("provenance"))
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
  Json out = {{"version", version},
              {"from", target.extraction->from},
              {"values_blanked", target.extraction->values_blanked},
              {"container", target.container},
              {"dump_kind", target.dump_kind},
              {"os", name_of(target.os)},
              {"architecture", name_of(target.architecture)},
              {"pid", target.pid},
              {"program", target.program},
              {"doubtful", target.is_doubtful},
              {"advice", target.advice},
              {"notes", target.notes},
              {"modules", Json::array()},
              {"threads", Json::array()},
              {"auxv", Json::array()},
              {"absent", Json::array()},
              {"provenance", Json::array()}};
  for (const Module &module : target.modules)
    out["modules"].push_back(module_json(module));
  for (const Thread &thread : target.threads)
    out["threads"].push_back({{"id", thread.id},
                              {"instruction_pointer", thread.instruction_pointer},
                              {"stack_pointer", thread.stack_pointer},
                              {"registers", thread.registers}});
  for (auto [type, value] : target.auxv)
    out["auxv"].push_back({type, value});
  for (const AbsentRange &range : target.absent)
    out["absent"].push_back({range.start, range.end, range.reason});
  for (const Provenance &p : target.provenance)
    out["provenance"].push_back({{"module", p.module},
                                 {"file", p.file},
                                 {"outcome", outcomes[static_cast<u8>(p.outcome)]},
                                 {"identity", p.identity},
                                 {"reason", p.reason}});
  std::string text = out.dump(-1, ' ', false, Json::error_handler_t::replace); // paths need not be UTF-8
  if (text.size() > largest)
    throw Error("the target has too many modules or threads to be described in a core");
  return text;
}

void apply(Bytes description, Target &target) {
  Target out;
  if (description.size() > largest)
    throw Error("it is too large");
  try {
    fill(Json::parse(as_text(description)), out);
  } catch (const Json::exception &e) {
    throw Error(e.what());
  }
  out.path = std::move(target.path);
  out.memory = std::move(target.memory);
  out.initial = std::move(target.initial);
  out.storage = std::move(target.storage);
  target = std::move(out);
}

} // namespace dnheap::extracted
