#include "snapshot/files/module_files.h"

#include "base/text.h"
#include "contract/find.h"
#include "image/module_image.h"
#include "image/pe_image.h"
#include "runtime/layout/nativeaot/debug_header.h"
#include "runtime/library_names.h"
#include "snapshot/files/file_fit.h"
#include "snapshot/files/file_identity.h"
#include "snapshot/files/module_folders.h"

#include <algorithm>
#include <map>
#include <set>

namespace dnheap {

namespace {

constexpr u64 max_libraries = 64; // each costs memory for the bytes that relocations change
constexpr u64 max_native_modules = 256;
constexpr u64 max_assemblies = 65536;

bool is_assembly(std::string_view name) { return name.ends_with(".dll") || name.ends_with(".exe"); }

// Returns the bases of the modules that have NativeAOT's debug header or export a descriptor. If nothing shows which
// runtime the process used, returns the program itself, as the header's page may be missing.
std::set<Address> native_aot_modules(const Target &target) {
  constexpr u64 auxv_entry = 9;
  std::set<Address> out;
  for (const auto &[module, place] : find_debug_headers(target))
    out.insert(module->base);
  for (const Module &module : target.modules)
    if (std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base))
      if (image->find_symbol(descriptor_export))
        out.insert(module.base);
  bool other = std::any_of(target.modules.begin(), target.modules.end(),
                           [](const Module &module) { return is_runtime_library(module.file_name()); });
  auto entry = target.auxv.find(auxv_entry);
  if (out.empty() && !other && entry != target.auxv.end())
    if (const Module *program = target.find_module(entry->second))
      out.insert(program->base);
  return out;
}

bool lacks_native_constants(const Target &target, const Module &module) {
  std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base);
  if (!image)
    return true;
  for (const ModuleImage::Section &s : image->sections())
    if (!s.writable && target.memory.known_bytes(s.address, s.address + s.size) < s.size)
      return true;
  return false;
}

// True for native libraries, whose unwind information is needed. A library without a usable build id could not be
// identified, so it is not searched for.
bool may_be_on_stacks(const Target &target, const Module &module) {
  const std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base);
  return image && image->build_id().size() > 1 && lacks_native_constants(target, module);
}

bool lacks_metadata(const Target &target, const Module &module) {
  for (bool mapped : {true, false})
    if (std::optional<PeImage> image = PeImage::at(target.memory, module.base, mapped)) {
      if (module.pe && !image->is_managed())
        return false;
      if (std::optional<PeBlock> root = image->metadata())
        return target.memory.known_bytes(root->address, root->address + root->size) < root->size;
    }
  return true;
}

// True if the dump lacks part of an image that was mapped section by section: ReadyToRun code, GC info, unwind data.
// The runtime maps such a file twice, and only one of the two mappings shows the metadata.
bool lacks_code(const Target &target, const Module &module) {
  std::optional<PeImage> image =
      module.extents.size() > 1 ? PeImage::at(target.memory, module.base, true) : std::nullopt;
  if (!image || !image->is_managed())
    return false;
  return std::any_of(image->sections().begin(), image->sections().end(), [&](const PeImage::Section &section) {
    const Address start = module.base + section.rva, end = add_clamped(start, section.virtual_size);
    return !section.writable && target.memory.known_bytes(start, end) < section.virtual_size;
  });
}

// True for Windows files that hold no metadata, even if the dump shows nothing of them: the system's libraries, those
// that come with the runtime (Microsoft.NETCore.App/native), C and C++ runtimes, and the program that starts a .dll of
// its own name. `names`: the names of all modules, in lower case.
bool is_native_windows_file(const Module &module, const std::set<std::string> &names) {
  const std::string path = lower_case(module.path), name(lower_case(module.file_name()));
  for (const char *folder : {":\\windows\\system32\\", ":\\windows\\syswow64\\", ":\\windows\\winsxs\\"})
    if (path.find(folder) != path.npos)
      return true;
  if (is_native_windows_library(name))
    return true;
  return name.ends_with(".exe") && names.contains(name.substr(0, name.size() - 3) + "dll");
}

// Returns the programs whose file has bundled assemblies mapped after the program itself that are not fully in the
// dump.
std::set<const Module *> programs_with_bundles(const Target &target) {
  std::map<std::string_view, const Module *> programs;
  std::set<const Module *> out;
  for (const Module &module : target.modules)
    if (!module.pe && !module.extents.empty() && module.extents.front().file_offset == 0)
      programs.try_emplace(module.path, &module);
  for (const Module &module : target.modules)
    if (auto program = programs.find(module.path); program != programs.end() && is_bundled_in(module, *program->second))
      for (const Extent &extent : module.extents)
        if (out.size() < max_libraries &&
            target.memory.known_bytes(extent.start, extent.end) < extent.end - extent.start)
          out.insert(program->second);
  return out;
}

class Layer {
public:
  Layer(Target &target, const std::vector<std::string> &folders) : target_(target), folders_(folders, target) {}

