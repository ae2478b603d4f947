#include "dump/macho_core_notes.h"

#include "base/error.h"
#include "base/json.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_note_images = 1 << 16, longest_note_path = 4096, most_metadata = 16 << 20,
              most_noted_threads = 1 << 20;
constexpr u64 no_address = ~u64{0};

u32 note_word(Bytes content, u64 at) { return load_at<u32>(content, at, ByteOrder::little).value_or(0); }
u64 note_long(Bytes content, u64 at) { return load_at<u64>(content, at, ByteOrder::little).value_or(no_address); }

void add_note_image(std::string_view path, Address base, MachoCoreNotes &out) {
  if (base && base != no_address && out.images.size() < most_note_images)
    out.images.push_back({std::string(path), base});
}

// u32 version, u32 count, u64 place of the rows. Each: u64 place of the path, UUID, u64 base, u64 place of the
// segments, u32 their number, u32 whether a thread runs in it.
void read_all_images(Bytes content, Bytes file, MachoCoreNotes &out) {
  constexpr u64 row_size = 48;
  const u64 count = note_word(content, 4), rows = note_long(content, 8);
  for (u64 i = 0; note_word(content, 0) == 1 && rows < file.size() && i < std::min(count, most_note_images); ++i) {
    const Bytes row = slice(file, rows + i * row_size, row_size);
    if (row.empty())
      break;
    add_note_image(text_at(file, note_long(row, 0), longest_note_path), note_long(row, 24), out);
  }
}

// u32 version, UUID, u64 base, u64 what to add to addresses in the file, path.
void read_load_binary(Bytes content, MachoCoreNotes &out) {
  if (note_word(content, 0) == 1)
    add_note_image(text_at(content, 36, longest_note_path), note_long(content, 20), out);
}

// u32 version, u32 kind, u64 address.
void read_main_binary(Bytes content, MachoCoreNotes &out) {
  constexpr u32 unspecified = 0, user = 2;
  const u32 version = note_word(content, 0), kind = note_word(content, 4);
  if ((version == 1 || version == 2) && (kind == unspecified || kind == user) && note_long(content, 8) != no_address)
    out.linkers.push_back(note_long(content, 8));
}

// Version 3: u32 bits; version 4: u32 bits of low addresses, u32 bits of high ones.
void read_address_bits(Bytes content, MachoCoreNotes &out) {
  if (const u32 version = note_word(content, 0); version == 3 || version == 4)
    out.address_bits = note_word(content, 4);
}

// JSON: {"threads": [{"thread_id": 1}, …]}.
void read_metadata(Bytes content, MachoCoreNotes &out) {
  const std::string_view text = as_text(content);
  try {
    const Json all = parse_json(text.substr(0, text.find('\0')));
    const Json *threads = all.find("threads");
    if (!threads || !threads->is_list())
      return;
    for (const Json &thread : threads->list()) {
      const Json *id = thread.find("thread_id");
      if (out.threads.size() < most_noted_threads)
        out.threads.push_back(id && id->is_unsigned() ? id->number() : 0);
    }
  } catch (const Error &) {
    out.threads.clear(); // what cannot be read is as good as not there
  }
}

} // namespace

void read_macho_note(std::string_view name, Bytes content, Bytes file, MachoCoreNotes &out) {
  out.any = true;
  if (name == "all image infos")
    read_all_images(content, file, out);
  else if (name == "load binary")
    read_load_binary(content, out);
  else if (name == "main bin spec")
    read_main_binary(content, out);
  else if (name == "addrable bits")
    read_address_bits(content, out);
  else if (name == "process metadata" && content.size() <= most_metadata && out.threads.empty())
    read_metadata(content, out);
}

} // namespace dnheap
