#include "analysis/native/mapped_views.h"

#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u32 closed_bit = 1;           // of SafeHandle._state
constexpr u64 most_view = u64{1} << 46; // bytes

u64 stored_bytes(const Memory &memory, Address start, u64 size) {
  const auto ranges = memory.ranges();
  auto at = std::upper_bound(ranges.begin(), ranges.end(), start,
                             [](Address a, const Range &range) { return a < range.address; });
  if (at != ranges.begin())
    --at;
  u64 out = 0;
  for (; at != ranges.end() && at->address < start + size; ++at) {
    const Address from = std::max(at->address, start), to = std::min(at->end(), start + size);
    out += to > from ? to - from : 0;
  }
  return out;
}

// The files by the places of their pieces: views of one file lie between other files.
class FilePieces {
public:
  explicit FilePieces(const Target &target) {
    for (const Module &module : target.modules)
      for (const Extent &piece : module.extents)
        pieces_.push_back({piece.start, piece.end, &module});
    std::ranges::sort(pieces_, {}, &Piece::start);
  }
  std::string path_at(Address address) const {
    const auto next = std::ranges::upper_bound(pieces_, address, {}, &Piece::start);
    return next != pieces_.begin() && address < std::prev(next)->end ? std::prev(next)->module->path : "";
  }

private:
  struct Piece {
    Address start, end;
    const Module *module;
  };
  std::vector<Piece> pieces_;
};

} // namespace

std::vector<MappedView> find_mapped_views(const Snapshot &snapshot) {
  std::vector<MappedView> out;
  if (!count_called(snapshot, view_handle))
    return out;
  FieldReader fields(snapshot.runtime());
  const u64 never_set = fields.pointer_size() == 8 ? ~u64{0} : 0xffffffff;
  const Target &target = snapshot.target();
  const FilePieces files(target);
  for (const TypedObject &object : objects_called(snapshot, view_handle)) {
    const std::optional<u32> state = fields.number<u32>(object.address, "_state");
    const Address start = fields.reference_or_null(object.address, "handle");
    const std::optional<Address> size = fields.reference(object.address, "_numBytes"); // as large as a pointer
    if (!state || *state & closed_bit || !start || !size || !*size || *size == never_set || *size > most_view ||
        start + *size < start)
      continue;
    out.push_back({object.address, start, *size, stored_bytes(target.memory, start, *size), files.path_at(start)});
  }
  return out;
}

std::string files_text(const std::vector<MappedView> &views) {
  std::map<std::string, u64> files;
  u64 of_files = 0, of_none = 0;
  for (const MappedView &one : views)
    if (one.file.empty())
      of_none += one.bytes;
    else
      files[one.file] += one.bytes, of_files += one.bytes;
  const std::string none = of_none ? bytes_text(of_none) + " of no file" : "";
  if (files.empty())
    return none;
  const auto most = std::ranges::max_element(files, {}, [](const auto &one) { return one.second; });
  const u64 others = files.size() - 1;
  return fmt::format("{} of {}", bytes_text(of_files),
                     printable(most->first.substr(most->first.find_last_of("/\\") + 1))) +
         (others ? fmt::format(" and {} other {}", count_text(others), others == 1 ? "file" : "files") : "") +
         (none.empty() ? "" : ", and " + none);
}

} // namespace dnheap
