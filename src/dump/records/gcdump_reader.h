// GcDumpReader: the primitives of FastSerialization: numbers, texts, and the tags around objects. All functions throw
// Error where the file ends too early or holds something else.
#pragma once
#include "base/bytes.h"

#include <map>
#include <string>

namespace dnheap {

class GcDumpReader {
public:
  struct ObjectType {
    std::string name;
    u32 version = 0, least_reader = 0;
  };

  explicit GcDumpReader(Bytes file) : file_(file) {}

  u64 at() const { return at_; }
  u8 byte(const char *what);
  u32 word(const char *what);
  u64 quad(const char *what);
  // Returns `count` × `size` bytes, and goes behind them.
  Bytes array(u64 count, u64 size, const char *what);
  // A count of things that take at least `least` bytes each.
  u64 count(u64 least, const char *what);
  // A text of UTF-16 units, as UTF-8. Null is empty.
  std::string text(const char *what);

  // Reads up to an object's first value; false: a null is there.
  bool begin_object(ObjectType &type, const char *what);
  void end_object(const char *what);
  // Goes behind a region that old readers skip. Its end is in the table at the file's end.
  void skip_region(const char *what);
  // True if a value with this tag follows, which is then skipped.
  bool has_tag(u8 tag);

  static constexpr u8 tag_null = 1, tag_again = 2, tag_begin = 4, tag_begin_private = 5, tag_end = 6, tag_byte = 8,
                      tag_skip = 12, tag_text = 13;

private:
  [[noreturn]] void fail(const char *what) const;

  Bytes file_;
  u64 at_ = 0;
  std::map<u64, ObjectType> known_; // by place
};

} // namespace dnheap
