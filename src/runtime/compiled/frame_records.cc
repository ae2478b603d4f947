#include "runtime/compiled/frame_records.h"

namespace dnheap {

namespace {

constexpr u8 pointer_form = 0x0f, direct_pointer = 0x7f;

// The letters list the fields of the augmentation data, in order.
bool take_augmentation(std::string_view letters, FrameBytes &from, SharedFrame &shared, FunctionFrame &to) {
  if (letters.empty())
    return true;
  if (letters[0] != 'z')
    return false;
  shared.has_augmentation = true;
  const u64 size = from.uleb128();
  const Address at = from.at();
  FrameBytes data(from.bytes(size), at, from.format());
  for (char letter : letters.substr(1))
    switch (letter) {
    case 'R': shared.pointers = data.integer<u8>(); break;
    case 'L': data.integer<u8>(); break;
    case 'P': data.pointer(data.integer<u8>() & direct_pointer, 0); break;
    case 'S': to.is_signal = true; break;
    default: return false;
    }
  return data.ok();
}

} // namespace

bool read_shared_frame(FrameBytes from, SharedFrame &shared, FunctionFrame &to) {
  const u8 version = from.integer<u8>();
  const std::string_view letters = from.text();
  if (version != 1 && version != 3 && version != 4)
    return false;
  if (version == 4) {
    const u8 address_size = from.integer<u8>(), segment_size = from.integer<u8>();
    if (address_size != from.format().pointer_size || segment_size != 0)
      return false;
  }
  to.code_alignment = from.uleb128();
  to.data_alignment = from.sleb128();
  to.return_register = version == 1 ? from.integer<u8>() : from.uleb128();
  if (!take_augmentation(letters, from, shared, to) || !from.ok())
    return false;
  to.shared = from.rest();
  return true;
}

bool read_own_frame(FrameBytes from, const SharedFrame &shared, FunctionFrame &to) {
  to.start = from.pointer(shared.pointers, 0);
  to.end = add_clamped(to.start, from.pointer(shared.pointers & pointer_form, 0));
  if (shared.has_augmentation)
    from.bytes(from.uleb128());
  to.own = from.rest();
  return from.ok();
}

} // namespace dnheap
