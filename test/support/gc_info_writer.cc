#include "support/gc_info_writer.h"

#include <algorithm>
#include <bit>

namespace dnheap::test {

namespace {

u64 below(std::mt19937_64 &random, u64 end) { return end ? random() % end : 0; }
bool coin(std::mt19937_64 &random) { return random() & 1; }

unsigned bits_below(u64 count) { return count > 1 ? static_cast<unsigned>(std::bit_width(count - 1)) : 0; }

class GcInfoWriter {
public:
  GcInfoWriter(const GcInfoModel &model, std::mt19937_64 &random)
      : model_(model), e_(model.encoding()), random_(random) {}

  std::vector<std::byte> write() {
    header();
    for (const auto &[offset, live] : model_.safe_points)
      out_.bits(offset, bits_below(model_.units()));
    u64 last = 0;
    for (auto [start, end] : model_.ranges) {
      out_.number(start - last, e_.range_delta);
      out_.number(end - start - 1, e_.range_delta);
      last = end;
    }
    slots();
    if (model_.tracked) {
      safe_points();
      if (!model_.ranges.empty())
        chunks();
    }
    return out_.bytes();
  }

private:
  void header() {
    out_.bits(!model_.slim, 1);
    const u64 length = model_.length / e_.instruction_size;
    if (model_.slim) {
      out_.bits(model_.base.has_value(), 1);
      if (model_.version < 4)
        out_.bits(random_(), 2);
      out_.number(length, e_.code_length);
      out_.number(model_.safe_points.size(), e_.safe_points);
      return;
    }
    out_.bits(model_.flags, 10);
    if (model_.version < 4)
      out_.bits(random_(), 4);
    out_.number(length, e_.code_length);
    const bool cookie = model_.flags & GcInfo::has_gs_cookie, context = model_.flags & GcInfo::generics_context;
    if (cookie || context)
      out_.number(below(random_, 99), e_.prolog_size);
    if (cookie) {
      out_.number(below(random_, 99), e_.epilog_size);
      out_.signed_number(static_cast<i64>(below(random_, 99)) - 50, e_.stack_slot_of_header);
    }
    if (model_.version < 4 && (model_.flags & GcInfo::has_psp_symbol))
      out_.signed_number(static_cast<i64>(below(random_, 99)) - 50, e_.stack_slot_of_header);
    if (context)
      out_.signed_number(static_cast<i64>(below(random_, 999)) - 500, e_.stack_slot_of_header);
    if (model_.base)
      out_.number(*model_.base ^ e_.frame_pointer, e_.stack_base_register);
    if (model_.flags & GcInfo::has_edit_and_continue) {
      out_.number(below(random_, 99), e_.preserved_area);
      if (model_.architecture == Architecture::arm64)
        out_.number(below(random_, 99), e_.preserved_area);
    }
    if (model_.flags & GcInfo::is_reverse_pinvoke)
      out_.signed_number(static_cast<i64>(below(random_, 99)) - 50, e_.stack_slot_of_header);
    out_.number(model_.scratch_area / 8, e_.stack_area);
    out_.number(model_.safe_points.size(), e_.safe_points);
    out_.number(model_.ranges.size(), e_.ranges);
  }

  static u64 flags_of(const GcSlot &slot) { return (slot.interior ? 1u : 0u) | (slot.pinned ? 2u : 0u); }

  void slots() {
    std::vector<GcSlot> registers, stack, untracked;
    for (const GcSlot &slot : model_.slots)
      (slot.base == GcSlot::Base::none ? registers : slot.tracked ? stack : untracked).push_back(slot);
    out_.bits(!registers.empty(), 1);
    if (!registers.empty())
      out_.number(registers.size(), e_.registers);
    const bool any = !stack.empty() || !untracked.empty();
    out_.bits(any, 1);
    if (any) {
      out_.number(stack.size(), e_.stack_slots);
      out_.number(untracked.size(), e_.untracked_slots);
    }
    for (u64 i = 0; i < registers.size(); ++i)
      if (i == 0 || flags_of(registers[i - 1])) {
        out_.number(registers[i].reg, e_.register_number);
        out_.bits(flags_of(registers[i]), 2);
      } else {
        out_.number(registers[i].reg - registers[i - 1].reg - 1u, e_.register_delta);
      }
    for (const std::vector<GcSlot> *list : {&stack, &untracked})
      for (u64 i = 0; i < list->size(); ++i) {
        const GcSlot &slot = (*list)[i];
        out_.bits(static_cast<u64>(slot.base), 2);
        if (i == 0 || flags_of((*list)[i - 1])) {
          out_.signed_number(slot.offset / 8, e_.stack_slot);
          out_.bits(flags_of(slot), 2);
        } else {
          out_.number(static_cast<u64>(slot.offset - (*list)[i - 1].offset) / 8, e_.stack_slot_delta);
        }
      }
  }

