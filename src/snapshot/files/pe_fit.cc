#include "base/text.h"
#include "image/pe_file.h"
#include "runtime/library_names.h"
#include "snapshot/files/file_fit.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

std::string hex_guid(const std::array<u8, 16> &guid) { return hex_bytes(guid.data(), guid.size()); }

} // namespace

FileFit fit_pe_file(const Target &target, const Module &module, const MappedFilePtr &mapped) {
  FileFit out;
  std::optional<PeFile> file = PeFile::parse(mapped->bytes());
  if (!file) {
    out.reason = "not a Windows image (PE)";
    return out;
  }
  const PeImage &image = file->image();
  const PeIdentity &wanted = *module.pe;
  if (image.time_date_stamp() != wanted.time_date_stamp || image.size_of_image() != wanted.size_of_image) {
    out.reason =
        fmt::format("time stamp {:08x} and size {:#x} are not the process's {:08x} and {:#x}", image.time_date_stamp(),
                    image.size_of_image(), wanted.time_date_stamp, wanted.size_of_image);
    return out;
  }
  std::optional<PeImage::CodeView> view = image.code_view();
  if (wanted.guid && view && view->guid != *wanted.guid) {
    out.reason = "its .pdb's GUID " + hex_guid(view->guid) + " is not the process's " + hex_guid(*wanted.guid);
    return out;
  }
  out.fits = true;
  out.needless = !image.is_managed() && !is_runtime_library(module.file_name());
  if (out.needless)
    return out;
  out.storage = {mapped};
  PeFile::Layout layout = file->layout(module.base, out.storage);
  std::vector<Range> descriptor;
  if (std::optional<u32> rva = image.find_export("DotNetRuntimeContractDescriptor")) {
    Memory memory(target.format(), layout.constants);
    memory.lay_under(layout.initial);
    descriptor = descriptor_parts(memory, module.base + *rva);
  }
  out.parts = std::move(layout.constants);
  out.initial = std::move(layout.initial);
  for (const Range &table : file->constant_tables(module.base, out.initial))
    out.parts.push_back(table);
  out.parts.insert(out.parts.end(), descriptor.begin(), descriptor.end());
  out.identity = wanted.guid && view ? "time stamp, size and GUID" : "time stamp and size";
  return out;
}

} // namespace dnheap
