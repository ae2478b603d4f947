#include "metadata/portable_pdb.h"

#include "metadata/signature.h"

namespace dnheap {

namespace {

constexpr u64 longest_path = 4096;
constexpr u32 most_awaits = 1 << 16;
constexpr u32 most_variables = 1 << 20; // per method, in all its scopes
// The kind of CustomDebugInformation that lists awaits, as the GUID's bytes in memory.
constexpr u8 stepping[] = {0xc5, 0x2a, 0xfd, 0x54, 0x25, 0xe9, 0x1a, 0x40,
                           0x9c, 0x2a, 0xf9, 0x4f, 0x17, 0x10, 0x72, 0xf8};

// II.23.2, signed: the sign is the lowest bit.
std::optional<i32> take_signed(Bytes &rest) {
  const u64 before = rest.size();
  const std::optional<u32> raw = take_compressed(rest);
  if (!raw)
    return std::nullopt;
  const u64 size = before - rest.size();
  const i32 sign = size == 1 ? 0x40 : size == 2 ? 0x2000 : 0x10000000, value = static_cast<i32>(*raw >> 1);
  return *raw & 1 ? value - sign : value;
}

// Iterates over the sequence points of a method.
class SequencePoints {
public:
  SequencePoints(Bytes blob, u32 document) : rest_(blob), document_(document) {
    const std::optional<u32> signature = take_compressed(rest_);
    const std::optional<u32> first = document ? document : signature ? take_compressed(rest_) : std::nullopt;
    document_ = first.value_or(0);
  }

  bool next() {
    std::optional<u32> delta = take_compressed(rest_);
    while (delta == 0u && !is_first_) { // the following points are in another document
      const std::optional<u32> document = take_compressed(rest_);
      if (!document)
        return false;
      document_ = *document;
      delta = take_compressed(rest_);
    }
    const std::optional<u32> lines = delta ? take_compressed(rest_) : std::nullopt;
    if (!lines)
      return false;
    const bool is_one_line = *lines == 0;
    const std::optional<i64> columns = is_one_line ? widen(take_compressed(rest_)) : widen(take_signed(rest_));
    if (!columns)
      return false;
    il_offset_ += *delta;
    is_first_ = false;
    is_hidden_ = is_one_line && *columns == 0;
    return is_hidden_ || take_start();
  }
  u64 il_offset() const { return il_offset_; }
  bool is_hidden() const { return is_hidden_; }
  SourcePoint point() const { return {document_, static_cast<u32>(line_)}; }

private:
  template <class T> static std::optional<i64> widen(std::optional<T> value) {
    return value ? std::optional(static_cast<i64>(*value)) : std::nullopt;
  }
  bool take_start() {
    const bool is_absolute = line_ < 0;
    for (i64 *part : {&line_, &column_}) {
      const std::optional<i64> value = is_absolute ? widen(take_compressed(rest_)) : widen(take_signed(rest_));
      if (!value)
        return false;
      *part = is_absolute ? *value : *part + *value;
      if (*part < 0 || *part > 0xffffffff)
        return false;
    }
    return true;
  }

