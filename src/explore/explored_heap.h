// ExploredHeap: the data behind the page: the snapshot, its results, computed stage by stage, and the answers to the
// page's requests. For the thread that explores; others may read State only.
#pragma once
#include "explore/asked.h"
#include "explore/compared_dumps.h"
#include "explore/explored_objects.h"
#include "explore/explored_tables.h"
#include "explore/explorer.h"
#include "explore/http_server.h"

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <unordered_map>

namespace dnheap::explore {

// The stage being computed. All stages before it are complete.
enum class Stage : u8 { opening, counts, graph, tree, ways, dumps, ready, failed };
const char *name_of(Stage stage);

// Returns the verbs that can be asked, with their parameters; includes `diff` if there is something to compare with.
ordered_json asked_verbs(bool can_compare);

// {"error": text}
HttpAnswer problem(int status, const std::string &text);

class ExploredHeap {
public:
  // `values`: show contents of strings and fields.
  ExploredHeap(std::unique_ptr<Snapshot> snapshot, std::string target, bool values, ComparedDumps compared);
  ~ExploredHeap();

  Stage stage() const { return stage_; }
  // Computes the next stage. If that fails, the state says so from then on, and questions still work. Throws
  // Interrupted.
  void go_on();
  // Answers any request below "api/" except "api/state". Throws only Interrupted and std::bad_alloc.
  HttpAnswer answer(const HttpRequest &request);
  // Returns the answer to "api/state" while no pass is running.
  ordered_json state();
  // Returns the facts about the heap in the state: runtime, process, objects, bytes.
  ordered_json facts();
  const std::string &error() const { return error_; }

private:
  HttpAnswer answer_or_throw(const HttpRequest &request);
  report::Answer difference(const Asked &what);
  report::Answer answer_of(Asked what);
  std::string ask(const std::string &verb, const Parameters &parameters);
  ordered_json tables(const std::string &verb, Parameters parameters);
  void begin_again();
  void fail(std::string why);
  void keep(const std::string &key, const std::string &answer);
  std::optional<std::string> find_kept(const std::string &key) const;
  ExploredTree &tree();
  ExploredObjects &objects();

  std::unique_ptr<Snapshot> snapshot_;
  const std::string target_;
  const bool values_;
  const std::string runtime_; // ".NET 10.0.14 on linux x64, workstation GC, regions"
  Stage stage_ = Stage::counts;
  std::string error_;
  ComparedDumps compared_;
  std::unique_ptr<ExploredTree> tree_;
  ExploredTables tables_;
  std::unique_ptr<ExploredObjects> objects_;

  // Cached answers to slow questions, some of which take seconds: the latest, compressed, up to so many bytes.
  struct Packed {
    std::string bytes; // in zlib's format
    u64 size = 0;      // of the answer
  };
  static constexpr std::chrono::milliseconds least_kept_time{5};
  static constexpr u64 most_kept_bytes = u64{16} << 20;
  // After a question that took longer, the C library's freed memory is returned to the system.
  static constexpr std::chrono::milliseconds long_time{500};
  std::unordered_map<std::string, Packed> kept_;
  std::deque<std::string> kept_order_;
  u64 kept_bytes_ = 0;
};

} // namespace dnheap::explore
