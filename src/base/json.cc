#include "base/json.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dnheap {

namespace {

constexpr std::size_t most_nested = 64;

// Builds the tree from the events of nlohmann's parser.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(i64{value})); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(u64{value})); }
  bool number_float(number_float_t, const string_t &) override { return add(Json(Json::Fraction{})); }
  bool string(string_t &value) override { return add(Json(std::make_unique<std::string>(std::move(value)))); }
  bool binary(binary_t &) override { return false; } // JSON text has none
  bool start_object(std::size_t) override { return open(std::make_unique<Json::Members>(), nullptr); }
  bool start_array(std::size_t) override { return open(nullptr, std::make_unique<Json::List>()); }
  bool key(string_t &name) override {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() override {
    auto sorted = std::move(open_.back().members);
    std::sort(sorted->begin(), sorted->end(), [](const auto &a, const auto &b) { return a.name < b.name; });
    auto twice = std::adjacent_find(sorted->begin(), sorted->end(),
                                    [](const auto &a, const auto &b) { return a.name == b.name; });
    if (twice != sorted->end())
      throw Error("its JSON gives " + printable(twice->name, 100) + " twice");
    open_.pop_back();
    return add(Json(std::move(sorted)));
  }
  bool end_array() override {
    auto list = std::move(open_.back().list);
    open_.pop_back();
    return add(Json(std::move(list)));
  }
  bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &error) override {
    std::string_view what = error.what(); // "[json.exception.parse_error.101] parse error at …"
    if (const std::size_t at = what.find("] "); at != what.npos)
      what.remove_prefix(at + 2);
    throw Error("its JSON is malformed: " + printable(what, 200));
  }

  Json take() { return std::move(root_); }

private:
  // An object or list whose end has not been reached.
  struct Open {
    std::unique_ptr<Json::Members> members;
    std::unique_ptr<Json::List> list; // exactly one of the two is set
    std::string name;                 // the name of the member whose value comes next
  };

  bool open(std::unique_ptr<Json::Members> members, std::unique_ptr<Json::List> list) {
    if (open_.size() == most_nested)
      throw Error("its JSON is nested deeper than " + std::to_string(most_nested));
    open_.push_back({std::move(members), std::move(list), ""});
    return true;
  }
  bool add(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (Open &in = open_.back(); in.list)
      in.list->push_back(std::move(value));
    else
      in.members->push_back({std::move(in.name), std::move(value)});
    return true;
  }

  std::vector<Open> open_;
  Json root_;
};

template <class T, class Value> const T &demanded(const Value &value, const char *what) {
  if (const T *found = std::get_if<T>(&value))
    return *found;
  throw Error(std::string("a value should be ") + what + ", but is not");
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
  throw Error("a list has too few values");
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

// nlohmann would stop at a NUL.
Json parse_json(std::string_view text) {
  if (text.find('\0') != text.npos)
    throw Error("its JSON is malformed: it contains a NUL");
  TreeBuilder builder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

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
