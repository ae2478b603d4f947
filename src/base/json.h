// Json: JSON text, parsed by nlohmann's parser into an immutable tree. The text is untrusted: malformed text, nesting
// deeper than 64, or a name that occurs twice in one object is an Error. A tree takes at most some 16 bytes per byte of
// text. Unlike nlohmann's own trees, destroying one allocates nothing, so a dump can be closed when memory has run out.
// Any thread may read it.
#pragma once
#include "base/integers.h"

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dnheap {

class Json {
public:
  struct Member;
  using List = std::vector<Json>;
  using Members = std::vector<Member>; // sorted by name
  struct Fraction {};                  // a number that does not fit 64 bits; nothing needs its value

  Json() = default; // null
  template <class T> explicit Json(T value) : value_(std::move(value)) {}

  bool is_null() const { return holds<std::monostate>(); }
  bool is_unsigned() const { return holds<u64>(); }
  bool is_integer() const { return holds<u64>() || holds<i64>(); }
  bool is_text() const { return holds<std::unique_ptr<std::string>>(); }
  bool is_list() const { return holds<std::unique_ptr<List>>(); }
  bool is_object() const { return holds<std::unique_ptr<Members>>(); }

  // Throw Error if the value is of another kind.
  bool boolean() const;
  u64 number() const;  // not negative
  u64 integer() const; // negative ones in two's complement
  const std::string &text() const;
  const List &list() const;
  const Members &members() const;
  const Json &at(std::string_view name) const;
  const Json &at(u64 index) const;

  const Json *find(std::string_view name) const; // null: not an object, or no such member
  std::string shown() const;                     // for messages: scalars as they are; for lists and objects the kind

private:
  template <class T> bool holds() const { return std::holds_alternative<T>(value_); }

  std::variant<std::monostate, bool, u64, i64, Fraction, std::unique_ptr<std::string>, std::unique_ptr<List>,
               std::unique_ptr<Members>>
      value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

// Throws Error with a text that begins "its JSON …".
Json parse_json(std::string_view text);

// Returns the text quoted and escaped; invalid UTF-8 becomes U+FFFD.
std::string json_quoted(std::string_view text);

} // namespace dnheap
