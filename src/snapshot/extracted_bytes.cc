#include "snapshot/extracted_bytes.h"

#include "heap/plug_words.h"
#include "image/module_image.h"
#include "objects/stack_roots.h"
#include "runtime/library_names.h"
#include "runtime/object_1.h"
#include "snapshot/files/literals.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 page = ReadRecord::page_size;

void merge_stretches(std::vector<std::pair<Address, Address>> &stretches) {
  std::sort(stretches.begin(), stretches.end());
  u64 kept = 0;
  for (const auto &[start, end] : stretches)
    if (kept && start <= stretches[kept - 1].second)
      stretches[kept - 1].second = std::max(stretches[kept - 1].second, end);
    else if (start < end)
      stretches[kept++] = {start, end};
  stretches.resize(kept);
}

} // namespace

ExtractedBytes::ExtractedBytes(const Snapshot &snapshot, bool no_values)
    : snapshot_(snapshot), memory_(snapshot.target().memory), heap_(snapshot.heap()), no_values_(no_values),
      p_(memory_.format().pointer_size), pages_(snapshot.reads()->pages()), searched_(snapshot.searches()->pages()),
      types_(snapshot.runtime().types(), heap_), cursor_(heap_, snapshot.runtime()) {
  Notes ignored; // `roots` already reports these problems
  gaps_ = snapshot.tally().walk.gaps.stretches();
  stacks_ = scanned_stacks(snapshot.target(), snapshot.runtime().threads(ignored));
  merge_stretches(stacks_);
  if (no_values_)
    for (const auto *pages : {&pages_, &searched_})
      for (const Stretch &literals : find_literals(snapshot.target(), *pages))
        literals_.push_back(literals);
  merge_stretches(literals_);
  // Programs compiled ahead of time have their static fields in their own data; other modules' data belong to the
  // runtime.
  if (const Runtime &runtime = snapshot.runtime(); runtime.kind() != std::string_view("coreclr"))
    if (const std::optional<ModuleImage> image = ModuleImage::at(memory_, runtime.module().base))
      for (const ModuleImage::Section &section : image->sections())
        if (section.writable)
          program_data_.emplace_back(section.address, add_clamped(section.address, section.size));
  merge_stretches(program_data_);
  choose_segments();
}

void ExtractedBytes::choose_segments() {
  std::vector<Stretch> wanted;
  auto want = [&](Address start, Address end) {
    wanted.emplace_back(start & ~(page - 1), end > ~u64{0} - page ? end : align_up(end, page));
  };
  auto known = [&] {
    u64 sum = 0;
    for (const auto &[start, end] : wanted)
      sum += memory_.known_bytes(start, end);
    return sum;
  };
  for (const ObjectRange &range : heap_.ranges())
    want(range.address - std::min(range.address, p_), range.end()); // includes the first object's header
  merge_stretches(wanted);
  heap_bytes_ = known();
  for (const auto &[start, end] : stacks_)
    want(start, end);
  merge_stretches(wanted);
  stack_bytes_ = known() - heap_bytes_;
  for (const auto *pages : {&pages_, &searched_})
    for (const ReadRecord::Page &read : *pages)
      want(read.address, read.address + page - 1);
  merge_stretches(wanted);

  std::span<const Range> ranges = memory_.ranges();
  auto range = ranges.begin();
  for (const auto &[start, end] : wanted) {
    while (range != ranges.end() && range->end() <= start)
      ++range;
    for (auto at = range; at != ranges.end() && at->address < end; ++at) {
      Address from = std::max(start, at->address), to = std::min(end, at->end());
      if (!segments_.empty() && segments_.back().address + segments_.back().size == from)
        segments_.back().size += to - from;
      else
        segments_.push_back({from, to - from});
    }
  }
}

bool ExtractedBytes::is_pointer(u64 word) const {
  return heap_.holds(word) || snapshot_.target().find_module(word) || holds(stacks_, word);
}

bool ExtractedBytes::holds(const std::vector<Stretch> &stretches, Address address) {
  auto at = std::upper_bound(stretches.begin(), stretches.end(), address,
                             [](u64 a, const Stretch &s) { return a < s.second; });
  return at != stretches.end() && at->first <= address;
}

void ExtractedBytes::fill(Address address, std::span<std::byte> out) {
  start_ = address;
  end_ = address + out.size();
  out_ = out;
  whole_.resize(out.size());
  if (!memory_.peek(address, whole_))
    throw Error("part of the dump could not be read, or was changed, during the extraction");
  if (no_values_)
    std::fill(out.begin(), out.end(), std::byte{});
  else
    std::copy(whole_.begin(), whole_.end(), out.begin());
  fill_objects();
  if (no_values_) {
    keep_types_in_gaps();
    keep_pointers_on_stacks();
    keep_what_was_searched();
  }
  keep_what_was_read();
  blank_literals();
  blank_strings();
}

