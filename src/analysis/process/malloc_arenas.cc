#include "analysis/process/malloc_arenas.h"

#include "analysis/process/mallocng.h"
#include "base/most_frequent.h"
#include "base/text.h"
#include "runtime/library_names.h"
#include "target/word_window.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 heap_alignment = 64 << 20; // HEAP_MAX_SIZE on 64-bit systems: heaps begin at its multiples
constexpr u64 page = 4096;
constexpr u64 most_arenas = 65536, most_heaps = 65536;
constexpr u64 most_places = 1 << 22; // possible heaps: more than an address space has
constexpr u64 bin_pairs = 127;
// Offsets in struct malloc_state relative to its bins (2.31 to 2.43); the size of the part before them varies.
constexpr u64 top_before_bins = 16, next_behind_bins = 2048, end_behind_bins = 2088;
constexpr u64 most_before_bins = 200;

// True if these are the free lists of an arena: each leads to itself (empty), or is a ring.
bool are_bins(const Memory &memory, Address bins) {
  constexpr u64 least_empty = 20;
  u64 empty = 0;
  for (u64 i = 0; i < bin_pairs; ++i) {
    const Address at = bins + 16 * i, head = at - 16;
    const std::optional<u64> first = memory.try_load<u64>(at), last = memory.try_load<u64>(at + 8);
    if (!first || !last)
      return false;
    if (*first == head && *last == head)
      ++empty;
    else if (*first % 16 || *last % 16 || memory.try_load<u64>(*first + 24) != head ||
             memory.try_load<u64>(*last + 16) != head)
      return false;
  }
  return empty > least_empty;
}

class GlibcReader {
public:
  GlibcReader(const Target &target, u64 most_blocks, MallocArenas &out)
      : target_(target), memory_(target.memory), words_(target.memory), out_(out), most_blocks_(most_blocks),
        steps_left_(memory_.size() / 4 + (1 << 20)) {} // four times as many chunks as there is room for

  void read() {
    for (const Module &module : target_.modules)
      if (is_glibc(module) && !bins_)
        find_bins(module);
    if (bins_) {
      add_arenas();
    } else {
      find_lone_heaps();
      if (!find_lone_main_heap())
        out_.problems.add(Subject::memory, Effect::none,
                          "malloc's main arena was not found: what it holds is not identified");
    }
    subtract_cached();
    if (most_blocks_)
      list_blocks();
  }

private:
  static constexpr u64 word_size = 8, smallest_block = 32; // with its header
  static constexpr u64 flags = 7, in_use_flag = 1;         // of a chunk's size; the flag is about the chunk before

  // True if `steps` more may be looked at. The limit keeps a hostile dump from making the walk endless.
  bool may_go_on(u64 steps = 1) {
    if (steps_left_ < steps)
      return false;
    steps_left_ -= steps;
    return true;
  }
  std::optional<u64> word(Address address) const { return memory_.try_load<u64>(address); }

  // Searches libc's writable memory, and a little after it, where the system puts memory that starts as zeros.
  void find_bins(const Module &libc) {
    constexpr u64 behind = 64 << 10, most = 8 << 20, looked_at = 4;
    for (const Mapping &mapping : target_.mappings) {
      const Address from = std::max(mapping.start, libc.base), until = std::min(mapping.end, libc.end() + behind);
      if (!mapping.writable || from >= until || until - from > most)
        continue;
      auto may_begin_at = [&](Address at) { // one of the first lists is empty
        for (u64 i = 0; i < looked_at; ++i)
          if (word(at + 16 * i) == at + 16 * i - 16)
            return true;
        return false;
      };
      for (Address at = align_up(from, 8); at + bin_pairs * 16 <= until && may_go_on(); at += 8)
        if (may_begin_at(at) && are_bins(memory_, at)) {
          bins_ = at;
          data_start_ = from;
          data_end_ = until;
          return;
        }
    }
  }

