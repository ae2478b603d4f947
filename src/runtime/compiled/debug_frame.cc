#include "runtime/compiled/debug_frame.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 wide_length = 0xffffffff, shared_id = 0xffffffff;
constexpr u64 head = 8; // length and id, if both have 32 bits

// Returns a record from its id to its end; empty: none, or one with 64-bit lengths.
Bytes record_at(Bytes section, u64 at, ByteOrder order) {
  const std::optional<u32> length = load_at<u32>(section, at, order);
  return length && *length >= 4 && *length != wide_length ? slice(section, at + 4, *length) : Bytes();
}

} // namespace

void DebugFrame::read() const {
  if (is_read_)
    return;
  is_read_ = true;
  for (u64 at = 0;;) {
    const Bytes record = record_at(section_, at, format_.byte_order);
    if (record.empty())
      break;
    if (load<u32>(record.data(), format_.byte_order) != shared_id)
      if (const std::optional<FunctionFrame> function = function_at(at))
        entries_.push_back({function->start, function->end, at});
    at += 4 + record.size();
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry &a, const Entry &b) { return a.start < b.start; });
}

std::optional<FunctionFrame> DebugFrame::function_at(u64 at) const {
  const Bytes own = record_at(section_, at, format_.byte_order);
  const u64 shared_at = load<u32>(own.data(), format_.byte_order);
  const Bytes shared = record_at(section_, shared_at, format_.byte_order);
  if (shared.empty() || load<u32>(shared.data(), format_.byte_order) != shared_id)
    return std::nullopt;
  FunctionFrame out;
  SharedFrame said;
  if (!read_shared_frame({shared.subspan(4), shared_at + head, format_}, said, out) ||
      !read_own_frame({own.subspan(4), at + head, format_}, said, out))
    return std::nullopt;
  out.storage[0] = storage_;
  return out;
}

std::optional<FunctionFrame> DebugFrame::find(Address address) const {
  read();
  const Address in_file = address - bias_;
  auto after = std::upper_bound(entries_.begin(), entries_.end(), in_file,
                                [](Address a, const Entry &entry) { return a < entry.start; });
  if (after == entries_.begin() || std::prev(after)->end <= in_file)
    return std::nullopt;
  std::optional<FunctionFrame> out = function_at(std::prev(after)->at);
  if (out) {
    out->start += bias_;
    out->end += bias_;
  }
  return out;
}

} // namespace dnheap
