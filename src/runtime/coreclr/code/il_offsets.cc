#include "runtime/coreclr/code/il_offsets.h"

namespace dnheap {

const std::vector<IlBoundary> &IlOffsets::boundaries_of(const CodeBlock &block) {
  auto [known, is_new] = methods_.try_emplace(block.start);
  if (!is_new)
    return known->second;
  try {
    unread_ += !read_il_boundaries(*memory_, code_->debug_info(block), known->second);
  } catch (const Error &) {
    ++unread_;
  }
  return known->second;
}

std::optional<u32> IlOffsets::find(Address ip, bool returns_there) {
  auto [known, is_new] = known_[returns_there].try_emplace(ip);
  if (is_new)
    known->second = look_up(ip, returns_there);
  return known->second;
}

std::optional<u32> IlOffsets::look_up(Address ip, bool returns_there) {
  try {
    const std::optional<CodeBlock> block = code_->find(ip);
    if (!block)
      return std::nullopt;
    const u64 offset = block->offset_of(ip);
    return il_offset_at(boundaries_of(*block), offset - (returns_there && offset ? 1 : 0));
  } catch (const Error &) {
    return std::nullopt; // the data that identifies the method is not in the dump
  }
}

} // namespace dnheap
