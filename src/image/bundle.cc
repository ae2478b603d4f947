#include "image/bundle.h"

#include <array>
#include <optional>

namespace dnheap {

namespace {

constexpr u32 most_files = 65536;
constexpr u64 longest_path = 4096;

// The bundle's signature: SHA-256 of ".net core bundle". The 8 bytes before it are the file offset of the list of
// bundled files; 0: none.
constexpr std::array<unsigned char, 32> mark = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93,
                                                0x02, 0x14, 0xd7, 0xa0, 0x32, 0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae,
                                                0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

class Reader {
public:
  Reader(Bytes file, u64 at) : file_(file), at_(at) {}

  template <std::unsigned_integral T> std::optional<T> number() {
    std::optional<T> out = load_at<T>(file_, at_, ByteOrder::little);
    at_ = out ? at_ + sizeof(T) : file_.size(); // after a failure nothing more can be read
    return out;
  }
  // Reads a string of BinaryWriter: the length in groups of seven bits, then UTF-8.
  std::optional<std::string> text() {
    u64 length = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
      std::optional<u8> group = number<u8>();
      if (!group)
        break;
      length |= u64{*group & 0x7fu} << shift;
      if (*group & 0x80)
        continue;
      if (length == 0 || length > longest_path || slice(file_, at_, length).empty())
        break;
      at_ += length;
      return std::string(as_text(file_.subspan(at_ - length, length)));
    }
    return std::nullopt;
  }

private:
  Bytes file_;
  u64 at_;
};

std::optional<u64> find_list(Bytes file) {
  std::string_view wanted(reinterpret_cast<const char *>(mark.data()), mark.size());
  std::size_t at = as_text(file).find(wanted);
  if (at == std::string_view::npos || at < 8)
    return std::nullopt;
  return load_at<u64>(file, at - 8, ByteOrder::little);
}

} // namespace

std::vector<BundledFile> read_bundle(Bytes file) {
  std::optional<u64> list = find_list(file);
  if (!list)
    return {};
  Reader reader(file, *list);
  std::optional<u32> major = reader.number<u32>(), minor = reader.number<u32>(), count = reader.number<u32>();
  // Versions: 1: .NET Core 3; 2: .NET 5, with five more numbers; 6: .NET 6 and later, with compressed sizes.
  if (!major || !minor || !count || (*major != 1 && *major != 2 && *major != 6) || *count > most_files ||
      !reader.text())
    return {};
  for (int i = 0; *major >= 2 && i < 5; ++i)
    reader.number<u64>();
  std::vector<BundledFile> out;
  for (u32 i = 0; i < *count; ++i) {
    std::optional<u64> offset = reader.number<u64>(), size = reader.number<u64>();
    std::optional<u64> compressed = *major == 6 ? reader.number<u64>() : u64{0};
    reader.number<u8>(); // the kind of file
    std::optional<std::string> path = reader.text();
    if (!offset || !size || !compressed || !path)
      return {};
    const u64 stored = *compressed ? *compressed : *size;
    if (*offset > file.size() || stored > file.size() - *offset)
      return {};
    out.push_back({*offset, stored, *compressed != 0, std::move(*path)});
  }
  return out;
}

} // namespace dnheap
