#include "support/eh_frame_writer.h"

namespace dnheap::test {

namespace {

void put_all(FormatWriter &to, const std::vector<u8> &bytes) {
  for (u8 byte : bytes)
    to.put(byte, 1);
}

// The record's length is known when it ends.
u64 begin_record(FormatWriter &to, u64 id) {
  to.word(0);
  to.word(id);
  return to.size() - 8;
}
void end_record(FormatWriter &to, u64 at) {
  to.align(to.format().pointer_size);
  to.put_at(at, to.size() - at - 4, 4);
}

void put_shared(FormatWriter &to, u8 version, const std::string &augmentation, const EhFrameWriter &from) {
  to.put(version, 1);
  to.text_with_nul(augmentation);
  if (version == 4)
    to.put(from.format.pointer_size | 0, 2); // no segments
  to.put(1, 1);                              // code
  to.put(0x78, 1);                           // data: -8
  to.put(16, 1);                             // the return address
  if (!augmentation.empty()) {
    to.put(from.augmentation_data.size(), 1);
    put_all(to, from.augmentation_data);
  }
  put_all(to, from.shared_instructions);
}

void put_image_header(FormatWriter &to, u64 table_at, u64 table_size) {
  constexpr u32 eh_frame_header = 0x6474e550;
  to.text("\x7f"
          "ELF");
  for (u8 byte : {2, 1, 1, 0})
    to.put(byte, 1);
  to.fill_to(16);
  to.half(3);
  to.half(62);
  to.word(1);
  to.pointer(0);
  to.pointer(64);
  to.pointer(0);
  to.word(0);
  for (u64 half : {64, 56, 2, 0, 0, 0})
    to.half(half);
  auto segment = [&](u32 type, u64 at, u64 size) {
    to.word(type);
    to.word(5);
    for (u64 value : {at, at, at, size, size, u64{0x1000}})
      to.pointer(value);
  };
  segment(1, 0, 0x100000);
  segment(eh_frame_header, table_at, table_size);
}

} // namespace

std::vector<std::byte> EhFrameWriter::image() const {
  FormatWriter to(format);
  const u64 table_size = 12 + 8 * functions.size();
  put_image_header(to, frames_at, table_size);
  to.fill_to(frames_at);
  for (u8 byte : {0x01, 0x1b, 0x03, 0x3b})
    to.put(byte, 1);
  to.word(table_size - 4); // from here to the records
  to.word(functions.size());
  to.fill_to(frames_at + align_up(table_size, 8));
  to.put_at(frames_at + 4, to.size() - frames_at - 4, 4);
  const u64 shared = begin_record(to, 0);
  put_shared(to, 1, augmentation, *this);
  end_record(to, shared);
  for (u64 i = 0; i < functions.size(); ++i) {
    const u64 at = begin_record(to, to.size() + 4 - shared);
    to.word(functions[i].start - to.size());
    to.word(functions[i].size);
    to.put(0, 1); // no augmentation data
    put_all(to, functions[i].instructions);
    end_record(to, at);
    to.put_at(frames_at + 12 + 8 * i, functions[i].start - frames_at, 4);
    to.put_at(frames_at + 16 + 8 * i, at - frames_at, 4);
  }
  to.word(0);
  return to.bytes();
}

std::vector<std::byte> EhFrameWriter::debug_frame() const {
  FormatWriter to(format);
  const u64 shared = begin_record(to, 0xffffffff);
  put_shared(to, 4, "", *this);
  end_record(to, shared);
  for (const FrameFunction &function : functions) {
    const u64 at = begin_record(to, shared);
    to.pointer(function.start);
    to.pointer(function.size);
    put_all(to, function.instructions);
    end_record(to, at);
  }
  return to.bytes();
}

} // namespace dnheap::test
