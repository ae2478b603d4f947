// Any bytes as debug info of any format, and as the table of an image that leads to it: what is read of it is in the
// order of the code, and comes to an end.
#include "fuzz/check.h"
#include "runtime/compiled/debug_info.h"
#include "runtime/compiled/native_array.h"

#include <algorithm>

using namespace dnheap;
using dnheap::test::check;

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, std::size_t size) {
  if (size == 0)
    return 0;
  const Memory memory(Format{}, {Range{0x1000, std::as_bytes(std::span(data + 1, size - 1))}});
  DebugInfoPlace place{0x1000, static_cast<DebugInfoFormat>(data[0] % 3), (data[0] & 4) != 0};
  std::vector<IlBoundary> found;
  const NativeArray array(memory, 0x1000, 0);
  for (u32 index = 0; index < 64; ++index)
    if (const std::optional<u32> at = array.find(index)) {
      place.address = 0x1000 + *at;
      (void)read_il_boundaries(memory, place, found);
    }
  place.address = 0x1000;
  const ReadOutcome outcome = read_il_boundaries(memory, place, found);
  check(outcome || found.empty());
  std::vector<AwaitPoint> awaits;
  const ReadOutcome of_awaits = read_await_points(memory, place, awaits);
  check(of_awaits || awaits.empty());
  check(std::is_sorted(found.begin(), found.end(),
                       [](const IlBoundary &a, const IlBoundary &b) { return a.native_offset < b.native_offset; }));
  for (const IlBoundary &one : found)
    if (const std::optional<u32> il = il_offset_at(found, one.native_offset))
      check(*il < IlBoundary::epilog);
  return 0;
}
