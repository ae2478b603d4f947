#include "explore/explorer.h"

#include "explore/explored_heap.h"
#include "explore/kept_page.h"
#include "explore/page.h"
#include "explore/sockets.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace dnheap::explore {

namespace {

SnapshotOptions snapshot_options(const ExploreOptions &of, Progress &progress) {
  SnapshotOptions options;
  options.module_folders = of.module_folders;
  options.temp_dir = of.temp_dir;
  options.threads = of.threads;
  options.pause = of.pause;
  options.by_port = of.by_port;
  options.max_memory = of.max_memory;
  options.runtime = of.runtime;
  options.watch.progress = &progress;
  return options;
}

std::unique_ptr<Snapshot> open(const ExploreOptions &of, const SnapshotOptions &options) {
  std::unique_ptr<Snapshot> out =
      of.process ? Snapshot::attach(*of.process, options) : Snapshot::open(of.target, options);
  out->heap(); // throws if there is nothing to explore
  if (of.process)
    out->index(); // copies a process's memory, so that the process goes on
  return out;
}

ExploredHeap explored_heap(const ExploreOptions &of, Progress &progress) {
  const SnapshotOptions options = snapshot_options(of, progress);
  return {open(of, options), of.target, of.values, ComparedDumps(of.others, options)};
}

// Runs the thread that holds the snapshot, and keeps the requests that wait for it.
class Worker {
public:
  explicit Worker(const ExploreOptions &options) : options_(options), thread_([this] { work(); }) {}

  ~Worker() {
    {
      std::lock_guard guard(lock_);
      ends_ = true;
    }
    progress_.cancel = true;
    changed_.notify_all();
    thread_.join();
  }

  void add(HttpRequest request, Reply reply) {
    {
      std::lock_guard guard(lock_);
      waiting_.push_back({std::move(request), std::move(reply), false});
      make_way();
    }
    changed_.notify_all();
  }

  void some_hung_up() {
    std::lock_guard guard(lock_);
    make_way();
  }

