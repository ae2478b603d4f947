#include "runtime/layout/coreclr/code.h"

#include "image/ready_to_run_header.h"
#include "runtime/vm/nibble_map.h"
#include "runtime/vm/range_section_map.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 entries = 256;   // in a table of the map
constexpr u64 piece = 1 << 17; // bytes of address space per entry of the last table, on 64-bit targets
constexpr u64 max_module = 4096, max_info = 1024;
constexpr u64 max_buckets = 1 << 24, looked_at_buckets = 256;
constexpr u64 max_groups = 1 << 16;
constexpr u64 collectible_flag = 1;
constexpr u64 first_address = 0x10000; // smaller words are numbers

class CodeDerivation {
public:
  explicit CodeDerivation(Derivation &derivation) : d_(derivation), p_(derivation.pointer_size) {}

  void run() {
    find_map();
    const std::optional<u64> top = d_.descriptor.try_number("ExecutionManagerCodeRangeMapAddress");
    if (!top)
      return;
    for (const RangeSection &section : RangeSectionMap(d_.memory, d_.descriptor, *top).sections())
      (section.ready_to_run_module ? images_ : heaps_).push_back(section);
    std::erase_if(heaps_, [](const RangeSection &section) { return !section.is_code_heap(); });
    derive_images();
    find_versions();
  }

private:
  // The root table is a variable of the runtime. From each of its entries, the path down leads to a fragment within the
  // part of the address space that the path stands for, and to a section that covers the fragment.
  void find_map() {
    const char *name = "ExecutionManagerCodeRangeMapAddress";
    if (d_.descriptor.try_number(name))
      return;
    std::vector<Address> found;
    d_.memory.as_searched([&] {
      d_.scan_data([&](Address at, u64 word) {
        if (word >= first_address && found.size() < 8 && is_map(at))
          found.push_back(at);
      });
    });
    if (found.size() == 1) {
      d_.memory.as_found([&] { is_map(found[0]); });
      d_.descriptor.set_number(name, found[0], true, Origin::discovered);
      return;
    }
    d_.descriptor.missing[name] = std::to_string(found.size()) +
                                  " candidates in the runtime's data; exactly one must pass: its tables lead to "
                                  "fragments, each in the part of the address space that the table's entry stands for";
  }

  // In 64-bit processes, all addresses lie in the part of the root's first entry, in 32-bit processes in any. Follows
  // only the first few entries per level.
  bool is_map(Address top) const {
    const unsigned levels = p_ == 8 ? 5 : 2;
    std::vector<std::pair<Address, Address>> ways{{top, 0}}; // a table, and the start of its part
    for (unsigned level = 0; level < levels; ++level) {
      const u64 size = (p_ == 8 ? piece : piece / 2) << 8 * (levels - 1 - level);
      std::vector<std::pair<Address, Address>> next;
      for (const auto &[table, from] : ways)
        if (!follow_table(table, from, size, next))
          return false;
      ways = std::move(next);
    }
    return !ways.empty() && std::all_of(ways.begin(), ways.end(), [&](const auto &way) {
      return is_fragment(way.first, way.second, way.second + (p_ == 8 ? piece : piece / 2));
    });
  }
  bool follow_table(Address table, Address from, u64 size, std::vector<std::pair<Address, Address>> &to) const {
    constexpr u64 most = 16;
    const Bytes bytes = d_.memory.view(table, entries * p_);
    if (bytes.empty())
      return false;
    for (u64 i = 0; i < entries && to.size() < most; ++i)
      if (const u64 word = load_pointer(bytes.data() + i * p_, d_.memory.format())) {
        if (word < first_address || (word & ~collectible_flag) % p_ || !d_.word(word & ~collectible_flag))
          return false;
        to.emplace_back(word & ~collectible_flag, from + i * size);
      }
    return true;
  }
  bool is_fragment(Address at, Address from, Address to) const {
    const std::optional<u64> begin = d_.word(at + p_), end = d_.word(at + 2 * p_), section = d_.word(at + 3 * p_);
    if (!begin || !end || !section || *begin >= *end || *begin >= to || *end <= from)
      return false;
    const Address target = *section & ~collectible_flag;
    return d_.word(target) == begin && d_.word(target + p_) >= end;
  }

