#include "snapshot/module_files.h"

#include "base/host.h"
#include "base/text.h"
#include "contract/parse.h"
#include "image/elf_file.h"
#include "image/elf_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_files = 200000; // looked at below one folder
constexpr u64 max_modules = 64;   // each costs a search, and memory for what the file's relocations change

bool is_runtime_library(std::string_view name) {
  return name == "libcoreclr.so" || name == "libclrgc.so" || name == "libclrgcexp.so";
}

// The parts of a laid-out file that are constant in a process.
std::vector<Range> constant_parts(const std::vector<Range> &layout, const Memory &file, const ElfImage &image) {
  std::vector<Range> out;
  for (const Range &range : layout) {
    bool writable = std::any_of(image.segments().begin(), image.segments().end(), [&](const ElfImage::Segment &s) {
      return s.writable && range.address < s.address + s.size && s.address < range.end();
    });
    if (!writable)
      out.push_back(range);
  }
  if (std::optional<Address> descriptor = image.find_symbol("DotNetRuntimeContractDescriptor"))
    for (const DescriptorExtent &extent : descriptor_extents(file, *descriptor))
      if (Bytes bytes = file.view(extent.start, extent.size); !bytes.empty())
        out.push_back({extent.start, bytes});
  return out;
}

class Layer {
public:
  Layer(Target &target, const std::vector<std::string> &folders) : target_(target), folders_(folders) {}

  void run() {
    u64 modules = 0;
    for (const Module &module : target_.modules)
      if (is_runtime_library(module.file_name()) && lacks_constants(module) && ++modules <= max_modules)
        find_file(module);
    if (!laid_.empty())
      target_.memory.lay_under(std::move(laid_));
  }

private:
  bool lacks_constants(const Module &module) const {
    std::optional<ElfImage> image = ElfImage::at(target_.memory, module.base);
    if (!image)
      return true;
    for (const ElfImage::Segment &s : image->segments())
      if (!s.writable && target_.memory.known_bytes(s.address, s.address + s.size) < s.size)
        return true;
    return false;
  }

  void record(const Module &module, const std::string &file, Provenance::Outcome outcome, const std::string &reason) {
    target_.provenance.push_back({module.path, file, outcome, reason});
  }

  void find_file(const Module &module) {
    std::optional<ElfImage> in_dump = ElfImage::at(target_.memory, module.base);
    std::vector<u8> build_id = in_dump ? in_dump->build_id() : std::vector<u8>();
    if (build_id.empty())
      return record(module, "", Provenance::Outcome::rejected,
                    "the dump does not hold its build id, so no file could be checked against it");
    std::vector<std::string> candidates = {module.path};
    for (const std::string &folder : folders_)
      for (const std::string &file : files_below(folder, max_files))
        if (file.substr(file.find_last_of('/') + 1) == module.file_name())
          candidates.push_back(file);
    bool examined = false;
    for (const std::string &file : candidates) {
      std::shared_ptr<const MappedFile> mapped = MappedFile::try_open(file);
      if (!mapped)
        continue;
      examined = true;
      if (lay(module, file, mapped, build_id))
        return;
    }
    if (!examined)
      record(module, "", Provenance::Outcome::missing,
             "not found; build id " + hex_bytes(build_id.data(), build_id.size()) + "; give its folder with --modules");
  }

  bool lay(const Module &module, const std::string &path, const std::shared_ptr<const MappedFile> &mapped,
           const std::vector<u8> &build_id) {
    std::optional<ElfFile> file = ElfFile::parse(mapped->bytes());
    std::vector<u8> id = file ? file->build_id() : std::vector<u8>();
    if (id != build_id) {
      record(module, path, Provenance::Outcome::rejected,
             !file ? "not an ELF library"
                   : "build id " + (id.empty() ? "(none)" : hex_bytes(id.data(), id.size())) + " is not the dump's " +
                         hex_bytes(build_id.data(), build_id.size()));
      return false;
    }
    std::vector<std::shared_ptr<const void>> storage = {mapped};
    std::vector<Range> layout = file->layout(module.base, storage);
    Memory memory(target_.format(), layout);
    std::optional<ElfImage> image = ElfImage::at(memory, module.base);
    if (!image)
      return false;
    u64 added = 0;
    std::vector<Range> parts = constant_parts(layout, memory, *image);
    for (const Range &part : parts)
      added += part.bytes.size() - target_.memory.known_bytes(part.address, part.end());
    laid_.insert(laid_.end(), parts.begin(), parts.end());
    target_.storage.insert(target_.storage.end(), storage.begin(), storage.end());
    record(module, path, Provenance::Outcome::used,
           "build id " + hex_bytes(id.data(), id.size()) + ": " + bytes_text(added) + " that the dump lacks");
    return true;
  }

  Target &target_;
  const std::vector<std::string> &folders_;
  std::vector<Range> laid_;
};

} // namespace

void lay_runtime_files(Target &target, const std::vector<std::string> &folders) { Layer(target, folders).run(); }

} // namespace dnheap