  void add_arenas() {
    const std::optional<u64> next = word(bins_ + next_behind_bins);
    if (!next) {
      out_.problems.add(Subject::memory, Effect::none, "malloc's main arena cannot be read");
      return;
    }
    // The arenas form a ring; the main one is in libc's data.
    std::vector<Address> others;
    std::unordered_set<Address> seen;
    Address at = *next;
    u64 before = 0; // bytes before the bins in each arena
    while (!is_main(at)) {
      if (others.size() >= most_arenas || !seen.insert(at).second) {
        out_.problems.add(Subject::memory, Effect::none, "the ring of malloc's arenas does not close");
        break;
      }
      for (u64 d = 16; d <= most_before_bins && !before; d += 8)
        if (are_bins(memory_, at + d))
          before = d;
      if (!before || !word(at + before + next_behind_bins)) {
        out_.problems.add(Subject::memory, Effect::none, "malloc's arena at " + hex(at) + " is not sound");
        break;
      }
      others.push_back(at);
      at = *word(at + before + next_behind_bins);
    }
    if (is_main(at))
      before = bins_ - at;
    out_.arenas.push_back({before ? bins_ - before : bins_, true});
    add_main_heap();
    subtract_fast(0, before);
    for (Address arena : others) {
      add_arena(arena, before);
      subtract_fast(static_cast<u32>(out_.arenas.size() - 1), before);
    }
  }

  bool is_main(Address arena) const { return arena < bins_ && bins_ - arena <= most_before_bins; }

  // struct malloc_par lies in the same data of libc as the main arena. Its n_mmaps_max, 65536 by default, identifies
  // it; n_mmaps stands before that.
  void add_main_heap() {
    const std::optional<u64> top = word(bins_ - top_before_bins);
    if (!top)
      return;
    for (Address at = align_up(data_start_, 4); at + 64 <= data_end_; at += 4) {
      if (memory_.try_load<u32>(at) != 65536u)
        continue;
      const std::optional<u32> blocks = memory_.try_load<u32>(at - 4);
      const Address sums = align_up(at + 12, 8);
      const std::optional<u64> bytes = word(sums), most = word(sums + 8), base = word(sums + 16);
      if (!blocks || !bytes || !most || !base || *blocks > 65536 || *bytes > *most || *base > *top || !word(*base))
        continue;
      out_.large_blocks = *blocks;
      out_.large_bytes = *bytes;
      const std::optional<u64> size = word(*top + 8);
      if (size)
        walk({.start = align_up(*base, 16), .end = *top + (*size & ~u64{7}), .arena = 0}, align_up(*base, 16), *top);
      return;
    }
    out_.problems.add(Subject::memory, Effect::none, "the beginning of malloc's main heap was not found");
  }

  void add_arena(Address arena, u64 before) {
    const std::optional<u64> top = word(arena + before - top_before_bins);
    out_.arenas.push_back({arena, false});
    const u32 index = static_cast<u32>(out_.arenas.size() - 1);
    if (!top)
      return;
    const u64 info = arena % heap_alignment; // size of the heap's header, if the arena is in its first heap
    std::unordered_set<Address> seen;
    Address at = *top - *top % heap_alignment;
    while (at) {
      const std::optional<u64> owner = word(at), previous = word(at + 8), size = word(at + 16), mapped = word(at + 24);
      if (owner != arena || !previous || !size || !mapped || *size > heap_alignment || *size % page ||
          *mapped > heap_alignment || at % heap_alignment || out_.heaps.size() >= most_heaps ||
          !seen.insert(at).second) {
        out_.problems.add(Subject::memory, Effect::none,
                          "a heap of malloc's arena at " + hex(arena) + " is not sound: " + hex(at));
        return;
      }
      const bool holds_arena = arena - at < heap_alignment;
      const Address first = holds_arena ? align_up(arena + before + end_behind_bins, 16) : at + align_up(info, 16);
      MallocHeap heap{.start = at, .end = at + *size, .arena = index};
      heap.mapped_end = at + std::max(*mapped, *size);
      walk(heap, first, *top);
      at = *previous;
    }
  }

