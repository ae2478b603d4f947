#include "explore/http_server.h"

#include "base/error.h"
#include "explore/sockets.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <fmt/format.h>
#include <mutex>
#include <random>
#include <string_view>
#include <vector>

namespace dnheap::explore {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                               "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Returns 128 bits of the system's random numbers as text.
std::string random_word() {
  std::random_device random;
  std::string out;
  for (int i = 0; i < 4; ++i)
    out += fmt::format("{:08x}", random());
  return out;
}

// Takes the same time for any word of that length, so that nobody can guess it letter by letter.
bool is_same(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

bool is_escaped_well(std::string_view query) {
  auto is_digit = [&](std::size_t at) {
    return at < query.size() && std::isxdigit(static_cast<unsigned char>(query[at]));
  };
  for (std::size_t at = query.find('%'); at != query.npos; at = query.find('%', at + 1))
    if (!is_digit(at + 1) || !is_digit(at + 2))
      return false;
  return true;
}

struct FreeEvent {
  void operator()(event_base *base) const { event_base_free(base); }
  void operator()(evhttp *http) const { evhttp_free(http); }
  void operator()(event *one) const { event_free(one); }
  void operator()(evbuffer *buffer) const { evbuffer_free(buffer); }
};
template <class T> using Owned = std::unique_ptr<T, FreeEvent>;

template <class T> T *made(T *made_by_libevent) {
  if (!made_by_libevent)
    throw std::bad_alloc();
  return made_by_libevent;
}

const char *reason_of(int status) {
  switch (status) {
  case 200: return "OK";
  case 303: return "See Other";
  case 400: return "Bad Request";
  case 403: return "Forbidden";
  case 404: return "Not Found";
  case 405: return "Method Not Allowed";
  case 503: return "Service Unavailable";
  default: return "Internal Server Error";
  }
}

struct Served {
  evconnlistener *listener;
  u16 port;
};
Served serve_on(evhttp *http, u16 port) {
  const Listening listening = listen_here(port);
  evhttp_bound_socket *bound = evhttp_accept_socket_with_handle(http, listening.socket);
  if (!bound) {
    close_socket(listening.socket);
    throw std::bad_alloc();
  }
  return {evhttp_bound_socket_get_listener(bound), listening.port};
}

} // namespace

struct HttpServer::Inside {
  HttpOptions options;
  std::function<void(HttpRequest, Reply)> handle;
  std::string token = random_word(), host, url;
  std::string ticket = random_word(), url_for_once; // the ticket becomes empty when it is used

  std::mutex lock; // guards `ready` and `wake`, which any thread may use
  std::vector<std::pair<u64, HttpAnswer>> ready;
  SocketPair wake; // a byte sent into it wakes the loop

  struct Waiting {
    evhttp_request *request;
    std::shared_ptr<std::atomic<bool>> hung_up = std::make_shared<std::atomic<bool>>(false);
  };
  std::map<u64, Waiting> waiting; // used by the loop's thread only; by request number
  u64 next_number = 0;
  Clock::time_point last_request = Clock::now();
  evconnlistener *listener = nullptr; // the one of `http`
  u16 port = 0;
  std::map<u16, Clock::time_point>
      idle_since; // idle connections, by the other end's port; empty while descriptors are left

  // Declared in the order in which libevent needs them destroyed: the last first.
  Owned<event_base> base;
  Owned<evhttp> http;
  Owned<event> tick, woken;

  ~Inside() {
    woken.reset();
    tick.reset();
    http.reset();
    base.reset();
  }

  void answer_later(u64 number, HttpAnswer answer) {
    std::lock_guard guard(lock);
    ready.emplace_back(number, std::move(answer));
    wake.send();
  }

  void send_what_is_ready() {
    wake.take_all();
    std::vector<std::pair<u64, HttpAnswer>> now;
    {
      std::lock_guard guard(lock);
      now.swap(ready);
    }
    for (auto &[number, answer] : now)
      if (const auto at = waiting.find(number); at != waiting.end()) {
        evhttp_request *request = at->second.request;
        waiting.erase(at);
        if (evhttp_connection *connection = evhttp_request_get_connection(request))
          evhttp_connection_set_closecb(connection, nullptr, nullptr);
        send(request, answer);
      }
  }

