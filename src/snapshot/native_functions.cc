#include "snapshot/native_functions.h"

#include "base/text.h"
#include "image/elf_sections.h"
#include "image/module_image.h"
#include "image/pe_image.h"
#include "image/symbol_name.h"
#include "snapshot/files/file_identity.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 longest_function_name = 200;
constexpr u64 longest_file_name = 200;

std::string function_text(std::string_view symbol, u64 offset) {
  return printable(readable_symbol(symbol), longest_function_name) + "+" + hex(offset);
}

struct PdbId {
  std::array<u8, 16> guid{};
  std::optional<u32> age;
  std::string path;
};

// Returns the .pdb that the image names. If the dump lacks the image's record of it, the loader's record of the GUID
// remains, and the name that linkers give the file.
std::optional<PdbId> pdb_id_of(const Memory &memory, const Module &module) {
  const std::optional<PeImage> image = PeImage::at(memory, module.base, true);
  if (const std::optional<PeImage::CodeView> named = image ? image->code_view() : std::nullopt)
    return named->is_portable ? std::nullopt : std::optional(PdbId{named->guid, named->age, named->path});
  if (!module.pe || !module.pe->guid)
    return std::nullopt;
  const std::string_view name = module.file_name();
  return PdbId{*module.pe->guid, std::nullopt, std::string(name.substr(0, name.rfind('.'))) + ".pdb"};
}

// Returns the beginning of a function of x64, of which the entry may be a part: its unwind data then name the part that
// it belongs to, {begin, end, unwind data}, behind the unwind codes.
Address first_part(const Memory &memory, Address image, FunctionEntry entry) {
  constexpr unsigned most_parts = 32;
  constexpr u8 is_chained = 4;
  for (unsigned i = 0; i < most_parts; ++i) {
    const std::optional<u8> flags = memory.try_load<u8>(entry.unwind_info),
                            codes = memory.try_load<u8>(entry.unwind_info + 2);
    if (!flags || !codes || !(*flags >> 3 & is_chained))
      break;
    const Address at = entry.unwind_info + 4 + 2 * align_up(u64{*codes}, 2);
    const std::optional<u32> start = memory.try_load<u32>(at), unwind_info = memory.try_load<u32>(at + 8);
    if (!start || !unwind_info)
      break;
    entry = {image + *start, 0, image + *unwind_info};
  }
  return entry.start;
}

} // namespace

NativeFunctions::NativeFunctions(const Snapshot &snapshot)
    : snapshot_(snapshot), symbols_(snapshot.symbol_folders()),
      modules_(snapshot.options().module_folders, snapshot.target()) {}

std::string NativeFunctions::find(const Module &module, Address ip, bool is_return) {
  auto [known, is_new] = known_.try_emplace({ip, is_return});
  if (is_new)
    known->second = snapshot_.target().os == OperatingSystem::windows ? find_in_pe(module, ip, is_return)
                                                                      : find_in_elf(module, ip, is_return);
  return known->second;
}

std::string NativeFunctions::find_in_elf(const Module &module, Address ip, bool is_return) {
  const Files &files = files_of(module);
  for (const SymbolFile &file : files.of)
    if (const std::optional<ElfFunction> found = file.find_function(ip - is_return - files.bias))
      return function_text(found->name, ip - files.bias - found->start);
  return "";
}

// Where the module's table of functions has the function, the symbol must be that of its beginning: between it and the
// nearest symbol may be functions that are not public.
std::string NativeFunctions::find_in_pe(const Module &module, Address ip, bool is_return) {
  const WindowsSymbols &symbols = windows_symbols_of(module);
  const Address at = ip - is_return;
  if (!symbols.publics || at < module.base || at - module.base > ~u32{0})
    return "";
  const std::optional<FunctionEntry> entry = symbols.functions ? symbols.functions->find(at) : std::nullopt;
  const Address start = entry ? first_part(snapshot_.target().memory, module.base, *entry) : at;
  const std::optional<PdbPublics::Function> found = symbols.publics->find(static_cast<u32>(start - module.base));
  if (!found || (entry && module.base + found->start != start))
    return "";
  return ip >= start ? function_text(found->name, ip - module.base - found->start)
                     : printable(readable_symbol(found->name), longest_function_name); // a part that lies elsewhere
}

const NativeFunctions::WindowsSymbols &NativeFunctions::windows_symbols_of(const Module &module) {
  auto [known, is_new] = windows_.try_emplace(&module);
  if (is_new) {
    known->second.publics = publics_of(module);
    if (known->second.publics && snapshot_.target().architecture == Architecture::x64)
      known->second.functions = FunctionTable::at(snapshot_.target().memory, module.base);
  }
  return known->second;
}

std::optional<PdbPublics> NativeFunctions::publics_of(const Module &module) {
  const std::optional<PdbId> id = pdb_id_of(snapshot_.target().memory, module);
  if (!id)
    return std::nullopt;
  std::string first_why;
  for (const std::string &path : symbols_.candidates(id->path, true)) {
    const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path);
    if (!file)
      continue;
    std::string why;
    std::optional<PdbPublics> publics = PdbPublics::read(file->bytes(), why);
    if (publics && publics->guid() == id->guid && publics->age() == id->age.value_or(publics->age()))
      return publics;
    if (first_why.empty())
      first_why = printable(path, longest_file_name) + ": " + (publics ? "it belongs to another build" : why);
  }
  if (!first_why.empty())
    refused_.push_back(first_why);
  return std::nullopt;
}

const NativeFunctions::Files &NativeFunctions::files_of(const Module &module) {
  auto [known, is_new] = files_.try_emplace(&module);
  const std::optional<ModuleImage> image =
      is_new && module.path.starts_with('/') ? ModuleImage::at(snapshot_.target().memory, module.base) : std::nullopt;
  const std::vector<u8> id = image ? image->build_id() : std::vector<u8>();
  if (id.size() < 2) // too short to identify a build
    return known->second;
  known->second.bias = image->bias();
  std::vector<std::string> paths;
  auto add = [&](const std::vector<std::string> &more) {
    for (const std::string &path : more)
      if (std::find(paths.begin(), paths.end(), path) == paths.end())
        paths.push_back(path);
  };
  // Linux distributions name debug files by the build id without its first byte: .build-id/93/ac61….debug. They are
  // searched only where the user says, so that answers do not depend on what else is installed here.
  add(symbols_.candidates("/" + hex_bytes(id.data() + 1, id.size() - 1) + ".debug"));
  for (const char *suffix : {".dbg", ".debug", ""})
    add(symbols_.candidates(module.path + suffix));
  add(symbols_.identified(identity_of_build(id)));
  for (const Provenance &file : snapshot_.target().provenance)
    if (file.module == module.path && file.outcome == Provenance::Outcome::used)
      paths.push_back(file.file);
  add(modules_.candidates(module.path));
  add(modules_.identified(identity_of_build(id)));
  for (const std::string &path : paths)
    if (std::shared_ptr<const MappedFile> file = MappedFile::try_open(path);
        file && elf_section_build_id(file->bytes()) == id) {
      known->second.of.emplace_back(std::move(file), std::min(left_, SymbolFile::most_decompressed));
      left_ -= known->second.of.back().decompressed_bytes();
      if (path == module.path || path.ends_with(module.path)) // further candidates are the same file
        break;
    }
  return known->second;
}

} // namespace dnheap