void ExtractedBytes::keep(Address address, u64 size) {
  Address from = std::max(address, start_), to = std::min(address + size, end_);
  if (from < to)
    std::copy(whole_.begin() + static_cast<i64>(from - start_), whole_.begin() + static_cast<i64>(to - start_),
              out_.begin() + static_cast<i64>(from - start_));
}

void ExtractedBytes::clear(Address address, Address end) {
  Address from = std::max(address, start_), to = std::min(end, end_);
  if (from < to)
    std::fill(out_.begin() + static_cast<i64>(from - start_), out_.begin() + static_cast<i64>(to - start_),
              std::byte{});
}

const ExtractedBytes::Shape &ExtractedBytes::shape(Address method_table) {
  auto [at, is_new] = shapes_.try_emplace(method_table);
  if (!is_new)
    return at->second;
  Shape &out = at->second;
  out.is_free = method_table == snapshot_.runtime().types().free_object_method_table();
  if (std::optional<ObjectLayout> layout = snapshot_.runtime().types().object_layout(method_table)) {
    out.base_size = layout->base_size;
    out.component_size = layout->component_size;
    // Only strings have components that do not begin at a multiple of the pointer size.
    out.is_string = out.component_size == 2 && out.base_size % p_ != 0;
    if (layout->contains_gc_pointers)
      if (std::optional<GCDesc> found = GCDesc::at(memory_, method_table, layout->base_size, layout->component_size))
        out.references = std::move(*found);
  }
  return out;
}

void ExtractedBytes::fill_objects() {
  for (;;) {
    if (!object_ && !is_at_end_) {
      object_ = cursor_.next();
      is_at_end_ = !object_;
    }
    if (!object_ || object_->address - p_ >= end_)
      return;
    if (object_->address + object_->aligned_size > start_)
      keep_object(*object_, shape(cursor_.method_table()));
    if (object_->address + object_->aligned_size > end_)
      return; // this object continues in the next part
    object_ = nullptr;
  }
}

// The inside of a Free object is left over from dead objects, so it is always cleared. Other objects are kept whole;
// with --no-values only header, MethodTable, lengths and references stay.
void ExtractedBytes::keep_object(const Object &object, const Shape &shape) {
  if (shape.is_free)
    clear(object.address + 2 * p_, object.address + object.aligned_size - p_);
  if (!no_values_)
    return;
  keep(object.address - p_, 2 * p_);
  if (shape.is_free)
    keep(object.address + p_, p_);
  else if (shape.is_string) {
    keep(object.address + p_, 4);
    strings_.emplace_back(object.address + p_ + 4, object.address + object.aligned_size - p_);
  } else if (shape.component_size) // length, and the bounds of a multi-dimensional array
    keep(object.address + p_, shape.base_size - std::min(shape.base_size, 2 * p_));
  if (!shape.references.empty())
    keep_references(object, shape);
}

void ExtractedBytes::keep_references(const Object &object, const Shape &shape) {
  auto visit = [&](const std::byte *slot) { keep(object.address + static_cast<u64>(slot - object.bytes), p_); };
  const u64 slices = shape.references.slices(object.size);
  if (slices == 1)
    return shape.references.for_each_slot(object.bytes, object.size, memory_.format(), visit);
  // Slices have about the same size, so their positions are estimates: take one more on either side.
  const u64 slice_size = (object.size + slices - 1) / slices;
  u64 first = start_ > object.address ? (start_ - object.address) / slice_size : 0;
  u64 last = (std::min(end_, object.address + object.size) - object.address) / slice_size + 2;
  for (u64 slice = first - std::min(first, u64{2}); slice < std::min(slices, last + 1); ++slice)
    shape.references.for_each_slot_of_slice(object.bytes, object.size, slice, memory_.format(), visit);
}

// After a bad object the walk resumes at the next word that is a MethodTable and has the zeros of an object around it
// (find_object_start). Keeping MethodTable words with their neighbours makes the core's walk resume at the same place.
void ExtractedBytes::keep_types_in_gaps() {
  auto gap = std::partition_point(gaps_.begin(), gaps_.end(), [&](const Gap &g) { return g.end + p_ <= start_; });
  for (; gap != gaps_.end() && gap->start < end_ + PlugWords::words * p_; ++gap) {
    keep_plug_words(gap->end);
    for (Address at = align_up(std::max(gap->start, start_ - p_), p_); at < std::min(gap->end, end_ + p_); at += p_) {
      std::byte word[8];
      if (memory_.peek(at, {word, p_}))
        if (Address type = method_table_in(load_pointer(word, memory_.format()), memory_.format());
            type && types_.find(type))
          keep(at - p_, 3 * p_);
    }
  }
}

