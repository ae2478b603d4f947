#include "metadata/image_metadata.h"

#include "image/pe_image.h"

namespace dnheap {

namespace {

constexpr u64 max_metadata_size = 512 << 20;

} // namespace

std::optional<ModuleMetadata> read_metadata(const Memory &memory, Address address, u64 size) {
  std::byte signature[4]; // II.24.2.1; little-endian in every target
  if (size < 32 || size > max_metadata_size || !memory.read(address, signature) || as_text(signature) != "BSJB")
    return std::nullopt;
  Bytes bytes = memory.peek_up_to(address, size);
  if (bytes.size() < size)
    bytes = {};
  std::shared_ptr<const void> storage;
  if (bytes.empty()) {
    // The metadata is in several pieces or partly missing: take it up to the first hole.
    auto copy = std::make_shared<std::vector<std::byte>>();
    while (copy->size() < size) {
      Bytes piece = memory.peek_up_to(address + copy->size(), size - copy->size());
      if (piece.empty())
        break;
      copy->insert(copy->end(), piece.begin(), piece.end());
    }
    bytes = *copy;
    storage = copy;
  }
  std::optional<Metadata> metadata = Metadata::parse(bytes);
  if (!metadata)
    return std::nullopt;
  // Record everything as read except string literals, which no answer needs.
  const Bytes literals = metadata->user_strings();
  const u64 before = literals.empty() ? bytes.size() : static_cast<u64>(literals.data() - bytes.data());
  memory.note_read(address, before);
  memory.note_place(address + before, literals.size());
  memory.note_read(address + before + literals.size(), bytes.size() - before - literals.size());
  return ModuleMetadata{std::move(*metadata), storage};
}

std::optional<ModuleMetadata> read_image_metadata(const Memory &memory, Address base) {
  // 'MZ': rejects most candidates, which are not images.
  std::optional<u16> magic = base ? memory.try_load<u16>(base) : std::nullopt;
  if (!magic || *magic != (memory.format().byte_order == ByteOrder::little ? 0x5a4d : 0x4d5a))
    return std::nullopt;
  for (bool mapped : {true, false})
    if (std::optional<PeImage> image = PeImage::at(memory, base, mapped))
      if (std::optional<PeBlock> root = image->metadata())
        if (std::optional<ModuleMetadata> metadata = read_metadata(memory, root->address, root->size))
          return metadata;
  return std::nullopt;
}

} // namespace dnheap
