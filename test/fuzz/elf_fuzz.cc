// Any bytes as an ELF file, laid out as the loader would, and as an image in memory.
#include "image/elf_file.h"
#include "image/elf_image.h"

using namespace dnheap;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  Bytes bytes = std::as_bytes(std::span(data, size));
  std::vector<std::shared_ptr<const void>> storage;
  std::vector<Range> ranges = {{0x10000, bytes}};
  Format format;
  if (std::optional<ElfFile> file = ElfFile::parse(bytes)) {
    (void)file->build_id();
    format = file->format();
    ranges = file->layout(0x10000, storage);
  }
  Memory memory(format, ranges);
  if (std::optional<ElfImage> image = ElfImage::at(memory, 0x10000)) {
    (void)image->build_id();
    (void)image->find_symbol("DotNetRuntimeContractDescriptor");
    (void)image->dynamic();
  }
  return 0;
}
