#include "base/json.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

#include <algorithm>
#include <charconv>

namespace dnheap {

namespace {

constexpr unsigned most_nested = 64;

class JsonParser {
public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Json whole() {
    Json out = value(0);
    skip_blanks();
    if (at_ != text_.size())
      malformed("something follows it");
    return out;
  }

private:
  [[noreturn]] void malformed(const char *why) const {
    throw Error("its JSON is malformed at byte " + std::to_string(at_) + ": " + why);
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
      ++at_;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }
  void demand(char wanted, const char *why) {
    if (!take(wanted))
      malformed(why);
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word))
      return false;
    at_ += word.size();
    return true;
  }

  // Calls itself once per level, of which there are few.
  Json value(unsigned depth) {
    if (depth > most_nested)
      throw Error("its JSON is nested deeper than " + std::to_string(most_nested));
    skip_blanks();
    switch (next()) {
    case '{': return object(depth);
    case '[': return list(depth);
    case '"': return Json(std::make_unique<std::string>(text()));
    default: break;
    }
    if (take_word("true"))
      return Json(true);
    if (take_word("false"))
      return Json(false);
    if (take_word("null"))
      return Json();
    return number();
  }

  Json list(unsigned depth) {
    auto out = std::make_unique<Json::List>();
    ++at_;
    if (!take(']')) {
      do
        out->push_back(value(depth + 1));
      while (take(','));
      demand(']', "a list does not end");
    }
    return Json(std::move(out));
  }

  Json object(unsigned depth) {
    auto out = std::make_unique<Json::Members>();
    ++at_;
    if (!take('}')) {
      do {
        skip_blanks();
        if (next() != '"')
          malformed("a name is missing");
        std::string name = text();
        demand(':', "a name has no value");
        Json of_name = value(depth + 1);
        out->push_back({std::move(name), std::move(of_name)});
      } while (take(','));
      demand('}', "an object does not end");
    }
    std::sort(out->begin(), out->end(), [](const auto &a, const auto &b) { return a.name < b.name; });
    auto twice =
        std::adjacent_find(out->begin(), out->end(), [](const auto &a, const auto &b) { return a.name == b.name; });
    if (twice != out->end())
      throw Error("its JSON gives " + printable(twice->name, 100) + " twice");
    return Json(std::move(out));
  }

  bool take_digits() {
    const u64 begin = at_;
    while (next() >= '0' && next() <= '9')
      ++at_;
    return at_ > begin;
  }
  Json number() {
    const u64 begin = at_;
    const bool negative = next() == '-';
    at_ += negative;
    const bool zero = next() == '0';
    const u64 first_digit = at_;
    if (!take_digits() || (zero && at_ > first_digit + 1))
      malformed("a value is missing, or is none");
    bool is_integer = true;
    if (next() == '.') {
      is_integer = false;
      ++at_;
      if (!take_digits())
        malformed("a number ends in its point");
    }
    if (next() == 'e' || next() == 'E') {
      is_integer = false;
      ++at_;
      if (next() == '+' || next() == '-')
        ++at_;
      if (!take_digits())
        malformed("a number has no exponent");
    }
    const char *digits = text_.data() + begin, *end = text_.data() + at_;
    u64 large = 0;
    i64 below_zero = 0;
    if (is_integer && !negative && std::from_chars(digits, end, large).ec == std::errc())
      return Json(large);
    if (is_integer && negative && std::from_chars(digits, end, below_zero).ec == std::errc())
      return Json(below_zero);
    return Json(Json::Fraction{});
  }

  std::string text() {
    std::string out;
    for (++at_; next() != '"';) {
      if (at_ == text_.size())
        malformed("a text does not end");
      const u64 length = utf8_length(text_.substr(at_));
      if (!length)
        malformed("a text is not UTF-8");
      if (static_cast<u8>(next()) < 0x20)
        malformed("a text has a control character in it");
      if (next() == '\\') {
        append_escaped(out);
        continue;
      }
      out += text_.substr(at_, length);
      at_ += length;
    }
    ++at_;
    return out;
  }

  void append_escaped(std::string &out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    ++at_;
    if (next() == 'u')
      return append_code_point(out);
    const auto which = letters.find(next());
    if (at_ == text_.size() || which == letters.npos)
      malformed("an escape in a text is none");
    out += meant[which];
    ++at_;
  }

  u32 four_digits() { // behind the u
    u32 out = 0;
    ++at_;
    const std::string_view digits = text_.substr(std::min<u64>(at_, text_.size()), 4);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
    if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4)
      malformed("an escape in a text is none");
    at_ += 4;
    return out;
  }
  void append_code_point(std::string &out) {
    u32 code = four_digits();
    if (code >= 0xd800 && code < 0xdc00) {
      if (!take_word("\\"))
        malformed("half of a surrogate pair");
      if (next() != 'u')
        malformed("half of a surrogate pair");
      const u32 low = four_digits();
      if (low < 0xdc00 || low > 0xdfff)
        malformed("half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      malformed("half of a surrogate pair");
    }
    auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | (code >> 12));
      tail(6), tail(0);
    } else {
      out += static_cast<char>(0xf0 | (code >> 18));
      tail(12), tail(6), tail(0);
    }
  }

  std::string_view text_;
  u64 at_ = 0;
};

template <class T, class Value> const T &demanded(const Value &value, const char *what) {
  if (const T *found = std::get_if<T>(&value))
    return *found;
  throw Error(std::string("what should be ") + what + " is none");
}

} // namespace

bool Json::boolean() const { return demanded<bool>(value_, "true or false"); }
u64 Json::number() const { return demanded<u64>(value_, "a number"); }
u64 Json::integer() const {
  return holds<u64>() ? std::get<u64>(value_) : static_cast<u64>(demanded<i64>(value_, "an integer"));
}
const std::string &Json::text() const { return *demanded<std::unique_ptr<std::string>>(value_, "a text"); }
const Json::List &Json::list() const { return *demanded<std::unique_ptr<List>>(value_, "a list"); }
const Json::Members &Json::members() const { return *demanded<std::unique_ptr<Members>>(value_, "an object"); }

const Json *Json::find(std::string_view name) const {
  if (!is_object())
    return nullptr;
  auto at = std::lower_bound(members().begin(), members().end(), name,
                             [](const Member &member, std::string_view wanted) { return member.name < wanted; });
  return at != members().end() && at->name == name ? &at->value : nullptr;
}

const Json &Json::at(std::string_view name) const {
  if (const Json *found = find(name))
    return *found;
  throw Error("its JSON has no " + std::string(name));
}

const Json &Json::at(u64 index) const {
  if (index < list().size())
    return list()[index];
  throw Error("a list is too short");
}

std::string Json::shown() const {
  if (is_null())
    return "null";
  if (holds<bool>())
    return boolean() ? "true" : "false";
  if (is_integer())
    return holds<u64>() ? std::to_string(number()) : std::to_string(std::get<i64>(value_));
  if (is_text())
    return json_quoted(text());
  return is_list() ? "a list" : is_object() ? "an object" : "a fraction";
}

Json parse_json(std::string_view text) { return JsonParser(text).whole(); }

std::string json_quoted(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const u64 length = utf8_length(text);
    const u8 first = static_cast<u8>(text[0]);
    if (!length)
      out += "\xef\xbf\xbd";
    else if (first == '"' || first == '\\')
      (out += '\\') += text[0];
    else if (first < 0x20)
      ((out += "\\u00") += digits[first >> 4]) += digits[first & 15];
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<u64>(length, 1));
  }
  return out + '"';
}

} // namespace dnheap