  void send(evhttp_request *request, const HttpAnswer &answer) {
    evkeyvalq *headers = evhttp_request_get_output_headers(request);
    for (auto [name, value] :
         {std::pair("Content-Type", answer.type.c_str()), std::pair("Content-Security-Policy", policy),
          std::pair("X-Content-Type-Options", "nosniff"), std::pair("Referrer-Policy", "no-referrer"),
          std::pair("Cache-Control", "no-store"), std::pair("Cross-Origin-Resource-Policy", "same-origin"),
          std::pair("Cross-Origin-Opener-Policy", "same-origin"), std::pair("X-Frame-Options", "DENY")})
      evhttp_add_header(headers, name, value);
    Owned<evbuffer> body(made(evbuffer_new()));
    evbuffer_add(body.get(), answer.body.data(), answer.body.size());
    evhttp_connection *connection = evhttp_request_get_connection(request);
    evhttp_send_reply(request, answer.status, reason_of(answer.status), body.get());
    // While writing, libevent watches for the client's end, and would cut the answer to a client that closed only its
    // own half. Writing notices clients that have left.
    if (connection)
      bufferevent_disable(evhttp_connection_get_bufferevent(connection), EV_READ);
  }

  void look_who_hung_up() {
    bool is_new = false;
    for (auto &[number, one] : waiting)
      if (evhttp_connection *connection = evhttp_request_get_connection(one.request); connection && !*one.hung_up)
        if (has_hung_up(bufferevent_getfd(evhttp_connection_get_bufferevent(connection))))
          *one.hung_up = is_new = true;
    if (is_new)
      options.some_hung_up();
  }

  // When no descriptors are left, idle connections keep new ones from being accepted: browsers leave connections open
  // for the next request, and open some in advance. Ends connections that have been idle for a second.
  void end_idle_connections() {
    std::map<u16, Clock::time_point> idle;
    const auto now = Clock::now();
    for (const Connection &connection : has_room_for_a_socket() ? std::vector<Connection>() : connections_to(port)) {
      if (std::ranges::any_of(waiting, [&](const auto &one) {
            evhttp_connection *its = evhttp_request_get_connection(one.second.request);
            return its && bufferevent_getfd(evhttp_connection_get_bufferevent(its)) == connection.socket;
          }))
        continue;
      const auto known = idle_since.find(connection.from);
      const auto since = known == idle_since.end() ? now : known->second;
      idle.emplace(connection.from, since);
      if (now - since > std::chrono::seconds(1))
        end_reading(connection.socket);
    }
    idle_since = std::move(idle);
  }

  void refuse(evhttp_request *request, int status, std::string_view why) {
    send(request, {status, "text/plain; charset=utf-8", std::string(why) + "\n"});
  }

  // True if this server's own page, or the user, sent the request. Browsers state the origin of other pages' requests.
  bool is_from_here(evhttp_request *request) const {
    const evkeyvalq *headers = evhttp_request_get_input_headers(request);
    auto value = [&](const char *name) -> std::string_view {
      const char *text = evhttp_find_header(headers, name);
      return text ? text : "";
    };
    u64 hosts = 0;
    for (const evkeyval *one = headers->tqh_first; one; one = one->next.tqe_next)
      hosts += ::evutil_ascii_strcasecmp(one->key, "Host") == 0;
    if (hosts != 1 || value("Host") != host)
      return false;
    if (const std::string_view origin = value("Origin"); !origin.empty() && origin != "http://" + host)
      return false;
    const std::string_view site = value("Sec-Fetch-Site");
    return site.empty() || site == "same-origin" || site == "none";
  }

  void serve(evhttp_request *request) {
    last_request = Clock::now();
    if (evhttp_request_get_command(request) != EVHTTP_REQ_GET)
      return refuse(request, 405, "only GET is answered");
    if (!is_from_here(request))
      return refuse(request, 403, "only the page itself may use this address");
    const evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *raw = uri ? evhttp_uri_get_path(uri) : nullptr;
    std::string_view path = raw ? raw : "";
    if (!ticket.empty() && path.size() == ticket.size() + 1 && is_same(path.substr(1), ticket)) {
      ticket.clear();
      evhttp_add_header(evhttp_request_get_output_headers(request), "Location", url.c_str());
      return refuse(request, 303, "the page");
    }
    const bool knows_token = path.size() > token.size() + 1 && path[0] == '/' && path[token.size() + 1] == '/' &&
                             is_same(path.substr(1, token.size()), token);
    if (!knows_token)
      return refuse(request, 404, "there is nothing here; the address that dnheap printed has a secret part");
    if (waiting.size() >= options.most_waiting)
      return refuse(request, 503, "too many requests wait already");

    HttpRequest out;
    std::size_t size = 0;
    if (char *decoded = evhttp_uridecode(std::string(path.substr(token.size() + 2)).c_str(), 0, &size)) {
      out.path.assign(decoded, size);
      std::free(decoded);
    }
    if (const char *query = evhttp_uri_get_query(uri)) {
      evkeyvalq values;
      if (std::string_view(query).find("%00") != std::string_view::npos) // libevent would cut the text there
        return refuse(request, 400, "the text contains a NUL");
      if (!is_escaped_well(query)) // libevent would take it literally
        return refuse(request, 400, "each % needs two hexadecimal digits after it");
      if (evhttp_parse_query_str(query, &values) != 0)
        return refuse(request, 400, "the part after the question mark is malformed");
      for (evkeyval *one = values.tqh_first; one; one = one->next.tqe_next)
        out.query.emplace(one->key, one->value);
      evhttp_clear_headers(&values);
    }

    const u64 number = next_number++;
    out.hung_up = waiting.emplace(number, Waiting{request}).first->second.hung_up;
    if (evhttp_connection *connection = evhttp_request_get_connection(request))
      evhttp_connection_set_closecb(
          connection,
          [](evhttp_connection *closed, void *self) {
            // The request is destroyed with its connection.
            auto &all = static_cast<Inside *>(self)->waiting;
            std::erase_if(all,
                          [&](const auto &one) { return evhttp_request_get_connection(one.second.request) == closed; });
          },
          this);
    return begin(number, std::move(out));
  }