  // May be called from any thread.
  HttpAnswer state() {
    std::lock_guard guard(lock_);
    ordered_json out{{"file", options_.target},  {"pid", nullptr},   {"values", options_.values},
                     {"stage", name_of(stage_)}, {"error", nullptr}, {"pass", nullptr}};
    if (options_.process)
      out["pid"] = *options_.process;
    if (!error_.empty())
      out["error"] = error_;
    if (const char *pass = progress_.pass.load())
      out["pass"] = {{"name", pass}, {"done", progress_.done.load()}, {"total", progress_.total.load()}};
    out.update(facts_);
    out["dumps"] = options_.others.size() + 1;
    out["verbs"] = verbs_;
    return {200, "application/json", out.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
  }

  // Waits until the target is open, or has failed to open, but at most a second: so most errors are reported at once,
  // and a target that must be decompressed first does not delay the page.
  void wait_for_target() {
    std::unique_lock guard(lock_);
    changed_.wait_for(guard, std::chrono::seconds(1), [&] { return stage_ != Stage::opening || has_ended_; });
  }

  // True if the target could not be opened, or if an unexpected error occurred.
  bool has_ended() const { return has_ended_; }
  void rethrow() const {
    if (failure_)
      std::rethrow_exception(failure_);
  }

private:
  struct Asking {
    HttpRequest request;
    Reply reply;
    bool gave_way = false;
    bool is_heard() const { return !*request.hung_up; }
  };

  // A client that hung up has usually left. If another client is waiting, cancels the work for the one that hung up;
  // that work begins again, once, after all other requests. The caller must hold the lock.
  void make_way() {
    if (answered_ && *answered_ && std::ranges::any_of(waiting_, &Asking::is_heard))
      progress_.cancel = true;
  }

  // The caller must hold the lock.
  Asking take_next() {
    auto next = std::ranges::find_if(waiting_, &Asking::is_heard);
    if (next == waiting_.end())
      next = waiting_.begin();
    Asking out = std::move(*next);
    waiting_.erase(next);
    answered_ = out.request.hung_up;
    return out;
  }

  void answer(ExploredHeap &heap, Asking asking) {
    std::optional<HttpAnswer> done;
    try {
      done = heap.answer(asking.request);
    } catch (const Interrupted &) {
    }
    {
      std::lock_guard guard(lock_);
      answered_.reset();
      if (ends_)
        return;
      progress_.cancel = false;
      if (!done && !std::exchange(asking.gave_way, true))
        return waiting_.push_back(std::move(asking));
    }
    if (!done)
      done = problem(503, "cancelled: its client hung up while others waited; keep the connection open");
    asking.reply(std::move(*done));
  }

  void publish(ExploredHeap &heap) {
    ordered_json facts = heap.facts();
    std::lock_guard guard(lock_);
    stage_ = heap.stage();
    error_ = heap.error();
    facts_ = std::move(facts);
    changed_.notify_all();
  }

  void work() {
    try {
      ExploredHeap heap = explored_heap(options_, progress_);
      publish(heap);
      while (true) {
        std::optional<Asking> next;
        {
          std::unique_lock guard(lock_);
          const bool has_work = heap.stage() < Stage::ready;
          if (!has_work)
            changed_.wait(guard, [&] { return ends_ || !waiting_.empty(); });
          if (ends_)
            break;
          if (!waiting_.empty())
            next = take_next();
        }
        if (next)
          answer(heap, std::move(*next));
        else
          heap.go_on();
        publish(heap);
      }
    } catch (const Interrupted &) {
    } catch (...) {
      failure_ = std::current_exception();
    }
    std::lock_guard guard(lock_);
    has_ended_ = true;
    changed_.notify_all();
  }

  const ExploreOptions &options_;
  const ordered_json verbs_ = asked_verbs(!options_.others.empty());
  Progress progress_;
  std::mutex lock_; // guards the members below
  std::condition_variable changed_;
  std::deque<Asking> waiting_;
  std::shared_ptr<const std::atomic<bool>> answered_; // true: the client whose answer is being computed has hung up
  bool ends_ = false;
  Stage stage_ = Stage::opening;
  std::string error_;
  ordered_json facts_ = {{"objects", nullptr}, {"bytes", nullptr}};

  std::atomic<bool> has_ended_ = false;
  std::exception_ptr failure_; // written before has_ended_
  std::thread thread_;         // last, as it uses everything else
};

} // namespace

std::string page_of(const ExploreOptions &options) {
  Progress progress;
  // Checks regularly whether to end, as the server does.
  std::atomic<bool> is_done = false;
  std::jthread watcher([&] {
    while (!is_done && !progress.cancel) {
      progress.cancel = options.should_end();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  struct Done {
    std::atomic<bool> &flag;
    ~Done() { flag = true; }
  } done{is_done};
  ExploredHeap heap = explored_heap(options, progress);
  return kept_page(heap);
}

void explore(const ExploreOptions &options) {
  require_descriptors(); // first of all, as libevent ends the process if it gets none
  std::optional<Worker> worker;
  HttpOptions http;
  http.port = options.port;
  http.idle_seconds = options.idle_seconds;
  http.should_end = [&] { return options.should_end() || (worker && worker->has_ended()); };
  http.some_hung_up = [&] {
    if (worker)
      worker->some_hung_up();
  };
  HttpServer server(http, [&](HttpRequest request, Reply reply) {
    if (const PageFile *file = page_file(request.path.empty() ? "index.html" : request.path))
      return reply({200, std::string(file->type), std::string(file->text)});
    if (request.path == "api/state")
      return reply(worker->state());
    worker->add(std::move(request), std::move(reply));
  });
  worker.emplace(options);
  worker->wait_for_target();
  if (worker->has_ended())
    worker->rethrow();
  if (options.listening)
    options.listening(server.url(), server.url_for_once());
  server.run();
  if (worker->has_ended())
    worker->rethrow();
}

} // namespace dnheap::explore
