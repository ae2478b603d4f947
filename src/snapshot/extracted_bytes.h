// ExtractedBytes: decides which memory goes into an extracted core, and which of it is blanked. fill() must be called
// for ascending addresses, as the objects are walked once alongside. For snapshot/extract.cc alone.
#pragma once
#include "dump/core_writer.h"
#include "heap/gcdesc.h"
#include "heap/object_cursor.h"
#include "snapshot/snapshot.h"

#include <unordered_map>

namespace dnheap {

class ExtractedBytes {
public:
  ExtractedBytes(const Snapshot &snapshot, bool no_values);

  const std::vector<CoreSegment> &segments() const { return segments_; }
  u64 heap_bytes() const { return heap_bytes_; }
  u64 stack_bytes() const { return stack_bytes_; }

  // Fills in a part of one segment.
  void fill(Address address, std::span<std::byte> out);

  // True if the word points into an object, a module or a stack: roots and frames consist of such words.
  bool is_pointer(u64 word) const;

private:
  using Stretch = std::pair<Address, Address>;

  // The layout data of a type, from which the bytes to keep in its objects follow.
  struct Shape {
    GCDesc references;
    u64 base_size = 0, component_size = 0;
    bool is_free = false, is_string = false;
  };

  void choose_segments();
  const Shape &shape(Address method_table);
  void fill_objects();
  void keep_object(const Object &object, const Shape &shape);
  void keep_references(const Object &object, const Shape &shape);
  void keep_types_in_gaps();
  void keep_plug_words(Address plug);
  void keep_pointers_on_stacks();
  void keep_what_was_read();
  void keep_what_was_searched();
  template <class Visit> void for_each_word(const std::vector<ReadRecord::Page> &pages, Visit visit) const;
  static bool holds(const std::vector<Stretch> &stretches, Address address);
  bool is_structure(Address at, const std::byte *word) const;
  void blank_literals();
  void blank_strings();
  void keep(Address address, u64 size);
  void clear(Address address, Address end);

  const Snapshot &snapshot_;
  const Memory &memory_;
  const Heap &heap_;
  const bool no_values_;
  const u64 p_;
  std::vector<ReadRecord::Page> pages_, searched_;
  std::vector<Stretch> stacks_, literals_, program_data_; // by address, without overlaps
  std::vector<Stretch> strings_;                          // contents of the strings in this part
  std::vector<Gap> gaps_;                                 // of the walk
  std::vector<CoreSegment> segments_;
  u64 heap_bytes_ = 0, stack_bytes_ = 0;

  TypeTable types_;
  ObjectCursor cursor_;
  const Object *object_ = nullptr; // the object that the walk has reached
  bool is_at_end_ = false;
  std::unordered_map<Address, Shape> shapes_;

  Address start_ = 0, end_ = 0; // what fill() fills
  std::span<std::byte> out_;
  std::vector<std::byte> whole_; // the same part as in the target
};

} // namespace dnheap