  // ReadyToRunInfo: {the Module, ., the header, ., whether it is a part, the whole image's info}. A part's header lies
  // in its assembly, the whole image's in the image. Dumps may lack images: then a header only has to lie in its image.
  // Heap dumps of Windows may lack pieces of the runtime's own memory, too: the content of such a piece is not tested.
  Verdict is_info(const RangeSection &image, Address info) const {
    const std::optional<u64> module = d_.word(info), whole = d_.word(info + 5 * p_);
    if (info >= first_address && info % p_ == 0 && !module && !whole)
      return Verdict::cannot_tell();
    if (module != image.ready_to_run_module || !whole || !*whole)
      return false;
    const std::optional<u64> of_whole = d_.word(*whole + 5 * p_), header = d_.word(*whole + 2 * p_);
    if (!header || of_whole != whole)
      return false;
    if (const std::optional<u32> begin = d_.memory.try_load<u32>(*header))
      return *begin == ready_to_run_signature;
    return *header >= image.begin && *header < image.end;
  }

  Address info_of(const RangeSection &image, i64 x) const {
    return d_.word(image.ready_to_run_module + u64(x)).value_or(0);
  }
  // Passes if the test passes for at least one image, and fails for none.
  Verdict for_images(const std::function<Verdict(const RangeSection &)> &test) const {
    const std::optional<u64> passed = images_that_pass(test);
    return passed == u64{0} ? Verdict::cannot_tell() : Verdict(passed.has_value());
  }
  // Returns how many images pass; nullopt if one fails.
  std::optional<u64> images_that_pass(const std::function<Verdict(const RangeSection &)> &test) const {
    u64 out = 0;
    for (const RangeSection &image : images_) {
      const Verdict verdict = test(image);
      if (verdict.fails())
        return std::nullopt;
      out += verdict.passes();
    }
    return out;
  }
  // Returns the offsets that pass for the largest number of images, and fail for none. To fail for none is not enough:
  // an image whose pointer leads out of the dump refutes nothing, so an offset that passes for one image by chance
  // would stay beside the right one, which passes for all.
  std::vector<i64> most_telling(const std::vector<i64> &offsets,
                                const std::function<Verdict(const RangeSection &, i64)> &test) const {
    std::vector<i64> out;
    u64 most = 1;
    for (i64 offset : offsets) {
      const u64 passed = images_that_pass([&](const RangeSection &image) { return test(image, offset); }).value_or(0);
      if (passed < most)
        continue;
      if (passed > most)
        out.clear();
      most = passed;
      out.push_back(offset);
    }
    return out;
  }

  void derive_images() {
    if (images_.empty()) { // no code is compiled ahead of time: nobody needs the value
      d_.descriptor.missing["Module.ReadyToRunInfo"] = "no image with code that was compiled ahead of time is loaded";
      return;
    }
    auto leads_to_info = [&](const RangeSection &image, i64 x) { return is_info(image, info_of(image, x)); };
    if (!d_.choose(
            "Module", "ReadyToRunInfo",
            [&] { return most_telling(Derivation::offsets(0, max_module, i64(p_)), leads_to_info); },
            [&](i64 x) { return for_images([&](const RangeSection &image) { return leads_to_info(image, x); }); },
            "for every Module that has code in a ReadyToRun image, it leads to data that points back at the Module and "
            "at the image's header",
            [&](i64 x) { // the info may point at itself, and lie behind the Module
              std::vector<u64> out;
              for (const RangeSection &image : images_)
                out.push_back(info_of(image, x));
              return out;
            }))
      return;
    const i64 at = d_.descriptor.offset("Module", "ReadyToRunInfo");
    auto leads_to_methods = [&](const RangeSection &image, i64 x) {
      const std::optional<u64> whole = d_.word(info_of(image, at) + 5 * p_);
      return whole ? is_method_map(*whole + u64(x), image) : Verdict::cannot_tell();
    };
    d_.choose(
        "ReadyToRunInfo", "EntryPointToMethodDescMap",
        [&] { return most_telling(Derivation::offsets(14 * i64(p_), max_info, i64(p_)), leads_to_methods); },
        [&](i64 x) { return for_images([&](const RangeSection &image) { return leads_to_methods(image, x); }); },
        "for every ReadyToRun image, it leads to a table of addresses in the image's code, which has at least one "
        "entry");
  }

