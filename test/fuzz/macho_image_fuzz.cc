// Any bytes as a Mach-O file, universal or not: as a mapped image, and laid out as the loader would do it.
#include "image/macho_file.h"
#include "image/macho_image.h"

using namespace dnheap;

namespace {

constexpr Address fuzzed_base = 0x104000000;

void look_at(const Memory &memory) {
  const std::optional<MachoImage> image = MachoImage::at(memory, fuzzed_base);
  for (bool any : {false, true})
    if (image)
      (void)image->find_symbol("DotNetRuntimeContractDescriptor", any);
  if (image)
    (void)image->find_section("__all_image_info");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  const std::vector<u8> copy(data, data + size);
  const Bytes bytes = std::as_bytes(std::span(copy));
  look_at(Memory({8, ByteOrder::little}, {{fuzzed_base, bytes}}));
  for (const Bytes slice : macho_slices(bytes))
    if (const std::optional<MachoFile> file = MachoFile::parse(slice)) {
      std::vector<std::shared_ptr<const void>> storage;
      std::vector<Range> ranges;
      for (const MachoFile::Piece &piece : file->layout(fuzzed_base, storage))
        ranges.push_back(piece.range);
      look_at(Memory({8, ByteOrder::little}, std::move(ranges)));
    }
  return 0;
}