// Keeps the words that a planning collection wrote before a plug: the walk and `verify` recognise the plug by them.
void ExtractedBytes::keep_plug_words(Address plug) {
  std::byte words[8 * PlugWords::words];
  const Address at = plug - PlugWords::words * p_;
  if (heap_.is_planned() && memory_.peek(at, {words, PlugWords::words * p_}) &&
      PlugWords::read(words, memory_.format()).are_sound(3 * p_, memory_.format()))
    keep(at, (PlugWords::words - 1) * p_);
}

void ExtractedBytes::keep_pointers_on_stacks() {
  auto stack = std::upper_bound(stacks_.begin(), stacks_.end(), start_,
                                [](Address a, const Stretch &s) { return a < s.second; });
  for (; stack != stacks_.end() && stack->first < end_; ++stack)
    for (Address at = align_up(std::max(stack->first, start_), p_); at + p_ <= std::min(stack->second, end_); at += p_)
      if (is_pointer(load_pointer(whole_.data() + (at - start_), memory_.format())))
        keep(at, p_);
}

// True if a word that a search read may belong to a structure that the search must find again: pointers, counts and
// lengths of whole pages may. Words that look like text or like other large numbers do not, and may be secrets. In
// modules every word counts except program data.
bool ExtractedBytes::is_structure(Address at, const std::byte *word) const {
  constexpr u64 count = u64{1} << 24, half_count = u64{1} << 20, most_pages = u64{1} << 48;
  auto is_known = [&](u64 value) {
    if (value < count || (value < most_pages && value % page == 0) || snapshot_.target().find_module(value))
      return true;
    const std::span<const Range> ranges = memory_.ranges();
    auto range = std::partition_point(ranges.begin(), ranges.end(), [&](const Range &r) { return r.end() < value; });
    // The end of a range counts, too, as a stack's end is a valid pointer.
    return range != ranges.end() && range->address <= value;
  };
  auto is_half = [](u64 value) { return value < half_count || value == ~u32{0}; };
  if (const Module *module = snapshot_.target().find_module(at);
      module && !is_made_code(module->path) && !holds(program_data_, at))
    return true;
  const u32 first = load<u32>(word, memory_.format().byte_order),
            second = load<u32>(word + 4, memory_.format().byte_order);
  if (p_ == 4)
    return (is_known(first) || first == ~u32{0}) && (is_known(second) || second == ~u32{0});
  const u64 whole = load<u64>(word, memory_.format().byte_order);
  return is_known(whole) || whole == ~u64{0} || (is_half(first) && is_half(second));
}

// Calls visit(address) for the recorded words in the part being filled, by address.
template <class Visit>
void ExtractedBytes::for_each_word(const std::vector<ReadRecord::Page> &pages, Visit visit) const {
  auto at = std::upper_bound(pages.begin(), pages.end(), start_ & ~(page - 1),
                             [](Address a, const ReadRecord::Page &r) { return a <= r.address; });
  for (; at != pages.end() && at->address < end_; ++at)
    for (u64 word = 0; word < page / ReadRecord::word_size; ++word)
      if (at->has(word))
        visit(at->address + word * ReadRecord::word_size);
}

void ExtractedBytes::keep_what_was_searched() {
  for_each_word(searched_, [&](Address at) {
    if (at >= start_ && at + ReadRecord::word_size <= end_ && is_structure(at, whole_.data() + (at - start_)))
      keep(at, ReadRecord::word_size);
  });
}

// Unwinding reads the registers that methods saved on stacks, which may hold any value, so words on stacks need this
// test.
void ExtractedBytes::keep_what_was_read() {
  for_each_word(pages_, [&](Address at) {
    const bool is_whole = at >= start_ && at + ReadRecord::word_size <= end_;
    if (!no_values_ || !is_whole || !holds(stacks_, at) || is_structure(at, whole_.data() + (at - start_)))
      keep(at, ReadRecord::word_size);
  });
}

// Reading a string's length reads a whole word, which includes its first characters.
void ExtractedBytes::blank_strings() {
  for (const auto &[start, end] : strings_)
    clear(start, end);
  strings_.clear();
}

// String literals in metadata are values: blank them even if a read near them was recorded.
void ExtractedBytes::blank_literals() {
  auto literals = std::upper_bound(literals_.begin(), literals_.end(), start_,
                                   [](Address a, const Stretch &s) { return a < s.second; });
  for (; literals != literals_.end() && literals->first < end_; ++literals)
    clear(literals->first, literals->second);
}

} // namespace dnheap