  // {., ., Buckets}: their number, then for each bucket four keys and four values; keys 0 and 1 are unused.
  Verdict is_method_map(Address map, const RangeSection &image) const {
    const std::optional<u64> buckets = d_.word(map + 2 * p_);
    if (!buckets)
      return Verdict::cannot_tell();
    if (*buckets < first_address || *buckets % p_)
      return false;
    const std::optional<u32> size = d_.memory.try_load<u32>(*buckets);
    if (!size)
      return Verdict::cannot_tell();
    if (*size < 2 || *size > max_buckets)
      return false;
    bool any = false;
    for (u64 i = 0; i < std::min<u64>(*size, looked_at_buckets); ++i)
      for (u64 k = 0; k < 4; ++k) {
        const Address at = *buckets + (i + 1) * 8 * p_ + k * p_;
        const std::optional<u64> key = d_.word(at), value = d_.word(at + 4 * p_);
        if (!key || !value || *key <= 1)
          continue;
        // A composite image's map has the methods of all its parts.
        if (*key < image.begin || *key >= image.end || *value << 1 < first_address)
          return false;
        any |= d_.word(*value << 1).has_value();
      }
    return any ? Verdict(true) : Verdict::cannot_tell();
  }

  // The runtime and its CoreLib are built together, so the loaded image of the newest format shows the version of GC
  // info that the JIT writes: other images may be older.
  void find_versions() {
    ContractDescriptor &d = d_.descriptor;
    const std::optional<i64> at = d.try_offset("Module", "ReadyToRunInfo");
    u32 version = 0;
    for (const RangeSection &image : images_)
      if (const Address info = at ? d_.word(image.ready_to_run_module + u64(*at)).value_or(0) : 0)
        if (const std::optional<u64> header = d_.follow(info, {i64(5 * p_), i64(2 * p_)}))
          if (const std::optional<u16> major = d_.memory.try_load<u16>(*header + 4))
            version = std::max(version, ready_to_run_gc_info_version(*major));
    const bool pointers = has_pointer_groups();
    if (!d.contracts.contains("ExecutionManager")) {
      d.contracts["ExecutionManager"] = pointers ? "c2" : "c1";
      d.contract_origin["ExecutionManager"] = Origin::discovered;
    }
    if (!d.try_number("GCInfoVersion"))
      d.set_number("GCInfoVersion", version ? version : pointers ? 4 : 3, false, Origin::discovered);
  }

  // True if a map has pointer entries. One method of more than 256 bytes is enough; no other kind of map has such a
  // value.
  bool has_pointer_groups() const {
    for (const RangeSection &section : heaps_) {
      const u64 start = d_.word(section.heap_list + 2 * p_).value_or(0),
                end = d_.word(section.heap_list + 3 * p_).value_or(0),
                base = d_.word(section.heap_list + 4 * p_).value_or(0),
                map = d_.word(section.heap_list + 5 * p_).value_or(0);
      if (!map || start < base || end < start)
        continue;
      for (u64 i = (start - base) / 256; i <= (end - base) / 256 && i < max_groups; ++i)
        if (NibbleMap::is_pointer(d_.memory.try_load<u32>(map + 4 * i).value_or(0)))
          return true;
    }
    return false;
  }

  Derivation &d_;
  const u64 p_;
  std::vector<RangeSection> images_, heaps_;
};

} // namespace

void derive_code(Derivation &derivation) {
  try {
    CodeDerivation(derivation).run();
  } catch (const Error &e) {
    derivation.descriptor.missing["ExecutionManagerCodeRangeMapAddress"] = e.what();
  }
}

} // namespace dnheap