  // Walks from chunk to chunk. `top`: the arena's last chunk, which may lie in this heap.
  void walk(MallocHeap heap, Address first, Address top) {
    constexpr u64 fence = 64;
    if (first < heap.start || first > heap.end) {
      out_.problems.add(Subject::memory, Effect::none, "a heap of malloc is not sound: " + hex(heap.start));
      out_.heaps.push_back(heap);
      return;
    }
    heap.in_use = first - heap.start; // the arena itself
    Address at = first;
    heap.first_chunk = first;
    std::optional<u64> head = words_.word(at + 8);
    while (head && at < heap.end && may_go_on()) {
      const u64 size = *head & ~flags;
      if (at == top) {
        if (size == heap.end - at) {
          heap.top = size;
          at = heap.end;
        }
        break;
      }
      if (size < smallest_block && heap.end - at <= fence) { // end marker of a full heap
        heap.in_use += heap.end - at;
        at = heap.end;
        break;
      }
      if (size < 16 || size % 16 || size > heap.end - at)
        break;
      const std::optional<u64> next = at + size < heap.end ? words_.word(at + size + 8) : std::nullopt;
      if (!next)
        break;
      if (*next & in_use_flag) {
        heap.in_use += size;
        ++heap.chunks;
      } else {
        heap.free += size;
      }
      at += size;
      head = next;
    }
    heap.is_whole = at == heap.end;
    if (!heap.is_whole)
      out_.problems.add(Subject::memory, Effect::none,
                        "malloc's chunks cannot be followed beyond " + hex(at) + ", " + bytes_text(heap.end - at) +
                            " before the end of their heap");
    out_.heaps.push_back(heap);
  }

  // Counts the small freed chunks in the arena's fast lists (up to 2.41) as cached, no longer as in use. They are not
  // merged with their neighbours, which treat them as in use. Their links are mixed with the link's address (from 2.32
  // on).
  void subtract_fast(u32 arena, u64 before) {
    constexpr u64 first_list = 16, in_front = 32; // offset of the first list; bytes before the bins that hold no lists
    const Address state = out_.arenas[arena].address;
    std::vector<MallocHeap *> heaps;
    u64 left = 0;
    for (MallocHeap &heap : out_.heaps)
      if (heap.arena == arena) {
        heaps.push_back(&heap);
        left += heap.chunks;
      }
    for (u64 list = 0; before > in_front && list < (before - in_front) / 8; ++list) {
      Address at = word(state + first_list + 8 * list).value_or(0);
      auto heap_of = [&](Address chunk) {
        return std::find_if(heaps.begin(), heaps.end(), [&](const MallocHeap *one) {
          return chunk >= one->first_chunk && chunk < one->end - one->top && chunk % 16 == 0;
        });
      };
      while (at && left && may_go_on(heaps.size())) {
        const auto heap = heap_of(at);
        const std::optional<u64> head = word(at + 8), link = word(at + 16);
        const u64 size = head ? *head & ~u64{7} : 0;
        if (heap == heaps.end() || !link || size != 32 + 16 * list || (*heap)->in_use < size)
          break;
        keep(**heap, size);
        --left;
        if (most_blocks_)
          fast_.insert(at);
        const Address mixed = *link ^ (at + 16) >> 12;
        at = mixed == 0 || heap_of(mixed) != heaps.end() ? mixed : *link;
      }
    }
  }

  static void keep(MallocHeap &heap, u64 size) {
    heap.cached += size;
    heap.in_use -= size;
    heap.chunks -= heap.chunks != 0;
  }