  Bytes rest_;
  u32 document_;
  u64 il_offset_ = 0;
  i64 line_ = -1, column_ = -1; // position of the last visible one
  bool is_first_ = true, is_hidden_ = false;
};

} // namespace

std::optional<PortablePdb> PortablePdb::parse(Bytes file) {
  std::optional<Metadata> metadata = Metadata::parse(file);
  if (!metadata || metadata->pdb_id().empty())
    return std::nullopt;
  return PortablePdb(std::move(*metadata));
}

std::optional<SourcePoint> PortablePdb::find(u32 method, u32 il_offset) const {
  const std::optional<u32> document = metadata_.column(Table::MethodDebugInformation, method, 0),
                           blob = metadata_.column(Table::MethodDebugInformation, method, 1);
  if (!document || !blob || !*blob)
    return std::nullopt;
  SequencePoints points(metadata_.blob(*blob), *document);
  std::optional<SourcePoint> out;
  while (points.next() && points.il_offset() <= il_offset)
    if (!points.is_hidden())
      out = points.point();
  return out;
}

// The blob holds a separator, then references to blobs with the parts to join.
std::string PortablePdb::document(u32 number) const {
  const std::optional<u32> name = metadata_.column(Table::Document, number, 0);
  Bytes rest = name ? metadata_.blob(*name) : Bytes();
  std::string out;
  if (rest.empty())
    return out;
  const char separator = static_cast<char>(rest[0]);
  rest = rest.subspan(1);
  for (bool is_first = true; !rest.empty() && out.size() < longest_path; is_first = false) {
    const std::optional<u32> part = take_compressed(rest);
    if (!part)
      break;
    if (!is_first && separator)
      out += separator;
    if (*part)
      out += as_text(metadata_.blob(*part));
  }
  out.resize(std::min<u64>(out.size(), longest_path));
  return out;
}

// Scopes are sorted by method; an inner scope comes after the outer one. Optimizing compilers give variables of
// adjacent scopes the same number. An await lies inside the scopes of the variables that it keeps, or exactly at their
// ends.
std::string PortablePdb::local(u32 method, u32 number, u32 il_offset) const {
  const u32 rows = metadata_.row_count(Table::LocalScope), variables = metadata_.row_count(Table::LocalVariable);
  u32 first = 1; // the first row of the method
  for (u32 end = rows + 1; first < end;) {
    const u32 middle = first + (end - first) / 2;
    if (metadata_.column(Table::LocalScope, middle, 0).value_or(0) < method)
      first = middle + 1;
    else
      end = middle;
  }
  std::string out;
  u32 left = most_variables;
  for (u32 scope = first; scope <= rows && left && metadata_.column(Table::LocalScope, scope, 0) == method; ++scope) {
    const u64 start = metadata_.column(Table::LocalScope, scope, 4).value_or(0),
              length = metadata_.column(Table::LocalScope, scope, 5).value_or(0);
    if (il_offset < start || il_offset > start + length)
      continue;
    const u32 end = metadata_.column(Table::LocalScope, scope + 1, 2).value_or(variables + 1);
    for (u32 at = metadata_.column(Table::LocalScope, scope, 2).value_or(end);
         at && at < end && at <= variables && left; ++at, --left)
      if (metadata_.column(Table::LocalVariable, at, 1) == number)
        out = std::string(metadata_.string(*metadata_.column(Table::LocalVariable, at, 2)));
  }
  return out;
}

// Layout: {u32 of a handler; for each await: u32 suspend offset, u32 resume offset, row of the method}
std::vector<u32> PortablePdb::awaits(u32 method) const {
  std::vector<u32> out;
  const u32 rows = metadata_.row_count(Table::CustomDebugInformation);
  for (u32 row = 1; row <= rows; ++row) {
    if (metadata_.token_column(Table::CustomDebugInformation, row, 0) != token(Table::MethodDef, method))
      continue;
    const Bytes kind = metadata_.guid(metadata_.column(Table::CustomDebugInformation, row, 1).value_or(0));
    if (!std::equal(kind.begin(), kind.end(), std::as_bytes(std::span(stepping)).begin(),
                    std::as_bytes(std::span(stepping)).end()))
      continue;
    Bytes rest = metadata_.blob(metadata_.column(Table::CustomDebugInformation, row, 2).value_or(0));
    for (rest = slice(rest, 4, rest.size() < 4 ? 0 : rest.size() - 4); rest.size() > 8 && out.size() < most_awaits;) {
      out.push_back(load<u32>(rest.data(), ByteOrder::little));
      rest = rest.subspan(8);
      if (!take_compressed(rest))
        break;
    }
    break;
  }
  return out;
}

} // namespace dnheap
