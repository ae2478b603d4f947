#include "explore/explored_heap.h"

#include "analysis/answer_head.h"
#include "base/host/host.h"
#include "base/not_found.h"
#include "base/text.h"
#include "explore/deflated.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "report/write.h"

#include <algorithm>

namespace dnheap::explore {

namespace {

constexpr const char *most_rows = "1000000"; // of one table, where the page does not ask for fewer
constexpr const char *stage_names[] = {"opening", "counts", "graph", "tree", "ways", "dumps", "ready", "failed"};

HttpAnswer json_answer(const ordered_json &json, int status = 200) {
  // Names come from a dump: invalid UTF-8 in them is replaced.
  return {status, "application/json", json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
}

std::string runtime_text(const Snapshot &snapshot) { return runtime_headline(snapshot.target(), snapshot.runtime()); }

// Returns the same text for the same question, whatever the order of its parameters.
std::string key_of(const std::string &path, const Parameters &parameters) {
  std::string out = path;
  for (const auto &[name, value] : parameters)
    out += '\0' + name + '\0' + value;
  return out;
}

} // namespace

HttpAnswer problem(int status, const std::string &text) { return json_answer({{"error", printable(text)}}, status); }

const char *name_of(Stage stage) { return stage_names[static_cast<u8>(stage)]; }

ordered_json asked_verbs(bool can_compare) {
  ordered_json out = ordered_json::array();
  auto list = [](const Words &words) {
    ordered_json all = ordered_json::array();
    for (std::string_view word : words)
      all.push_back(word);
    return all;
  };
  for (const Verb &verb : verbs())
    if (can_be_asked(verb, can_compare))
      out.push_back({{"name", verb.name},
                     {"question", verb.question},
                     {"subject", verb.subject ? ordered_json(verb.subject.name) : ordered_json()},
                     {"subjects", list(verb.subject.among ? verb.subject.among() : Words())},
                     {"sort", list(verb.sort_columns)},
                     {"by", list(verb.by)},
                     {"tables", list(verb.tables)},
                     {"takes", parameters_of(verb)}});
  return out;
}

ordered_json ExploredHeap::state() {
  ordered_json out{{"file", target_},          {"pid", nullptr},   {"values", values_},
                   {"stage", name_of(stage_)}, {"error", nullptr}, {"pass", nullptr}};
  if (!error_.empty())
    out["error"] = error_;
  out.update(facts());
  out["dumps"] = compared_.count();
  out["verbs"] = asked_verbs(!compared_.empty());
  return out;
}

ExploredHeap::ExploredHeap(std::unique_ptr<Snapshot> snapshot, std::string target, bool values, ComparedDumps compared)
    : snapshot_(std::move(snapshot)), target_(std::move(target)), values_(values), runtime_(runtime_text(*snapshot_)),
      compared_(std::move(compared)) {}

ExploredHeap::~ExploredHeap() = default;

// To be called when part of the dump was lost, as results and answers may depend on it.
void ExploredHeap::begin_again() {
  objects_.reset();
  tree_.reset();
  tables_.clear();
  kept_.clear();
  kept_order_.clear();
  kept_bytes_ = 0;
  compared_.forget_shown();
  stage_ = Stage::counts;
}

void ExploredHeap::fail(std::string why) {
  if (stage_ == Stage::dumps) { // all other questions can be answered; whoever asks what grew learns why not
    stage_ = Stage::ready;
    return;
  }
  error_ = std::move(why);
  stage_ = Stage::failed;
}

void ExploredHeap::go_on() {
  if (stage_ == Stage::ready || stage_ == Stage::failed)
    return;
  try {
    snapshot_->foresee(all_passes);
    give_back_free_memory(); // which the previous stage freed
    switch (stage_) {
    case Stage::counts: snapshot_->prepare(Pass::index | Pass::tally); break;
    case Stage::graph: snapshot_->prepare(Pass::graph | Pass::owned_roots); break;
    case Stage::tree:
      tree_ = std::make_unique<ExploredTree>(*snapshot_);
      objects_ = std::make_unique<ExploredObjects>(*snapshot_, *tree_, values_);
      break;
    case Stage::ways:
      snapshot_->forget_sizes(); // few questions need them from here on
      objects_->find_ways();
      snapshot_->prepare(Pass::live); // tables need it
      break;
    case Stage::dumps:
      if (compared_.go_on(*snapshot_)) { // one at a time, so that requests are answered in between
        snapshot_->forget_sizes();
        return;
      }
      break;
    default: break;
    }
    stage_ = static_cast<Stage>(static_cast<u8>(stage_) + 1);
  } catch (const Interrupted &) {
    throw;
  } catch (const std::bad_alloc &) {
    fail("out of memory while working out: " + std::string(name_of(stage_)));
  } catch (const Error &error) {
    fail(error.what());
  }
  if (snapshot_->has_lost_memory()) {
    begin_again();
    error_.clear();
    try {
      snapshot_->forget_lost_memory();
    } catch (const Error &error) {
      error_ = error.what();
      stage_ = Stage::failed;
    }
  }
}

ordered_json ExploredHeap::facts() {
  ordered_json out{{"runtime", runtime_}, {"objects", nullptr}, {"bytes", nullptr}};
  if (stage_ > Stage::counts && stage_ != Stage::failed) {
    u64 bytes = 0;
    for (const SegmentTally &segment : snapshot_->tally().segments)
      bytes += segment.objects.aligned_bytes;
    out["objects"] = snapshot_->index().count();
    out["bytes"] = bytes;
  }
  return out;
}

ExploredTree &ExploredHeap::tree() {
  if (!tree_)
    throw Error(error_.empty() ? "the dominator tree is still being worked out" : error_);
  return *tree_;
}

ExploredObjects &ExploredHeap::objects() {
  tree();
  return *objects_;
}

report::Answer ExploredHeap::difference(const Asked &what) {
  while (compared_.go_on(*snapshot_)) {
  }
  const std::vector<Record> records = compared_.records(what.dumps);
  if (records.size() < 2 && !compared_.problems().empty())
    throw Error(compared_.problems().front());
  report::Answer out = what.verb->answer_records(records, what.question);
  for (const std::string &problem : compared_.problems())
    out.completeness->notes.add(Subject::answer, Effect::numbers, "a dump is left out: " + problem);
  return out;
}

report::Answer ExploredHeap::answer_of(Asked what) {
  what.question.target = target_;
  if (what.question.values && !values_)
    throw UsageError("contents of strings and fields are shown only if dnheap explore was started with --values");
  return what.verb->answer_records ? difference(what) : dnheap::ask(*what.verb, *snapshot_, what.question);
}

// As text shows the answer. What is asked about its rows stands among the parameters as `from`, `count`, `order`,
// `containing`, and `rows`, the table; without that the answer has the first rows of each.
ordered_json ExploredHeap::tables(const std::string &verb, Parameters parameters) {
  const RowsWanted wanted{number_in(parameters, "from", 0), number_in(parameters, "count", 200),
                          text_in(parameters, "order"), text_in(parameters, "containing")};
  const std::string of = text_in(parameters, "rows");
  for (const char *own : {"from", "count", "order", "containing", "rows"})
    parameters.erase(own);
  const std::string key = key_of(verb, parameters);
  if (!parameters.contains("top"))
    parameters.emplace("top", most_rows); // verbs that sort all objects keep no more than that
  const Asked what = asked(verb, parameters, !compared_.empty());
  auto answering = [&] { return answer_of(what); };
  return of.empty() ? tables_.answer(key, what.question.table, wanted.count, snapshot_->watch(), answering)
                    : tables_.rows(key, of, wanted, snapshot_->watch(), answering);
}

std::string ExploredHeap::ask(const std::string &verb, const Parameters &parameters) {
  const Asked what = asked(verb, parameters, !compared_.empty());
  report::Answer answer = answer_of(what);
  report::WriteOptions how;
  how.top = what.question.top;
  // An answer without the requested table (a string has no fields) is shown without tables instead of failing.
  if (std::ranges::any_of(answer.tables, [&](const report::Table &table) { return table.name == what.question.table; }))
    how.table = what.question.table;
  else if (!what.question.table.empty())
    answer.tables.clear();
  how.threads = snapshot_->threads();
  how.watch = snapshot_->watch();
  std::string out;
  report::Sink sink(out);
  report::write_json(answer, how, sink);
  return out;
}

// Removes the oldest answers when there is no room. Compression makes tables ten times smaller.
void ExploredHeap::keep(const std::string &key, const std::string &answer) {
  if (answer.size() > most_kept_bytes || kept_.contains(key))
    return;
  std::string packed = deflated(answer, 1);
  kept_bytes_ += packed.size() + key.size();
  kept_.emplace(key, Packed{std::move(packed), answer.size()});
  kept_order_.push_back(key);
  while (kept_bytes_ > most_kept_bytes) {
    const auto oldest = kept_.find(kept_order_.front());
    kept_bytes_ -= oldest->first.size() + oldest->second.bytes.size();
    kept_.erase(oldest);
    kept_order_.pop_front();
  }
}

std::optional<std::string> ExploredHeap::find_kept(const std::string &key) const {
  const auto at = kept_.find(key);
  return at == kept_.end() ? std::nullopt : inflated(at->second.bytes, at->second.size);
}

HttpAnswer ExploredHeap::answer_or_throw(const HttpRequest &request) {
  const Parameters &given = request.query;
  if (constexpr std::string_view prefix = "api/ask/"; request.path.starts_with(prefix))
    return {200, "application/json", ask(request.path.substr(prefix.size()), given)};

  if (constexpr std::string_view prefix = "api/tables/"; request.path.starts_with(prefix))
    return json_answer(tables(request.path.substr(prefix.size()), given));

  const std::string at = text_in(given, "at");
  const u64 from = number_in(given, "from", 0), count = number_in(given, "count", 100);
  if (request.path == "api/map")
    return json_answer(tree().map(tree().place_of(at), number_in(given, "levels", 4), number_in(given, "least", 0)));
  if (request.path == "api/children")
    return json_answer(tree().children(tree().place_of(at), from, count));
  if (request.path == "api/above")
    return json_answer(tree().above(tree().place_of(at)));
  if (request.path == "api/object")
    return json_answer(objects().object(objects().object_of(at)));
  if (request.path == "api/references")
    return json_answer(objects().references(objects().object_of(at), from, count));
  if (request.path == "api/referrers")
    return json_answer(objects().referrers(objects().object_of(at), from, count));
  if (request.path == "api/way") {
    if (stage_ != Stage::failed && !objects().knows_ways())
      throw Error("the paths from the roots are still being worked out");
    return json_answer(objects().way(objects().object_of(at)));
  }
  if (request.path == "api/find")
    return json_answer(objects().find(text_in(given, "text"), number_in(given, "count", 50)));
  throw NotFound("there is nothing at this address");
}

HttpAnswer ExploredHeap::answer(const HttpRequest &request) {
  const bool needs_tree = !request.path.starts_with("api/ask/") && !request.path.starts_with("api/tables/");
  if (needs_tree && stage_ < Stage::ways)
    return json_answer({{"error", "still being worked out"}, {"stage", name_of(stage_)}}, 503);
  if (request.path == "api/way" && stage_ == Stage::ways)
    return json_answer({{"error", "still being worked out"}, {"stage", name_of(stage_)}}, 503);
  const std::string key = key_of(request.path, request.query);
  if (std::optional<std::string> known = find_kept(key))
    return {200, "application/json", *std::move(known)};
  HttpAnswer out;
  const auto begin = std::chrono::steady_clock::now();
  try {
    out = answer_or_throw(request);
  } catch (const Interrupted &) {
    throw;
  } catch (const UsageError &error) {
    out = problem(400, error.what());
  } catch (const NotFound &error) {
    out = problem(404, error.what());
  } catch (const Error &error) {
    out = problem(500, error.what());
  } catch (const std::bad_alloc &) {
    out =
        problem(500, "out of memory: this question needs more than the machine, its container, or --max-memory allows");
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  if (stage_ > Stage::tree)
    snapshot_->forget_sizes();
  if (took > long_time)
    give_back_free_memory();
  if (snapshot_->has_lost_memory()) { // dnheap::ask() repeats lost questions; the other requests do not
    begin_again();
    snapshot_->foresee(all_passes);
    try {
      snapshot_->forget_lost_memory();
    } catch (const Error &error) {
      error_ = error.what();
      stage_ = Stage::failed;
    }
    if (needs_tree)
      out = json_answer(
          {{"error", "part of the dump could not be read; the results are computed again"}, {"stage", name_of(stage_)}},
          503);
  } else if (out.status == 200 && took > least_kept_time) {
    keep(key, out.body);
  }
  return out;
}

} // namespace dnheap::explore
