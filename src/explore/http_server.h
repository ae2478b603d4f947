// HttpServer: answers GET requests of this machine's own browser, on 127.0.0.1 alone, below a path that only who was
// told it knows. Requests that another page may have sent are refused: a Host that is not this server's, an Origin or a
// Sec-Fetch-Site of another one. No answer may be read by another origin, kept, or framed. One thread serves (run());
// answers may come from any thread, later. Behind this one file stands libevent.
#pragma once
#include "base/integers.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace dnheap::explore {

struct HttpRequest {
  std::string path;                              // behind the secret part: "" or "api/state", percent-decoded
  std::multimap<std::string, std::string> query; // percent-decoded
  // Set once its client sends nothing more, within a tenth of a second. Most such clients have left; those that only
  // closed their own half wait for the answer, and nothing tells one from the other.
  std::shared_ptr<const std::atomic<bool>> hung_up = nullptr;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

// To be called once, from any thread; a second call, or one after the client left, does nothing.
using Reply = std::function<void(HttpAnswer answer)>;

struct HttpOptions {
  u16 port = 0;            // 0: one that is free
  u64 idle_seconds = 0;    // ends after that long without a request; 0: never
  u64 stall_seconds = 30;  // a client that sends or takes nothing for so long is dropped
  u64 most_waiting = 1000; // requests without an answer; further ones get 503
  std::function<bool()> should_end = [] { return false; }; // asked some times per second
  std::function<void()> some_hung_up = [] {};              // called by run() when clients of waiting requests did
};

class HttpServer {
public:
  // Listens. `handle` is called by the thread that runs run(). Throws Error when the port is taken.
  HttpServer(HttpOptions options, std::function<void(HttpRequest request, Reply reply)> handle);
  ~HttpServer();
  HttpServer(const HttpServer &) = delete;

  const std::string &url() const; // http://127.0.0.1:41234/2f…/
  // Leads there once: for a browser's command line, which every user of the machine can read.
  const std::string &url_for_once() const;
  // Until should_end(), or until it was idle for so long.
  void run();

private:
  struct Inside;
  std::shared_ptr<Inside> inside_;
};

} // namespace dnheap::explore
