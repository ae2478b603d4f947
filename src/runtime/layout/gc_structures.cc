#include "runtime/layout/gc_structures.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

constexpr u64 max_free_regions = 65536;

class GcStructures {
public:
  GcStructures(Derivation &derivation, const Gc &gc)
      : d_(derivation), p_(derivation.pointer_size), heaps_(gc.get_gc_heaps()) {
    for (const auto &[name, global] : d_.descriptor.globals)
      if (global.indirect && global.number && global.origin == Origin::discovered)
        starts_.push_back(*global.number);
    for (Address heap : heaps_)
      if (const DataType *type = d_.descriptor.find_type("GCHeap"); heap && type)
        for (const auto &[name, field] : type->fields)
          starts_.push_back(heap + static_cast<u64>(field.offset));
  }

  void run() {
    derive_oom_history();
    derive_finalize_queue();
    derive_counters();
    derive_card_table_info();
    derive_free_lists();
  }

private:
  // Returns the addresses of a member, in each heap that has it.
  std::vector<Address> members(const std::string &name) const {
    std::vector<Address> out;
    for (Address heap : heaps_)
      if (heap == 0) {
        if (std::optional<u64> variable = d_.descriptor.try_number("GCHeap" + name))
          out.push_back(*variable);
      } else if (std::optional<i64> offset = d_.descriptor.try_offset("GCHeap", name)) {
        out.push_back(heap + static_cast<u64>(*offset));
      }
    return out;
  }
  // True if no other variable, or member of a gc_heap, begins in that range.
  bool has_room(Address at, u64 size) const {
    return std::none_of(starts_.begin(), starts_.end(), [&](Address s) { return s > at && s < at + size; });
  }
  void set_field(const char *type, const char *field, u64 offset) {
    d_.descriptor.set_field(type, field, static_cast<i64>(offset), Origin::discovered);
  }
  void set_number(const char *name, u64 number) { d_.descriptor.set_number(name, number, false, Origin::discovered); }

  // struct oom_history: one word per member, three of them 32 bits wide.
  void derive_oom_history() {
    std::vector<Address> histories = members("OomData");
    if (histories.empty())
      return;
    for (Address at : histories) {
      std::optional<u32> reason = d_.memory.try_load<u32>(at), fgm = d_.memory.try_load<u32>(at + 5 * p_),
                         large = d_.memory.try_load<u32>(at + 8 * p_);
      if (!reason || !fgm || !large || *reason > 16 || *fgm > 16 || *large > 1) {
        d_.descriptor.missing["OomHistory"] = "the known layout; it must pass: in every heap's history, Reason and Fgm "
                                              "are small numbers, and LohP is 0 or 1";
        return;
      }
    }
    constexpr const char *fields[] = {"Reason", "AllocSize",           "Reserved", "Allocated", "GcIndex", "Fgm",
                                      "Size",   "AvailablePagefileMb", "LohP"};
    for (u64 i = 0; i < std::size(fields); ++i)
      set_field("OomHistory", fields[i], i * p_);
  }

  // CFinalize: ascending ends of its parts, two more than there are generations; then the array's begin and end. The
  // first part, for pinned objects, is always empty: it ends where the array begins.
  void derive_finalize_queue() {
    std::optional<u64> generations = d_.descriptor.try_number("TotalGenerationCount");
    std::vector<Address> queues;
    for (Address at : members("FinalizeQueue"))
      if (u64 queue = d_.word(at).value_or(0))
        queues.push_back(queue);
    if (queues.empty() || !generations)
      return;
    const u64 count = *generations + 2;
    auto passes = [&](i64 offset) -> Verdict {
      for (Address queue : queues) {
        const Address ends = queue + static_cast<u64>(offset);
        u64 last = d_.word(ends + count * p_).value_or(0);
        if (last == 0 || last != d_.word(ends))
          return false;
        for (u64 i = 0; i <= count; ++i) { // the last one: the end of the array
          u64 end = d_.word(ends + (i == count ? count + 1 : i) * p_).value_or(0);
          if (end < last || end % p_)
            return false;
          last = end;
        }
      }
      return true;
    };
    if (d_.choose(
            "CFinalize", "FillPointers",
            [&] { return Derivation::offsets(0, 8 * static_cast<i64>(p_), static_cast<i64>(p_)); }, passes,
            "the ends of the parts ascend, from the start of the array to no more than its end, which both follow"))
      set_number("CFinalizeFillPointersLength", count);
  }

  // Arrays of counters. Their lengths are fixed (gc/gcinterface.dac.h), since older debuggers have them built in; two
  // arrays of one gc_heap, or two variables, must be far enough apart for them.
  void derive_counters() {
    struct Counters {
      const char *member, *length;
      u64 count;
    };
    constexpr Counters all[] = {{"InterestingData", "InterestingDataLength", 9},
                                {"CompactReasons", "CompactReasonsLength", 11},
                                {"ExpandMechanisms", "ExpandMechanismsLength", 6},
                                {"InterestingMechanismBits", "InterestingMechanismBitsLength", 2}};
    auto set_length = [&](const char *length, u64 count, const std::vector<Address> &arrays) {
      bool room = std::all_of(arrays.begin(), arrays.end(), [&](Address at) { return has_room(at, count * p_); });
      if (!arrays.empty() && room)
        set_number(length, count);
      else if (!room)
        d_.descriptor.missing[length] = "the known length, " + std::to_string(count) +
                                        "; it must pass: no other variable of the GC begins inside the array";
    };
    for (const Counters &c : all)
      set_length(c.length, c.count, members(c.member));
    if (std::optional<u64> global = d_.descriptor.try_number("GCGlobalMechanisms"))
      set_length("GlobalMechanismsLength", 6, {*global});
  }

