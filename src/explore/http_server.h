// HttpServer: answers GET requests of this machine's own browser, on 127.0.0.1 alone, below a secret path. Refuses
// requests that another page may have sent: a Host that is not this server's, an Origin or a Sec-Fetch-Site of another
// one. Its answers forbid being read by another origin, cached, or framed. One thread serves (run()); answers may come
// later from any thread. Only this file uses libevent.
#pragma once
#include "base/integers.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace dnheap::explore {

struct HttpRequest {
  std::string path;                              // after the secret part: "" or "api/state", percent-decoded
  std::multimap<std::string, std::string> query; // percent-decoded
  // Becomes true within a tenth of a second after the client has closed its sending half. Most of these clients have
  // left; some still wait for the answer. The server cannot distinguish the two.
  std::shared_ptr<const std::atomic<bool>> hung_up = nullptr;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

// Must be called once, from any thread; a second call, or one after the client left, does nothing.
using Reply = std::function<void(HttpAnswer answer)>;

struct HttpOptions {
  u16 port = 0;                                            // 0: any free port
  u64 idle_seconds = 0;                                    // ends after so long without a request; 0: never
  u64 stall_seconds = 30;                                  // clients that send or take nothing for so long are dropped
  u64 most_waiting = 1000;                                 // requests without an answer; further ones get 503
  std::function<bool()> should_end = [] { return false; }; // asked several times per second
  std::function<void()> some_hung_up = [] {};              // run() calls it when clients of waiting requests hung up
};

class HttpServer {
public:
  // Listens. The thread that runs run() calls `handle`. Throws Error if the port is taken.
  HttpServer(HttpOptions options, std::function<void(HttpRequest request, Reply reply)> handle);
  ~HttpServer();
  HttpServer(const HttpServer &) = delete;

  const std::string &url() const; // http://127.0.0.1:41234/2f…/
  // Returns an address that works once: for a browser's command line, which every user of the machine can read.
  const std::string &url_for_once() const;
  // Serves until should_end() returns true, or until it was idle for so long.
  void run();

private:
  struct Inside;
  std::shared_ptr<Inside> inside_;
};

} // namespace dnheap::explore