  std::function<void(u64, HttpRequest)> begin; // calls `handle` with a Reply that may outlive the server
};

HttpServer::HttpServer(HttpOptions options, std::function<void(HttpRequest, Reply)> handle)
    : inside_(std::make_shared<Inside>()) {
  Inside &in = *inside_;
  in.options = std::move(options);
  in.handle = std::move(handle);
  in.begin = [self = std::weak_ptr(inside_)](u64 number, HttpRequest request) {
    if (const auto inside = self.lock())
      inside->handle(std::move(request), [self, number](HttpAnswer answer) {
        if (const auto still = self.lock())
          still->answer_later(number, std::move(answer));
      });
  };
  in.base.reset(made(event_base_new()));
  in.http.reset(made(evhttp_new(in.base.get())));
  evhttp *http = in.http.get();
  // Let libevent pass all methods, so that refusals are sent here, with the same headers as all answers.
  evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                       EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT |
                                       EVHTTP_REQ_PATCH);
  evhttp_set_max_headers_size(http, 64 << 10);
  evhttp_set_max_body_size(http, 0);
  evhttp_set_timeout(http, static_cast<int>(in.options.stall_seconds));
  evhttp_set_gencb(
      http, [](evhttp_request *request, void *self) { static_cast<Inside *>(self)->serve(request); }, &in);
  const Served served = serve_on(http, in.options.port);
  in.listener = served.listener;
  in.port = served.port;
  // When no descriptors are left, libevent would try to accept the same connection again and again. So it accepts none
  // before the next tick.
  evconnlistener_set_error_cb(in.listener, [](evconnlistener *full, void *) { evconnlistener_disable(full); });
  in.host = fmt::format("127.0.0.1:{}", served.port);
  in.url = fmt::format("http://{}/{}/", in.host, in.token);
  in.url_for_once = fmt::format("http://{}/{}", in.host, in.ticket);

  in.woken.reset(made(event_new(
      in.base.get(), in.wake.receiver(), EV_READ | EV_PERSIST,
      [](evutil_socket_t, short, void *self) { static_cast<Inside *>(self)->send_what_is_ready(); }, &in)));
  event_add(in.woken.get(), nullptr);
  in.tick.reset(made(event_new(
      in.base.get(), -1, EV_PERSIST,
      [](evutil_socket_t, short, void *self) {
        Inside &inside = *static_cast<Inside *>(self);
        inside.look_who_hung_up();
        inside.end_idle_connections();
        evconnlistener_enable(inside.listener);
        const auto idle = std::chrono::seconds(inside.options.idle_seconds);
        const bool is_idle = idle.count() && inside.waiting.empty() && Clock::now() - inside.last_request > idle;
        if (is_idle || inside.options.should_end())
          event_base_loopbreak(inside.base.get());
      },
      &in)));
  const timeval every{0, 100'000};
  event_add(in.tick.get(), &every);
}

HttpServer::~HttpServer() = default;

const std::string &HttpServer::url() const { return inside_->url; }
const std::string &HttpServer::url_for_once() const { return inside_->url_for_once; }

void HttpServer::run() {
  inside_->last_request = Clock::now();
  if (event_base_dispatch(inside_->base.get()) < 0)
    throw Error("the server's event loop failed");
}

} // namespace dnheap::explore
