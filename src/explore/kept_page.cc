#include "explore/kept_page.h"

#include "base/error.h"
#include "explore/deflated.h"
#include "explore/page.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace dnheap::explore {

namespace {

constexpr u64 most_objects = 150; // objects of which the page has everything that it can show
constexpr u64 most_shown = 100;   // objects of which it has the names of all fields
constexpr u64 most_types = 12;    // types of which it has the paths and the objects
constexpr u64 most_threads = 32;
constexpr u64 most_answer_bytes = u64{1} << 20; // for one answer, since pages are sent to people

// Questions for every dump. The page looks its answers up by these words, whatever the number of rows.
constexpr const char *asked_of_all[] = {
    "api/ask/report?top=50",
    "api/ask/stat?by=retained&top=1000",
    "api/ask/retained?table=owners&top=200",
    "api/ask/retained?depth=6&table=tree&top=2000&tree=1",
    "api/ask/threads?by=retained&top=200",
    "api/ask/stack?all=1&merge=1&top=500",
    "api/ask/async?by=retained&top=200",
    "api/ask/waste?live=1&top=200",
    "api/ask/segments?top=5000",
    "api/ask/frag?table=largest&top=200",
    "api/ask/handles?table=handles&top=200",
    "api/ask/locks?top=200",
    "api/tables/threads?by=retained&count=200",
    "api/tables/retained?count=200",
    "api/tables/async?by=retained&count=200",
    "api/tables/waste?count=200&live=1",
    "api/tables/segments?count=1000",
    "api/tables/frag?count=200",
    "api/tables/handles?count=200",
    "api/tables/roots?count=200",
    "api/tables/strings?count=100",
    "api/tables/account?count=200",
    "api/tables/info?count=200",
    "api/tables/gc?count=200",
    "api/tables/locks?count=200",
    "api/tables/exceptions?count=200",
    "api/tables/verify?count=200",
};

std::string encoded(std::string_view text) { // as encodeURIComponent() does
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (char letter : text)
    if (plain.find(letter) != plain.npos)
      out += letter;
    else
      out += {'%', digits[static_cast<unsigned char>(letter) >> 4], digits[static_cast<unsigned char>(letter) & 15]};
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (u64 i = 0; i < bytes.size(); i += 3) {
    u32 three = 0;
    for (u64 k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (u64 k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : letters[three >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string_view file(std::string_view name) {
  const PageFile *found = page_file(name);
  if (!found)
    throw Error("this program was built without its page: there is no " + std::string(name));
  return found->text;
}

class Keeper {
public:
  explicit Keeper(ExploredHeap &heap) : heap_(heap) {}

  // Nullopt if the request cannot be answered; the page then shows that the answer is missing.
  std::optional<ordered_json> keep(const std::string &request) {
    HttpRequest asked;
    const std::size_t mark = request.find('?');
    asked.path = request.substr(0, mark);
    std::string_view rest = mark == request.npos ? std::string_view() : std::string_view(request).substr(mark + 1);
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      asked.query.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    }
    return keep(request, asked);
  }
  // The same with a parameter that may need encoding.
  std::optional<ordered_json> keep(const std::string &path, const std::string &name, const std::string &value,
                                   Parameters more = {}) {
    more.emplace(name, value);
    std::string key = path;
    for (const auto &[parameter, text] : more) // sorted by name
      key += (key.size() == path.size() ? "?" : "&") + parameter + "=" + encoded(text);
    return keep(key, {path, std::move(more)});
  }
  void put(const std::string &key, ordered_json answer) { answers_[key] = std::move(answer); }

  std::string text() const { return answers_.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

private:
  std::optional<ordered_json> keep(const std::string &key, const HttpRequest &request) {
    const HttpAnswer answer = heap_.answer(request);
    if (answer.status != 200 || answer.body.size() > most_answer_bytes)
      return std::nullopt;
    return answers_[key] = ordered_json::parse(answer.body);
  }

  ExploredHeap &heap_;
  ordered_json answers_ = ordered_json::object();
};

// Collects the largest objects of the map, those near the root first.
void collect_objects(const ordered_json &node, u64 levels, std::vector<std::pair<u64, std::string>> &to) {
  if (node["kind"] == "object")
    to.emplace_back(node["retained"].get<u64>(), node["at"].get<std::string>());
  if (levels && node.contains("parts"))
    for (const ordered_json &part : node["parts"])
      collect_objects(part, levels - 1, to);
}

std::string text_of(const ordered_json &row, const char *key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_string() ? at->get<std::string>() : "";
}

} // namespace

std::string kept_page(ExploredHeap &heap) {
  while (heap.stage() < Stage::ready)
    heap.go_on();
  Keeper keeper(heap);
  keeper.put("api/state", heap.state());

  std::vector<std::string> types, objects;
  u64 threads = 0;
  auto add = [](std::vector<std::string> &to, std::string word) {
    if (!word.empty() && std::ranges::find(to, word) == to.end())
      to.push_back(std::move(word));
  };
  for (const char *request : asked_of_all) {
    const std::optional<ordered_json> answer = keeper.keep(request);
    if (!answer)
      continue;
    const ordered_json &tables = (*answer)["tables"];
    const std::string_view name = request;
    if (name.starts_with("api/ask/report") && tables.contains("suspects"))
      for (const ordered_json &suspect : tables["suspects"]) {
        add(types, text_of(suspect, "element"));
        add(objects, text_of(suspect, "address"));
        for (const ordered_json &step : suspect["path"])
          add(objects, text_of(step, "address"));
      }
    if (name.starts_with("api/ask/stat") && tables.contains("types"))
      for (const ordered_json &row : tables["types"])
        if (types.size() < most_types && text_of(row, "type") != "Free")
          add(types, text_of(row, "type"));
    if (name.starts_with("api/ask/threads") && tables.contains("threads"))
      for (const ordered_json &row : tables["threads"])
        if (row.contains("os_id") && row["os_id"].is_number() && threads++ < most_threads)
          keeper.keep("api/ask/stack", "subject", std::to_string(row["os_id"].get<u64>()), {{"roots", "1"}});
  }

  const u64 whole = heap.facts()["bytes"].is_number() ? heap.facts()["bytes"].get<u64>() : 0;
  const std::optional<ordered_json> map =
      keeper.keep("api/map?at=root&least=" + std::to_string(std::max<u64>(whole / 1000, 1)) + "&levels=16");
  if (map) {
    std::vector<std::pair<u64, std::string>> large;
    collect_objects(*map, 8, large);
    std::stable_sort(large.begin(), large.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    for (auto &[bytes, at] : large)
      add(objects, std::move(at));
  }
  types.resize(std::min<u64>(types.size(), most_types));
  for (const std::string &type : types) {
    keeper.keep("api/ask/path", "subject", type, {{"top", "50"}});
    keeper.keep("api/tables/objects", "type-exact", type, {{"sort", "bytes"}, {"count", "50"}});
  }
  objects.resize(std::min<u64>(objects.size(), most_objects));
  for (const std::string &at : objects)
    for (const char *path : {"api/object", "api/way", "api/above", "api/references", "api/referrers"})
      keeper.keep(path, "at", at);
  objects.resize(std::min<u64>(objects.size(), most_shown));
  for (const std::string &at : objects)
    keeper.keep("api/ask/show", "subject", at, {{"table", "fields"}, {"top", "100"}});

  // The template has a place for each, and the hashes of the first two in its policy.
  std::string out(file("kept.html"));
  for (auto [place, text] : {std::pair<std::string_view, std::string>("/*style*/", file("app.css")),
                             {"/*script*/", std::string(file("app.js"))},
                             {"<!--kept-->", base64(deflated(keeper.text(), 9))}}) {
    const std::size_t at = out.find(place);
    if (at == out.npos)
      throw Error("this program's page lacks a place for " + std::string(place));
    out.replace(at, place.size(), text);
  }
  return out;
}

} // namespace dnheap::explore
