#include "lookout/event.h"

#include "base/json.h"
#include "base/text.h"
#include "lookout/kept_cores.h"

#include <cmath>
#include <fmt/format.h>

namespace dnheap {

namespace {

std::string joined(const std::vector<std::string> &words, const char *separator) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? "" : separator) + word;
  return out;
}

u64 milliseconds(double seconds) { return static_cast<u64>(std::llround(seconds * 1000)); }

// Writes an object's members, one after the other.
class Members {
public:
  void add(const char *key, const std::string &json) { out_ += fmt::format(",\"{}\":{}", key, json); }
  void add_text(const char *key, const std::string &text) { add(key, json_quoted(text)); }
  void add_number(const char *key, std::optional<u64> number) { add(key, number ? std::to_string(*number) : "null"); }
  void add_list(const char *key, const std::vector<std::string> &texts) {
    std::vector<std::string> quoted;
    for (const std::string &text : texts)
      quoted.push_back(json_quoted(text));
    add(key, "[" + joined(quoted, ",") + "]");
  }
  std::string object() const { return "{" + out_.substr(1) + "}"; }

private:
  std::string out_;
};

std::string figures_json(const Figures &figures) {
  Members out;
  for (u64 i = 0; i < figure_count; ++i)
    out.add_number(name_of(static_cast<Figure>(i)), figures.bytes[i]);
  out.add_number("container_limit", figures.limit);
  return out.object();
}

std::string by_port_text(const Event &event) {
  return event.by_port.empty() ? "" : "; by its diagnostics port, as " + event.by_port;
}

} // namespace

const char *name_of(Event::Kind kind) {
  static constexpr const char *names[] = {"waiting", "began", "taken", "not_taken", "blind", "ended"};
  return names[static_cast<u64>(kind)];
}

std::string text_of(const Event &event) {
  const std::string process = "process " + std::to_string(event.pid);
  const std::string figures = figures_text(event.figures);
  std::string out = utc_text(event.time) + " ";
  switch (event.kind) {
  case Event::Kind::waiting:
    return out + "no .NET process runs here yet" + (event.reason.empty() ? "" : ": " + event.reason);
  case Event::Kind::began:
    return out + process + " (" + event.runtime + "): " + figures + "; a core when " +
           joined(event.conditions, " or ") + by_port_text(event);
  case Event::Kind::ended: return out + process + " has ended; " + event.reason;
  case Event::Kind::blind: return out + joined(event.conditions, ", ") + " cannot be measured: " + event.reason;
  case Event::Kind::not_taken:
    return out + joined(event.conditions, ", ") + ": " + figures + "; no core was taken: " + event.reason;
  case Event::Kind::taken: break;
  }
  out += joined(event.conditions, ", ") + ": " + figures;
  if (!event.figures.ran_out.empty())
    out += "; " + event.figures.ran_out;
  out += "; " + event.file + ", " + bytes_text(event.file_bytes);
  if (event.pause_seconds)
    out += fmt::format(", the process stood still for {} ms", milliseconds(*event.pause_seconds));
  out += by_port_text(event);
  if (!event.removed.empty())
    out += "; removed " + joined(event.removed, ", ");
  return out;
}

std::string json_of(const Event &event) {
  using Kind = Event::Kind;
  Members out;
  out.add_text("schema", "dnheap-watch/1");
  out.add_text("event", name_of(event.kind));
  out.add_text("time", utc_text(event.time));
  out.add_number("pid", event.pid ? std::optional(event.pid) : std::nullopt);
  if (event.kind == Kind::began)
    out.add_text("runtime", event.runtime);
  if (!event.conditions.empty())
    out.add_list("conditions", event.conditions);
  if (event.kind == Kind::began || event.kind == Kind::taken || event.kind == Kind::not_taken)
    out.add("figures", figures_json(event.figures));
  if (!event.figures.ran_out.empty())
    out.add_text("ran_out", event.figures.ran_out);
  if (!event.reason.empty())
    out.add_text("reason", event.reason);
  if (!event.by_port.empty())
    out.add_text("by_port", event.by_port);
  if (event.kind == Kind::taken) {
    out.add_text("file", event.file);
    out.add_number("file_bytes", event.file_bytes);
    out.add_number("paused_ms", event.pause_seconds ? std::optional(milliseconds(*event.pause_seconds)) : std::nullopt);
    out.add_list("removed", event.removed);
  }
  return out.object();
}

} // namespace dnheap
