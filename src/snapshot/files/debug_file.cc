#include "snapshot/files/debug_file.h"

#include "base/text.h"
#include "image/debug_file.h"
#include "image/elf_sections.h"
#include "image/module_image.h"
#include "snapshot/files/file_identity.h"
#include "snapshot/files/module_folders.h"

#include <algorithm>

namespace dnheap {

namespace {

std::string folder_of(const std::string &path) { return path.substr(0, path.find_last_of('/') + 1); }

// Returns the name in the program's `.gnu_debuglink` section (text and checksum); empty if there is none.
std::string linked_name(const std::string &program) {
  std::shared_ptr<const MappedFile> file = MappedFile::try_open(program);
  if (!file)
    return "";
  std::string_view text = as_text(find_elf_section(file->bytes(), ".gnu_debuglink"));
  std::string name(text.substr(0, text.find('\0')));
  return name.find('/') == name.npos && name.size() < 256 ? name : "";
}

bool has_symbols(const std::string &path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path);
  return file && !find_elf_section(file->bytes(), ".symtab").empty();
}

// Returns the file from which the program was read, if that was necessary, else its path in the process.
std::string program_file(const Target &target, const Module &module) {
  for (const Provenance &p : target.provenance)
    if (p.module == module.path && p.outcome == Provenance::Outcome::used)
      return p.file;
  return target.file_root + module.path;
}

} // namespace

std::shared_ptr<const MappedFile> find_debug_file(Target &target, const Module &module,
                                                  const std::vector<std::string> &folders) {
  std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base);
  const std::vector<u8> id = image ? image->build_id() : std::vector<u8>();
  if (id.size() < 2) // too short to identify a build
    return nullptr;
  const std::string program = program_file(target, module), digits = hex_bytes(id.data(), id.size());
  std::vector<std::string> names = {std::string(module.file_name()) + ".dbg",
                                    std::string(module.file_name()) + ".debug"};
  if (std::string name = linked_name(program); !name.empty())
    names.insert(names.begin(), name);
  std::vector<std::string> paths;
  ModuleFolders search(folders, target);
  for (const std::string &name : names) {
    paths.push_back(folder_of(program) + name);
    for (std::string &path : search.candidates(folder_of(module.path) + name))
      paths.push_back(std::move(path));
  }
  for (std::string &path :
       search.candidates("/usr/lib/debug/.build-id/" + digits.substr(0, 2) + "/" + digits.substr(2) + ".debug"))
    paths.push_back(std::move(path));
  for (std::string &path : search.identified(identity_of_build(id)))
    if (has_symbols(path)) // the program itself has the same id
      paths.push_back(std::move(path));
  auto record = [&](Provenance p) { // records a file once, since a snapshot that is built again examines the same files
    if (std::none_of(target.provenance.begin(), target.provenance.end(),
                     [&](const Provenance &other) { return other.module == p.module && other.file == p.file; }))
      target.provenance.push_back(std::move(p));
  };
  std::vector<std::string> seen;
  for (const std::string &path : paths) {
    if (std::find(seen.begin(), seen.end(), path) != seen.end())
      continue;
    seen.push_back(path);
    std::shared_ptr<const MappedFile> file = MappedFile::try_open(path);
    if (!file || path == program)
      continue;
    std::vector<u8> found = elf_section_build_id(file->bytes());
    if (found == id) {
      record({module.path, path, Provenance::Outcome::used, "build id " + digits, "symbols"});
      return file;
    }
    record({module.path, path, Provenance::Outcome::rejected, "",
            "debug file: build id " + (found.empty() ? "(none)" : hex_bytes(found.data(), found.size())) +
                " is not the dump's " + digits});
  }
  return nullptr;
}

namespace {

// Returns the program's own file if it was not stripped.
std::shared_ptr<const MappedFile> own_symbols(const Target &target, const Module &module, const ModuleImage &image) {
  std::shared_ptr<const MappedFile> file = MappedFile::try_open(program_file(target, module));
  const std::vector<u8> id = image.build_id();
  const bool fits = file && id.size() > 1 && elf_section_build_id(file->bytes()) == id;
  return fits && !find_elf_section(file->bytes(), ".symtab").empty() ? file : nullptr;
}

} // namespace

void add_debug_file(Target &target, Runtime &runtime, const std::vector<std::string> &folders) {
  std::optional<ModuleImage> image =
      runtime.takes_debug_file() ? ModuleImage::at(target.memory, runtime.module().base) : std::nullopt;
  if (!image)
    return;
  std::shared_ptr<const MappedFile> file = find_debug_file(target, runtime.module(), folders);
  if (!file)
    file = own_symbols(target, runtime.module(), *image);
  if (file)
    runtime.use_debug_file(DebugFile(file->bytes(), image->bias(), file));
}

} // namespace dnheap
