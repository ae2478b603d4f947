#include "runtime/coreclr/code/runtime_function.h"

namespace dnheap {

u32 RuntimeFunctions::begin(u32 index) const { return memory_->u32_at(table_ + index * size(), "a runtime function"); }

RuntimeFunction RuntimeFunctions::at(u32 index) const {
  const Address at = table_ + index * size();
  return {memory_->u32_at(at, "a runtime function"),
          memory_->u32_at(at + (has_end_ ? 8 : 4), "a runtime function's unwind data")};
}

u64 RuntimeFunctions::length(u32 index, Address image_base) const {
  const RuntimeFunction function = at(index);
  if (has_end_) {
    const u32 end = memory_->u32_at(table_ + index * size() + 4, "a runtime function's end");
    return end > function.begin ? end - function.begin : 0;
  }
  if (is_x86_)
    return memory_->u32_at(image_base + function.unwind_data, "unwind data");
  // In arm64's unwind data the lowest 18 bits count the instructions.
  return u64{memory_->u32_at(image_base + function.unwind_data, "unwind data") & 0x3ffff} * 4;
}

u64 RuntimeFunctions::unwind_info_size(Address info) const {
  if (has_end_) { // a header, codes of two bytes, padding, and the address of the personality routine
    const u32 codes = memory_->u32_at(info, "unwind data") >> 16 & 255;
    return align_up(4 + 2 * u64{codes} + 4, 4);
  }
  if (is_x86_)
    return 4;
  const u32 header = memory_->u32_at(info, "unwind data");
  u64 words = header >> 27, scopes = header >> 22 & 31, size = 4;
  if (words == 0 && scopes == 0) {
    const u32 more = memory_->u32_at(info + 4, "unwind data");
    words = more >> 16 & 255;
    scopes = more & 0xffff;
    size = 8;
  }
  const bool one_epilog = header >> 21 & 1;
  return size + (one_epilog ? 0 : 4 * scopes) + 4 * words + 4;
}

} // namespace dnheap