  void run() {
    u64 libraries = 0, assemblies = 0, native_modules = 0;
    const std::set<Address> native_aot = native_aot_modules(target_);
    std::set<std::string> names;
    for (const Module &module : target_.modules)
      if (module.pe)
        names.insert(lower_case(module.file_name()));
    for (Module &module : target_.modules) {
      if (module.pe) {
        const bool library = is_runtime_library(module.file_name()) ||
                             (native_aot.contains(module.base) && lacks_native_constants(target_, module));
        if ((library || (is_assembly(lower_case(module.file_name())) && !is_native_windows_file(module, names) &&
                         lacks_metadata(target_, module))) &&
            ++assemblies <= max_assemblies)
          module.inferred |= find_file(module, fit_pe_file);
      } else if (is_runtime_library(module.file_name()) || native_aot.contains(module.base)) {
        if (lacks_native_constants(target_, module) && ++libraries <= max_libraries)
          module.inferred |= find_file(module, fit_native_file);
      } else if (may_be_on_stacks(target_, module) && ++native_modules <= max_native_modules) {
        find_file(module, fit_native_file, false);
      } else if (is_assembly(module.file_name()) && ++assemblies <= max_assemblies &&
                 (lacks_metadata(target_, module) || lacks_code(target_, module))) {
        module.inferred |= find_file(module, fit_managed_file);
      }
    }
    for (const Module *program : programs_with_bundles(target_))
      if (find_file(*program, fit_bundle))
        for (Module &module : target_.modules)
          module.inferred |= is_bundled_in(module, *program);
    if (!laid_.empty())
      target_.memory.lay_under(std::move(laid_));
    if (target_.initial.ranges().empty())
      target_.initial = Memory(target_.format(), std::move(initial_));
    else
      target_.initial.lay_under(std::move(initial_));
  }

private:
  using Fit = FileFit(const Target &, const Module &, const MappedFilePtr &);

  // The first of these files that fits.
  struct Found {
    bool has_examined = false;
    std::optional<FileFit> file;
  };

  void try_files(const Module &module, Fit *fit, const std::vector<std::string> &paths, Found &found) {
    for (const std::string &path : paths) {
      MappedFilePtr file = found.file ? nullptr : map(path);
      if (!file)
        continue;
      found.has_examined = true;
      FileFit fits = fit(target_, module, file);
      if (!fits.fits) {
        target_.provenance.push_back({module.path, path, Provenance::Outcome::rejected, "", fits.reason});
        continue;
      }
      if (!fits.needless)
        lay(module, path, fits);
      found.file = std::move(fits);
    }
  }

  // Searches by the file's name, then by what identifies its build, since collectors and symbol servers rename files.
  // Returns true if the file used was only inferred to be the right one. `is_needed`: report if no file was found.
  bool find_file(const Module &module, Fit *fit, bool is_needed = true) {
    Found found;
    const std::vector<std::string> named = folders_.candidates(module.path, module.pe.has_value());
    try_files(module, fit, named, found);
    if (!found.file) {
      std::vector<std::string> others = folders_.identified(identity_of_module(target_, module));
      std::erase_if(others, [&](const std::string &path) { return std::ranges::find(named, path) != named.end(); });
      try_files(module, fit, others, found);
    }
    if (found.file)
      return found.file->identity == "inferred";
    if (found.has_examined || !is_needed)
      return false;
    std::optional<ModuleImage> in_dump = ModuleImage::at(target_.memory, module.base);
    std::vector<u8> id = in_dump ? in_dump->build_id() : std::vector<u8>();
    target_.provenance.push_back({module.path, "", Provenance::Outcome::missing, "",
                                  "not found" + (id.empty() ? "" : "; build id " + hex_bytes(id.data(), id.size())) +
                                      "; give its folder with --modules"});
    return false;
  }

  void lay(const Module &module, const std::string &path, const FileFit &found) {
    u64 added = 0;
    for (const Range &part : found.parts)
      added += part.bytes.size() - target_.memory.known_bytes(part.address, part.end());
    laid_.insert(laid_.end(), found.parts.begin(), found.parts.end());
    initial_.insert(initial_.end(), found.initial.begin(), found.initial.end());
    target_.storage.insert(target_.storage.end(), found.storage.begin(), found.storage.end());
    target_.provenance.push_back(
        {module.path, path, Provenance::Outcome::used, found.identity, bytes_text(added) + " that the dump lacks"});
  }

  // Assemblies are mapped twice, so the same file is requested again.
  MappedFilePtr map(const std::string &path) {
    auto it = mapped_.find(path);
    if (it == mapped_.end())
      it = mapped_.emplace(path, MappedFile::try_open(path)).first;
    return it->second;
  }

  Target &target_;
  ModuleFolders folders_;
  std::map<std::string, MappedFilePtr> mapped_;
  std::vector<Range> laid_, initial_;
};

} // namespace

void lay_module_files(Target &target, const std::vector<std::string> &folders) { Layer(target, folders).run(); }

} // namespace dnheap
