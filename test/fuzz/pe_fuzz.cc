// Any bytes as a PE file, and as an image in memory.
#include "image/pe_file.h"
#include "metadata/image_metadata.h"

using namespace dnheap;

namespace {

void read_all(const std::optional<PeImage> &image) {
  if (!image)
    return;
  if (std::optional<PeBlock> metadata = image->metadata())
    (void)image->view(*metadata);
  (void)image->find_export("DotNetRuntimeContractDescriptor");
  (void)image->code_view();
  for (const PeImage::Section &section : image->sections())
    if (std::optional<PeBlock> block = image->find(section.rva, section.virtual_size))
      (void)image->view(*block);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  Bytes bytes = std::as_bytes(std::span(data, size));
  read_all(PeImage::from_file(bytes));
  if (std::optional<PeFile> file = PeFile::parse(bytes)) {
    std::vector<std::shared_ptr<const void>> storage;
    (void)file->layout(0x10000, storage);
  }
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    Memory memory({8, order}, {{0x10000, bytes}});
    read_all(PeImage::at(memory, 0x10000, true));
    read_all(PeImage::at(memory, 0x10000, false));
    (void)read_image_metadata(memory, 0x10000);
  }
  return 0;
}
