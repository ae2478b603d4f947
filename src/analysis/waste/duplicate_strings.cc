#include "analysis/waste/duplicate_strings.h"

#include "analysis/shapes/string_contents.h"
#include "analysis/waste/copies.h"
#include "base/parallel.h"
#include "objects/alignments.h"

#include <algorithm>

namespace dnheap {

namespace {

u64 count_of(const HeapTypes &types, const std::vector<bool> &wanted, const HeapTally &tally) {
  std::vector<Address> tables; // MethodTables of strings: one, or one per copy of the runtime's library
  for (u32 i = 0; i < types.size(); ++i)
    if (wanted[i])
      tables.push_back(types[TypeId{i}].method_table);
  u64 out = 0;
  for (const TypeTally &type : tally.types)
    out += std::ranges::count(tables, type.method_table) * type.total().count;
  return out;
}

// One thread's counts of all strings.
struct StringCount {
  u64 strings = 0, bytes = 0;
};

} // namespace

DuplicateStrings::DuplicateStrings(const Snapshot &snapshot, const ObjectFilter &filter) {
  are_blanked_ = snapshot.target().has_blanked_values();
  ObjectIndex copies = choose_copies(snapshot, find_equal(snapshot, filter));
  std::vector<u32> bytes(copies.count()); // for each copy
  for (const Group &group : groups_)
    for (u64 i = group.first; i < group.first + group.copies; ++i)
      bytes[copies_[i]] = static_cast<u32>(std::min<u64>(group.bytes, ~u32{0}));
  holders_.emplace(
      snapshot, copies, [&](u32 copy) { return bytes[copy]; }, filter.among);
  std::sort(groups_.begin(), groups_.end(), [](const Group &a, const Group &b) {
    return a.wasted() != b.wasted() ? a.wasted() > b.wasted() : a.hash < b.hash;
  });
}

EqualGroups DuplicateStrings::find_equal(const Snapshot &snapshot, const ObjectFilter &filter) {
  const References &references = snapshot.references();
  const ObjectIndex &index = snapshot.index();
  const std::vector<bool> is_string = string_types(references.types(), snapshot.runtime());
  is_type_known_ = std::find(is_string.begin(), is_string.end(), true) != is_string.end();
  const unsigned threads = std::max(snapshot.threads(), 1u);
  EqualContents contents(count_of(references.types(), is_string, snapshot.tally()), threads);
  Timer timer(snapshot.watch(), "strings", snapshot.heap().segment_bytes());
  if (!is_type_known_ || are_blanked_)
    return {};
  const StringLayout layout = string_layout(snapshot.runtime());
  const Format format = references.format();
  std::vector<StringCount> counts(threads);
  parallel_for(index.places().blocks(), threads, [&](u64 block, unsigned worker) {
    snapshot.watch().check();
    ReferenceReader reader(references);
    EqualContents::Writer &writer = contents.writer(worker);
    Alignments alignments(snapshot.heap(), index.places().block_address(block));
    StringCount count;
    index.for_each(block, [&](ObjectId, Address address) {
      OpenedObject string;
      if (!reader.open(address, string) || !is_string[static_cast<u32>(string.id)])
        return;
      Object object;
      object.address = address;
      object.size = string.size;
      const std::optional<Bytes> characters = characters_of(string, layout, format.byte_order);
      if (!characters || !filter.passes(object))
        return;
      const u64 alignment = alignments.of(address);
      ++count.strings;
      count.bytes += align_up(string.size, alignment);
      writer.add(content_hash(*characters), CopyTag::of(index.places().find(address), alignment > format.pointer_size));
    });
    counts[worker].strings += count.strings;
    counts[worker].bytes += count.bytes;
    if (auto *progress = snapshot.watch().progress)
      progress->done += index.places().block_size() << index.places().unit_shift();
  });
  for (const StringCount &count : counts)
    strings_ += count.strings, string_bytes_ += count.bytes;
  return contents.take_groups(threads, snapshot.watch());
}

ObjectIndex DuplicateStrings::choose_copies(const Snapshot &snapshot, EqualGroups equal) {
  const HeapPlaces &places = snapshot.index().places();
  const Heap &heap = snapshot.heap();
  const unsigned threads = std::max(snapshot.threads(), 1u);
  HeapBits bits(snapshot.index().starts().shared_places());
  groups_.resize(equal.groups.size());
  const u64 p = snapshot.references().format().pointer_size;
  constexpr u64 piece = 4096;
  parallel_for_parts(groups_.size(), piece, threads, [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    ReferenceReader reader(snapshot.references());
    const StringLayout layout = string_layout(snapshot.runtime());
    const ByteOrder order = snapshot.references().format().byte_order;
    HeapBits::Writer writer(bits);
    for (u64 g = begin; g < end; ++g) {
      const EqualGroup &from = equal.groups[g];
      const std::span<u64> tags(equal.tags.data() + from.first, from.count);
      const u64 stay = sort_out_copies(tags, heap, places);
      Group &to = groups_[g];
      to.hash = from.hash;
      to.strings = from.count;
      to.first = from.first + stay;
      to.copies = from.count - stay;
      to.kept = places.address(CopyTag::place(tags[0]));
      OpenedObject string;
      if (reader.open(to.kept, string)) {
        to.bytes = CopyTag::aligned_size(tags.back(), string.size, p);
        to.length = static_cast<u32>(characters_of(string, layout, order).value_or(Bytes()).size() / 2);
      }
      for (u64 tag : tags.subspan(stay))
        writer.add(places.address(CopyTag::place(tag)));
    }
    writer.flush();
  });
  ObjectIndex out(std::move(bits));
  // From here on copies are known by their numbers.
  u64 copies = 0;
  std::vector<u64> from(groups_.size());
  for (u64 g = 0; g < groups_.size(); ++g) {
    from[g] = groups_[g].first;
    groups_[g].first = copies;
    copies += groups_[g].copies;
    wasted_ += groups_[g].wasted();
  }
  copies_ = LargeArray<u32>(copies);
  parallel_for_parts(groups_.size(), piece, threads, [&](u64 begin, u64 end, unsigned) {
    snapshot.watch().check();
    constexpr u64 ahead = 16;
    for (u64 g = begin; g < end; ++g) {
      const std::span<const u64> tags(equal.tags.data() + from[g], groups_[g].copies);
      for (u64 k = 0; k < tags.size(); ++k) {
        if (k + ahead < tags.size())
          out.prefetch(CopyTag::place(tags[k + ahead]));
        copies_[groups_[g].first + k] = static_cast<u32>(out.at_place(CopyTag::place(tags[k])));
      }
    }
  });
  std::erase_if(groups_, [](const Group &group) { return group.copies == 0; });
  return out;
}

std::string DuplicateStrings::field_of(const Group &group) {
  std::unordered_map<u32, u64> counts;
  for (u64 i = group.first; i < group.first + group.copies; ++i)
    ++counts[(*holders_)[copies_[i]]];
  auto best = counts.begin();
  for (auto at = counts.begin(); at != counts.end(); ++at)
    if (at->second > best->second || (at->second == best->second && at->first < best->first))
      best = at;
  return best == counts.end() ? std::string() : holders_->text(best->first);
}

std::vector<DuplicateStrings::Field> DuplicateStrings::fields() {
  struct Sum {
    u64 copies = 0, contents = 0, bytes = 0, last = ~u64{0}; // last: the group that was counted last
  };
  std::unordered_map<u32, Sum> sums;
  for (u64 g = 0; g < groups_.size(); ++g)
    for (u64 i = groups_[g].first; i < groups_[g].first + groups_[g].copies; ++i) {
      Sum &sum = sums[(*holders_)[copies_[i]]];
      ++sum.copies;
      sum.bytes += groups_[g].bytes;
      sum.contents += std::exchange(sum.last, g) != g;
    }
  std::vector<Field> out;
  for (const auto &[field, sum] : sums)
    out.push_back({holders_->text(field), sum.copies, sum.contents, sum.bytes});
  std::sort(out.begin(), out.end(), [](const Field &a, const Field &b) {
    return std::tie(b.bytes, b.copies, a.text, b.contents) < std::tie(a.bytes, a.copies, b.text, a.contents);
  });
  return out;
}

} // namespace dnheap