  void bits_of(const std::vector<bool> &set, BitWriter &to) {
    for (bool bit : set)
      to.bits(bit, 1);
  }
  // Slots that are out and in, in turn, until all are told.
  void runs_of(const std::vector<bool> &set, BitWriter &to) {
    bool skip_number = coin(random_), value = false;
    to.bits(!skip_number, 1);
    u64 at = 0;
    for (bool first = true; first || at < set.size(); first = false, value = !value, skip_number = !skip_number) {
      u64 end = at;
      while (end < set.size() && set[end] == value)
        ++end;
      to.number(end - at - (first ? 0 : 1), skip_number ? e_.skip : e_.run);
      at = end;
    }
  }
  void either_of(const std::vector<bool> &set, BitWriter &to) {
    const bool runs = coin(random_);
    to.bits(runs, 1);
    runs ? runs_of(set, to) : bits_of(set, to);
  }

  void safe_points() {
    if (model_.safe_points.empty())
      return;
    const bool pointers = model_.ranges.empty() && coin(random_);
    out_.bits(pointers, 1);
    if (!pointers) {
      for (const auto &[offset, live] : model_.safe_points)
        bits_of(live, out_);
      return;
    }
    BitWriter sets;
    std::vector<std::pair<std::vector<bool>, u64>> written;
    std::vector<u64> places;
    for (const auto &[offset, live] : model_.safe_points) {
      auto known = std::find_if(written.begin(), written.end(), [&](const auto &w) { return w.first == live; });
      if (known == written.end()) {
        written.emplace_back(live, sets.position());
        either_of(live, sets);
        known = written.end() - 1;
      }
      places.push_back(known->second);
    }
    const unsigned width = std::max(1u, bits_below(sets.position() + 1));
    out_.number(width - 1, e_.pointer_size);
    for (u64 place : places)
      out_.bits(place, width);
    out_.align_to_byte();
    out_.append(sets);
  }

  void chunks() {
    const u64 size = u64{1} << e_.chunk_bits;
    std::vector<u64> pointers;
    BitWriter all;
    std::vector<bool> at_end(model_.tracked, false); // of the chunk before
    for (u64 from = 0; from < model_.alive.size(); from += size) {
      const u64 to = std::min<u64>(from + size, model_.alive.size());
      bool same = true;
      for (u64 i = from; i < to; ++i)
        same = same && model_.alive[i] == at_end;
      if (same && coin(random_)) {
        pointers.push_back(0);
        continue;
      }
      pointers.push_back(all.position() + 1);
      chunk(from, to, all);
      at_end = model_.alive[to - 1];
    }
    const unsigned width = bits_below(all.position() + 1) + 1;
    out_.number(width, e_.pointer_size);
    for (u64 pointer : pointers)
      out_.bits(pointer, width);
    out_.align_to_byte();
    out_.append(all);
  }
  void chunk(u64 from, u64 to, BitWriter &out) {
    std::vector<bool> some_time(model_.tracked, false);
    for (u64 i = from; i < to; ++i)
      for (u32 slot = 0; slot < model_.tracked; ++slot)
        some_time[slot] = some_time[slot] || model_.alive[i][slot];
    either_of(some_time, out);
    for (u32 slot = 0; slot < model_.tracked; ++slot)
      if (some_time[slot])
        out.bits(model_.alive[to - 1][slot], 1);
    for (u32 slot = 0; slot < model_.tracked; ++slot) {
      if (!some_time[slot])
        continue;
      for (u64 i = from + 1; i < to; ++i)
        if (model_.alive[i][slot] != model_.alive[i - 1][slot]) {
          out.bits(1, 1);
          out.bits(i - from, e_.chunk_bits);
        }
      out.bits(0, 1);
    }
  }

