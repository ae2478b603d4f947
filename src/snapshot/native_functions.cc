#include "snapshot/native_functions.h"

#include "base/text.h"
#include "image/elf_sections.h"
#include "image/module_image.h"
#include "image/symbol_name.h"
#include "snapshot/snapshot.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 longest_function_name = 200;

} // namespace

NativeFunctions::NativeFunctions(const Snapshot &snapshot)
    : snapshot_(snapshot), symbols_(snapshot.symbol_folders()),
      modules_(snapshot.options().module_folders, snapshot.target().file_root) {}

std::string NativeFunctions::find(const Module &module, Address ip, bool is_return) {
  auto [known, is_new] = known_.try_emplace({ip, is_return});
  if (!is_new)
    return known->second;
  const Files &files = files_of(module);
  for (const SymbolFile &file : files.of)
    if (const std::optional<ElfFunction> found = file.find_function(ip - is_return - files.bias)) {
      known->second =
          printable(readable_symbol(found->name), longest_function_name) + "+" + hex(ip - files.bias - found->start);
      break;
    }
  return known->second;
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
  auto add = [&](const std::vector<std::string> &more) { paths.insert(paths.end(), more.begin(), more.end()); };
  // Linux distributions name debug files by the build id without its first byte: .build-id/93/ac61….debug. They are
  // searched only where the user says, so that answers do not depend on what else is installed here.
  add(symbols_.candidates("/" + hex_bytes(id.data() + 1, id.size() - 1) + ".debug"));
  for (const char *suffix : {".dbg", ".debug", ""})
    add(symbols_.candidates(module.path + suffix));
  for (const Provenance &file : snapshot_.target().provenance)
    if (file.module == module.path && file.outcome == Provenance::Outcome::used)
      paths.push_back(file.file);
  add(modules_.candidates(module.path));
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
