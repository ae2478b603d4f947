#include "dump/extracted.h"

#include <nlohmann/json.hpp>

namespace dnheap::extracted {

namespace {

using Json = nlohmann::json;

constexpr unsigned version = 1;

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
  out.base = json.at("base");
  out.inferred = json.value("inferred", false);
  for (const Json &extent : json.at("extents"))
    out.extents.push_back({extent.at(0), extent.at(1), extent.at(2)});
  if (json.contains("pe")) {
    const Json &pe = json["pe"];
    out.pe = PeIdentity{pe.at("time_date_stamp"), pe.at("size_of_image"), std::nullopt, std::nullopt};
    if (pe.contains("guid"))
      out.pe->guid = pe["guid"].get<std::array<u8, 16>>();
    if (pe.contains("file_version"))
      out.pe->file_version = pe["file_version"].get<std::array<u16, 4>>();
  }
  for (const Extent &extent : out.extents)
    if (extent.start >= extent.end || extent.start < out.base)
      throw Error("a module's extents are not sound");
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
  if (json.at("version") != version)
    throw Error("it is of another version of dnheap");
  target.extraction = Extraction{json.at("from"), json.at("values_blanked")};
  target.container = json.at("container");
  target.dump_kind = json.at("dump_kind");
  target.os = named(systems, json.at("os"));
  target.architecture = named(architectures, json.at("architecture"));
  target.pid = json.at("pid");
  target.program = json.at("program");
  target.is_doubtful = json.at("doubtful");
  target.advice = json.at("advice");
  target.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json &module : json.at("modules"))
    target.modules.push_back(module_of(module));
  for (const Json &thread : json.at("threads"))
    target.threads.push_back({thread.at("id"), thread.at("instruction_pointer"), thread.at("stack_pointer"),
                              thread.at("registers").get<std::vector<u64>>()});
  for (const Json &entry : json.at("auxv"))
    target.auxv[entry.at(0)] = entry.at(1);
  for (const Json &range : json.at("absent"))
    target.absent.push_back({range.at(0), range.at(1), range.at(2)});
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
  return out.dump(-1, ' ', false, Json::error_handler_t::replace); // paths need not be UTF-8
}

void apply(Bytes description, Target &target) {
  Target out;
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