  const GcInfoModel &model_;
  const GcInfoEncoding &e_;
  std::mt19937_64 &random_;
  BitWriter out_;
};

void add_slots(GcInfoModel &model, std::mt19937_64 &random) {
  const GcInfoEncoding &e = model.encoding();
  // Those with flags come first: behind one without, flags are not told.
  auto list = [&](u64 most, auto make) {
    const u64 flagged = below(random, most), plain = below(random, most);
    std::vector<GcSlot> out;
    for (u64 i = 0; i < flagged; ++i) {
      GcSlot slot = make();
      const u64 flags = 1 + below(random, 3);
      slot.interior = flags & 1;
      slot.pinned = flags & 2;
      out.push_back(slot);
    }
    for (u64 i = 0; i < plain; ++i)
      out.push_back(make());
    std::sort(out.begin() + static_cast<i64>(flagged), out.end(),
              [](const GcSlot &a, const GcSlot &b) { return std::pair(a.reg, a.offset) < std::pair(b.reg, b.offset); });
    return out;
  };
  auto a_register = [&] {
    GcSlot slot;
    do
      slot.reg = static_cast<u8>(below(random, e.register_count));
    while (slot.reg == e.stack_pointer);
    return slot;
  };
  auto a_place = [&](bool tracked) {
    GcSlot slot;
    slot.base = static_cast<GcSlot::Base>(below(random, model.base ? 3 : 2));
    slot.offset = (static_cast<i32>(below(random, 4000)) - 2000) * 8;
    slot.tracked = tracked;
    return slot;
  };
  std::vector<GcSlot> registers = list(4, a_register);
  // The plain ones each once.
  auto plain =
      std::find_if(registers.begin(), registers.end(), [](const GcSlot &s) { return !s.interior && !s.pinned; });
  registers.erase(std::unique(plain, registers.end()), registers.end());
  std::vector<GcSlot> stack = list(20, [&] { return a_place(true); }), rest = list(6, [&] { return a_place(false); });
  model.slots = registers;
  model.slots.insert(model.slots.end(), stack.begin(), stack.end());
  model.tracked = static_cast<u32>(model.slots.size());
  model.slots.insert(model.slots.end(), rest.begin(), rest.end());
}

std::vector<bool> random_set(u32 size, std::mt19937_64 &random) {
  const u64 rarity = 1 + below(random, 9);
  std::vector<bool> out(size);
  for (u32 i = 0; i < size; ++i)
    out[i] = below(random, rarity) == 0;
  return out;
}

void add_ranges(GcInfoModel &model, std::mt19937_64 &random) {
  u64 at = 0, length = 0;
  while (true) {
    const u64 start = at + below(random, 60), end = start + 1 + below(random, 200);
    if (end > model.units() || model.ranges.size() > 5)
      break;
    model.ranges.emplace_back(start, end);
    length += end - start;
    at = end;
  }
  std::vector<bool> now = random_set(model.tracked, random);
  for (u64 i = 0; i < length; ++i) {
    if (below(random, 20) == 0 && model.tracked) {
      const u64 slot = below(random, model.tracked);
      now[slot] = !now[slot];
    }
    if (below(random, 100) == 0)
      now.assign(model.tracked, false);
    model.alive.push_back(now);
  }
}

} // namespace

void BitWriter::bits(u64 value, unsigned count) {
  for (unsigned i = 0; i < count; ++i, ++position_) {
    if (set_.size() <= position_)
      set_.resize(position_ + 1);
    set_[position_] = value >> i & 1;
  }
}

void BitWriter::number(u64 value, unsigned base) {
  const u64 most = (u64{1} << base) - 1;
  for (; value > most; value >>= base)
    bits((value & most) | (most + 1), base + 1);
  bits(value, base + 1);
}

void BitWriter::signed_number(i64 value, unsigned base) {
  const i64 limit = i64{1} << (base - 1);
  const u64 most = (u64{1} << base) - 1;
  for (; value < -limit || value >= limit; value >>= base)
    bits((static_cast<u64>(value) & most) | (most + 1), base + 1);
  bits(static_cast<u64>(value) & most, base + 1);
}

void BitWriter::append(const BitWriter &other) {
  for (u64 i = 0; i < other.position_; ++i)
    bits(i < other.set_.size() && other.set_[i], 1);
}

std::vector<std::byte> BitWriter::bytes() const {
  std::vector<std::byte> out(align_up(position_, 8) / 8);
  for (u64 i = 0; i < set_.size(); ++i)
    if (set_[i])
      out[i / 8] |= std::byte{1} << (i % 8);
  return out;
}

std::vector<GcSlot> GcInfoModel::live_slots(const CodePoint &point) const {
  const bool is_return = !point.active && !point.aborted && point.offset;
  const u64 at = (point.offset - (version < 4 && is_return ? 1 : 0)) / unit();
  std::vector<bool> live(tracked, false);
  bool known = false;
  for (const auto &[offset, set] : safe_points)
    if (offset == at && !point.aborted) {
      live = set;
      known = true;
    }
  u64 before = 0;
  for (auto [start, end] : ranges) {
    if (!known && at >= start && at < end) {
      live = alive[before + at - start];
      known = true;
    }
    before += end - start;
  }
  std::vector<GcSlot> out;
  if (!known && point.aborted)
    return out;
  for (u32 i = 0; i < tracked; ++i)
    if (live[i])
      out.push_back(slots[i]);
  if (!point.filter)
    out.insert(out.end(), slots.begin() + tracked, slots.end());
  return out;
}

GcInfoModel random_gc_info(Architecture architecture, u32 version, std::mt19937_64 &random) {
  GcInfoModel model;
  model.architecture = architecture;
  model.version = version;
  const GcInfoEncoding &e = model.encoding();
  model.length = (1 + below(random, coin(random) ? 60 : 900)) * e.instruction_size;
  model.slim = coin(random);
  if (coin(random))
    model.base = model.slim ? e.frame_pointer : coin(random) ? e.frame_pointer : e.stack_pointer;
  if (!model.slim) {
    model.flags = static_cast<u32>(random()) & 0x3ff & ~u32{GcInfo::has_stack_base_register};
    model.flags |= model.base ? u32{GcInfo::has_stack_base_register} : 0;
    model.scratch_area = below(random, 20) * 8;
  }
  add_slots(model, random);
  for (u64 at = below(random, 40); at < model.units(); at += 1 + below(random, coin(random) ? 3 : 50))
    model.safe_points.emplace_back(at, random_set(model.tracked, random));
  if (!model.slim && coin(random))
    add_ranges(model, random);
  return model;
}

std::vector<std::byte> write_gc_info(const GcInfoModel &model, std::mt19937_64 &random) {
  return GcInfoWriter(model, random).write();
}

} // namespace dnheap::test
