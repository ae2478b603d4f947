#include "dump/records/gcdump_reader.h"

#include "base/error.h"
#include "base/text.h"
#include "target/memory.h"

namespace dnheap {

void GcDumpReader::fail(const char *what) const {
  throw Error(std::string("the .gcdump is cut off or damaged: ") + what + " is not readable at byte " +
              count_text(at_));
}

u8 GcDumpReader::byte(const char *what) { return static_cast<u8>(array(1, 1, what)[0]); }
u32 GcDumpReader::word(const char *what) { return load<u32>(array(1, 4, what).data(), ByteOrder::little); }
u64 GcDumpReader::quad(const char *what) { return load<u64>(array(1, 8, what).data(), ByteOrder::little); }

Bytes GcDumpReader::array(u64 count, u64 size, const char *what) {
  if (count > (file_.size() - at_) / size)
    fail(what);
  const Bytes out = file_.subspan(at_, count * size);
  at_ += count * size;
  return out;
}

u64 GcDumpReader::count(u64 least, const char *what) {
  const u32 out = word(what);
  if (out > 0x7fffffff || out > (file_.size() - at_) / least)
    fail(what);
  return out;
}

std::string GcDumpReader::text(const char *what) {
  const u32 units = word(what);
  if (units == ~u32{0})
    return {};
  if (units > file_.size() - at_)
    fail(what);
  std::u16string out;
  out.reserve(units);
  for (u32 i = 0; i < units; ++i) {
    u32 unit = byte(what);
    if (unit >= 0xe0) {
      unit = (unit & 0xf) << 6 | (byte(what) & 0x3fu);
      unit = unit << 6 | (byte(what) & 0x3fu);
    } else if (unit >= 0x80) {
      unit = (unit & 0x1f) << 6 | (byte(what) & 0x3fu);
    }
    out += static_cast<char16_t>(unit);
  }
  constexpr ByteOrder native = is_native(ByteOrder::little) ? ByteOrder::little : ByteOrder::big;
  return utf16_to_utf8(std::as_bytes(std::span(out)), native);
}

bool GcDumpReader::has_tag(u8 tag) {
  if (at_ >= file_.size() || static_cast<u8>(file_[at_]) != tag)
    return false;
  ++at_;
  return true;
}

bool GcDumpReader::begin_object(ObjectType &type, const char *what) {
  if (has_tag(tag_null))
    return false;
  if (!has_tag(tag_begin) && !has_tag(tag_begin_private))
    fail(what);
  const u64 place = at_;
  if (has_tag(tag_again)) {
    const auto known = known_.find(word(what));
    if (known == known_.end())
      fail(what);
    type = known->second;
    return true;
  }
  if ((!has_tag(tag_begin) && !has_tag(tag_begin_private)) || !has_tag(tag_null))
    fail(what);
  type.version = word(what);
  type.least_reader = word(what);
  type.name = text(what);
  end_object(what);
  known_[place] = type;
  return true;
}

void GcDumpReader::end_object(const char *what) {
  if (!has_tag(tag_end))
    fail(what);
}

// The last four bytes lead to a word that leads to the table.
void GcDumpReader::skip_region(const char *what) {
  const u32 number = word(what);
  const std::optional<u32> at =
      file_.size() < 4 ? std::nullopt : load_at<u32>(file_, file_.size() - 4, ByteOrder::little);
  const std::optional<u32> table = at ? load_at<u32>(file_, *at, ByteOrder::little) : std::nullopt;
  const std::optional<u32> places = table ? load_at<u32>(file_, *table, ByteOrder::little) : std::nullopt;
  const std::optional<u32> end =
      places && number < *places ? load_at<u32>(file_, *table + 4 + u64{number} * 4, ByteOrder::little) : std::nullopt;
  if (!end || *end < at_ || *end > file_.size())
    fail(what);
  at_ = *end;
}

} // namespace dnheap
