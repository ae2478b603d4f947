#include "snapshot/files/file_fit.h"

#include "contract/parse.h"

#include <algorithm>
#include <cstring>

namespace dnheap {

std::vector<Range> descriptor_parts(const Memory &file, Address descriptor) {
  std::vector<Range> out;
  for (const DescriptorExtent &extent : descriptor_extents(file, descriptor))
    if (Bytes bytes = file.view(extent.start, extent.size); !bytes.empty())
      out.push_back({extent.start, bytes});
  return out;
}

Agreement compare_known(const Memory &memory, std::span<const Range> parts, u64 limit) {
  Agreement out;
  for (const Range &part : parts) {
    auto ranges = memory.ranges();
    auto at = std::upper_bound(ranges.begin(), ranges.end(), part.address,
                               [](Address a, const Range &r) { return a < r.address; });
    if (at != ranges.begin() && std::prev(at)->end() > part.address)
      --at;
    for (; at != ranges.end() && at->address < part.end() && out.compared < limit; ++at) {
      Address start = std::max(at->address, part.address);
      u64 size = std::min({at->end(), part.end(), start + (limit - out.compared)}) - start;
      size = memory.fetched(at->bytes.subspan(start - at->address, size)).size();
      const std::byte *mine = at->bytes.data() + (start - at->address),
                      *theirs = part.bytes.data() + (start - part.address);
      out.compared += size;
      if (size && std::memcmp(mine, theirs, size) == 0) {
        out.equal += size;
        continue;
      }
      for (u64 i = 0; i < size; ++i)
        out.equal += mine[i] == theirs[i];
    }
  }
  return out;
}

} // namespace dnheap