  // Counts chunks that threads keep for their next malloc (tcache, from 2.34 on) as cached, no longer as in use. All of
  // them have the same key word, and links like those of the fast lists. The key is the word that most chunks at the
  // end of a list have.
  void subtract_cached() {
    constexpr u64 least_votes = 3, most_votes = 1 << 20;
    std::unordered_map<u64, u64> votes;
    each_chunk([&](MallocHeap &, Address at, u64 size, u64) {
      if (may_be_cached(size) && words_.word(at + 16) == (at + 16) >> 12)
        if (const std::optional<u64> key = words_.word(at + 24); key && *key > 0x10000 && votes.size() < most_votes)
          ++votes[*key];
    });
    const auto best = most_frequent(votes);
    if (best == votes.end() || best->second < least_votes)
      return;
    cache_key_ = best->first;
    each_chunk([&](MallocHeap &heap, Address at, u64 size, u64 next) {
      if (is_cached(at, size) && next & in_use_flag && heap.in_use >= size)
        keep(heap, size);
    });
  }
  static bool may_be_cached(u64 size) {
    constexpr u64 most_size = 0x420;
    return size >= smallest_block && size <= most_size;
  }
  bool is_cached(Address chunk, u64 size) {
    return cache_key_ && may_be_cached(size) && words_.word(chunk + 24) == cache_key_;
  }

  void list_blocks() {
    each_chunk([&](MallocHeap &, Address at, u64 size, u64 next) {
      if (next & in_use_flag && size >= smallest_block && out_.in_use.size() < most_blocks_ && !is_cached(at, size) &&
          !fast_.contains(at))
        out_.in_use.push_back({at + 2 * word_size, at + size + word_size}); // and the next chunk's first word
    });
  }

  // Calls visit(heap, address, size, the next chunk's size and flags) for the chunks of all heaps.
  template <class Visit> void each_chunk(Visit visit) {
    for (MallocHeap &heap : out_.heaps) {
      const Address end = heap.end - heap.top;
      for (Address at = heap.first_chunk; at && at < end && end - at >= smallest_block && may_go_on();) {
        const std::optional<u64> head = words_.word(at + word_size);
        const u64 size = head ? *head & ~flags : 0;
        if (size < 16 || size % 16 || size > end - at)
          break;
        visit(heap, at, size, words_.word(at + size + word_size).value_or(0));
        at += size;
      }
    }
  }

  // Used without libc's data: heaps other than the main one refer to their arena, which lies in the first of them.
  void find_lone_heaps() {
    std::vector<Address> arenas;
    u64 places = 0;
    for (const Range &range : memory_.ranges())
      for (Address at = align_up(range.address, heap_alignment);
           at >= range.address && at < range.end() && arenas.size() < most_arenas && places < most_places;
           at += heap_alignment, ++places) { // align_up wraps round near the end of the address space
        const std::optional<u64> arena = word(at), previous = word(at + 8), size = word(at + 16);
        if (arena && previous == 0u && size && *arena > at && *arena - at < 256 && *size % page == 0 && *size &&
            *size <= heap_alignment)
          arenas.push_back(*arena);
      }
    for (Address arena : arenas)
      for (u64 d = 16; d <= most_before_bins; d += 8)
        if (are_bins(memory_, arena + d)) {
          add_arena(arena, d);
          break;
        }
  }

  // Finds the main heap without libc's data: memory that begins with a chunk of the size that each thread's first chunk
  // has, and whose chunks end exactly at its end.
  bool find_lone_main_heap() {
    constexpr u64 first_sizes[] = {0x251, 0x291, 0x301, 0x311}, least_chunks = 50;
    for (const Mapping &mapping : target_.mappings) {
      const std::optional<u64> head = mapping.writable ? word(mapping.start + 8) : std::nullopt;
      if (!head || word(mapping.start) != 0u ||
          std::find(std::begin(first_sizes), std::end(first_sizes), *head) == std::end(first_sizes))
        continue;
      Address top = mapping.start;
      u64 chunks = 0;
      for (; may_go_on(); ++chunks) {
        const std::optional<u64> size = word(top + 8);
        const u64 n = size ? *size & ~u64{7} : 0;
        if (n < 16 || n % 16 || n >= mapping.end - top)
          break;
        top += n;
      }
      const std::optional<u64> last = word(top + 8);
      if (chunks < least_chunks || !last || (*last & ~u64{7}) != mapping.end - top)
        continue;
      out_.arenas.insert(out_.arenas.begin(), {0, true});
      for (MallocHeap &heap : out_.heaps)
        ++heap.arena;
      walk({.start = mapping.start, .end = mapping.end, .arena = 0}, mapping.start, top);
      return true;
    }
    return false;
  }