  // The header of a card table: {u32 uses, size, next, lowest address, highest address, …}.
  void derive_card_table_info() {
    std::optional<u64> variable = d_.descriptor.try_number("BookkeepingStart");
    Address start = variable ? d_.word(*variable).value_or(0) : 0;
    if (!start)
      return;
    std::optional<u32> uses = d_.memory.try_load<u32>(start);
    std::optional<u64> size = d_.word(start + p_), next = d_.word(start + 2 * p_);
    u64 info = d_.descriptor.try_number("CardTableInfoSize").value_or(0);
    bool sound = uses && *uses < 1 << 20 && size && *size >= info && next && (*next == 0 || *next > info) && info;
    if (!sound) {
      d_.descriptor.missing["CardTableInfo"] = "the known layout; it must pass: Recount is small, Size is at least the "
                                               "header's, and NextCardTable is null or "
                                               "leads to a header";
      return;
    }
    set_field("CardTableInfo", "Recount", 0);
    set_field("CardTableInfo", "Size", p_);
    set_field("CardTableInfo", "NextCardTable", 2 * p_);
  }

  // Returns all lists of free regions, if a list takes `size` bytes; none if they do not fit at that size.
  std::vector<Address> free_lists(u64 size) const {
    std::vector<Address> out = {*d_.descriptor.try_number("GlobalFreeHugeRegions")};
    std::vector<Address> arrays = members("FreeRegions");
    if (std::optional<u64> decommit = d_.descriptor.try_number("GlobalRegionsToDecommit"))
      arrays.push_back(*decommit);
    const u64 count = *d_.descriptor.try_number("CountFreeRegionKinds");
    for (Address array : arrays) {
      if (!has_room(array, count * size))
        return {};
      for (u64 i = 0; i < count; ++i)
        out.push_back(array + i * size);
    }
    return out;
  }
  std::vector<Address> heads(u64 head, u64 size) const {
    std::vector<Address> out;
    for (Address list : free_lists(size))
      out.push_back(d_.word(list + head).value_or(0));
    return out;
  }
  // True if all are lists of regions: their number first, head and tail in two neighbouring words. The head lies at
  // `head`, the lists are `size` apart. `any`: one of them has regions, which is the proof.
  bool are_free_lists(u64 head, u64 size, bool &any) const {
    any = false;
    std::vector<Address> lists = free_lists(size);
    for (Address list : lists) {
      std::optional<u64> count = d_.word(list), first = d_.word(list + head), last = d_.word(list + head + p_);
      if (!count || !first || !last || *count > max_free_regions || !is_list(*first, *last, *count))
        return false;
      any |= *count != 0;
    }
    return !lists.empty();
  }
  bool is_list(Address first, Address last, u64 count) const {
    const u64 next = static_cast<u64>(d_.descriptor.offset("HeapSegment", "Next"));
    Address at = first, previous = 0;
    for (u64 i = 0; i < count; ++i) {
      previous = at;
      if (at == 0 || at % p_)
        return false;
      std::optional<u64> following = d_.word(at + next);
      if (!following)
        return false;
      at = *following;
    }
    return at == 0 && previous == last;
  }

  void derive_free_lists() {
    if (!d_.descriptor.try_number("GlobalFreeHugeRegions") || !d_.descriptor.try_number("CountFreeRegionKinds"))
      return;
    struct Layout {
      u64 head, size;
    };
    // gc/gcpriv.h, region_free_list. If lists are empty, several layouts may give the same results for all lists: then
    // this one is taken.
    const Layout known{5 * p_, 7 * p_};
    std::vector<Layout> proved;
    std::set<std::vector<Address>> answers;
    bool any = false;
    for (u64 head = p_; head <= 10 * p_; head += p_)
      for (u64 size = head + 2 * p_; size <= 14 * p_; size += p_)
        if (are_free_lists(head, size, any) && any) {
          proved.push_back({head, size});
          answers.insert(heads(head, size));
        }
    if (are_free_lists(known.head, known.size, any) && answers.size() <= 1)
      proved = {known};
    if (proved.size() != 1) {
      d_.descriptor.missing["RegionFreeList"] =
          std::to_string(proved.size()) + " candidates; exactly one must pass: each list has as many regions as its "
                                          "first word says, from its head to its tail";
      return;
    }
    set_field("RegionFreeList", "HeadFreeRegion", proved[0].head);
    d_.descriptor.types["RegionFreeList"].size = static_cast<u32>(proved[0].size);
  }

  Derivation &d_;
  const u64 p_;
  const std::vector<Address> heaps_;
  std::vector<Address> starts_; // start addresses of all known variables and members of the GC
};

} // namespace

void derive_gc_structures(Derivation &derivation, const Gc &gc) { GcStructures(derivation, gc).run(); }

} // namespace dnheap
