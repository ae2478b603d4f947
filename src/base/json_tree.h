// JsonTree: JSON that was read, of untrusted text. nlohmann's destructor allocates memory for each array and object
// that is not empty, and may not throw: when there is none, the program ends. A JsonTree takes itself apart, leaves
// first, so that only empty ones are left to destroy. Costs a visit to each value. Do not copy arrays or objects out of
// it.
#pragma once
#include "base/error.h"
#include "base/text.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class JsonTree {
public:
  using Json = nlohmann::json;
  static constexpr int most_nested = 64;

  // nlohmann would keep the last of two equal keys, take any depth and stop at a NUL. Throws Error: "its JSON …".
  explicit JsonTree(std::string_view text) {
    if (text.find('\0') != text.npos)
      throw Error("its JSON is malformed: it contains a NUL");
    std::vector<std::set<std::string>> keys;
    auto check = [&](int depth, Json::parse_event_t event, Json &parsed) {
      if (depth > most_nested)
        throw Error("its JSON is nested deeper than " + std::to_string(most_nested));
      if (event == Json::parse_event_t::object_start)
        keys.emplace_back();
      else if (event == Json::parse_event_t::object_end)
        keys.pop_back();
      else if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
        throw Error("its JSON gives " + printable(parsed.get<std::string>(), 100) + " twice");
      return true;
    };
    try {
      root_ = Json::parse(text, check);
    } catch (const Json::exception &e) {
      throw Error(std::string("its JSON is malformed: ") + printable(e.what(), 200));
    }
  }
  ~JsonTree() { take_apart(root_); }
  JsonTree(const JsonTree &) = delete;
  JsonTree &operator=(const JsonTree &) = delete;

  const Json &root() const { return root_; }

private:
  // At most `most_nested` deep.
  static void take_apart(Json &json) {
    if (json.is_array())
      for (auto &values = json.get_ref<Json::array_t &>(); !values.empty(); values.pop_back())
        take_apart(values.back());
    else if (json.is_object())
      for (auto &values = json.get_ref<Json::object_t &>(); !values.empty(); values.erase(values.begin()))
        take_apart(values.begin()->second);
  }

  Json root_;
};

} // namespace dnheap