  const Target &target_;
  const Memory &memory_;
  WordWindow words_;
  MallocArenas &out_;
  const u64 most_blocks_;
  std::unordered_set<Address> fast_; // chunks in fast lists, if blocks are listed
  u64 cache_key_ = 0;
  u64 steps_left_;
  Address bins_ = 0, data_start_ = 0, data_end_ = 0; // the main arena's bins, and libc's data around them
};

} // namespace

MallocArenas find_malloc_arenas(const Target &target, u64 most_blocks) {
  MallocArenas out;
  if (target.os != OperatingSystem::linux_os || target.format().pointer_size != 8)
    return out;
  if (std::optional<MallocArenas> of_musl = find_mallocng(target, most_blocks))
    return std::move(*of_musl);
  const bool has_glibc = std::any_of(target.modules.begin(), target.modules.end(), is_glibc);
  if (has_glibc)
    GlibcReader(target, most_blocks, out).read();
  return out;
}

bool is_glibc(const Module &module) {
  const std::string_view name = module.file_name();
  return name.starts_with("libc.so") || name.starts_with("libc-2");
}

bool is_musl(const Module &module) { return is_musl_library(module.file_name()); }

std::vector<MallocBlock> find_large_blocks(const Memory &memory, Address start, Address end) {
  constexpr u64 flags = 7, mapped_flag = 2, most = 1 << 20;
  std::vector<MallocBlock> out;
  WordWindow words(memory);
  for (Address at = align_up(start, page); at < end && end - at >= page && out.size() < most;) {
    const std::optional<u64> before = words.word(at), head = words.word(at + 8);
    const u64 size = head ? *head & ~flags : 0;
    if (before && head && (*head & flags) == mapped_flag && *before < page && *before % 16 == 0 && size > 0 &&
        size <= end - at && (size + *before) % page == 0 && size + *before <= end - at) {
      out.push_back({at, at + size + *before});
      at = out.back().end;
    } else {
      at += page;
    }
  }
  return out;
}

std::vector<MallocBlock> find_mimalloc_segments(const Target &target) {
  constexpr u64 segment = 32 << 20, head_bytes = 1024, least_votes = 3, most = 65536, least_key = u64{1} << 48;
  const bool is_loaded = std::any_of(target.modules.begin(), target.modules.end(), [](const Module &module) {
    return module.file_name().find("mimalloc") != std::string_view::npos;
  });
  if (!is_loaded || target.format().pointer_size != 8)
    return {};
  std::vector<MallocBlock> places;
  for (const Mapping &mapping : target.mappings)
    for (Address at = align_up(mapping.start, segment);
         at >= mapping.start && at < mapping.end && mapping.writable && !mapping.executable && places.size() < most;
         at += segment) {
      if (!target.memory.try_load<u64>(at))
        break; // for example a vast range that is not in the dump
      places.push_back({at, at + std::min(segment, mapping.end - at)});
    }
  std::vector<MallocBlock> out;
  for (u64 offset = 0; offset < head_bytes; offset += 8) {
    std::unordered_map<u64, std::vector<MallocBlock>> votes; // by word
    for (const MallocBlock &place : places)
      if (const u64 key = target.memory.try_load<u64>(place.start + offset).value_or(place.start) ^ place.start;
          key >= least_key)
        votes[key].push_back(place);
    for (auto &[key, of] : votes)
      if (of.size() >= least_votes && of.size() > out.size())
        out = std::move(of);
  }
  return out;
}

std::vector<std::string> other_allocators(const Target &target) {
  std::vector<std::string> out;
  for (const Module &module : target.modules) {
    const std::string_view file = module.file_name();
    auto add = [&](std::string name) {
      name += " (" + printable(file) + ")";
      if (std::find(out.begin(), out.end(), name) == out.end())
        out.push_back(std::move(name));
    };
    for (const char *name : {"jemalloc", "mimalloc", "tcmalloc", "snmalloc"})
      if (file.find(name) != file.npos)
        add(name);
    if (is_musl(module))
      add("musl");
  }
  return out;
}

} // namespace dnheap
