#include "analysis/threads/async_calls.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

// Returns how many frames are further in than the innermost method of the program; nothing: no method is the program's.
std::optional<u64> frames_of_framework(const AsyncStack &stack, const FrameworkNames &framework) {
  for (u64 i = 0; i < stack.frames.size(); ++i)
    if (!stack.frames[i].method.empty() && !framework.contain(stack.frames[i].method))
      return i;
  return std::nullopt;
}

// True if the program awaits HttpClient, which in turn awaits a socket: the socket is not the one of its own client.
bool is_for_http(std::span<const AsyncFrame> inner) {
  auto begins = [](std::string_view begin) {
    return [begin](const AsyncFrame &frame) { return frame.method.starts_with(begin); };
  };
  // A web socket that HttpClient opened reads from its connection, too.
  return std::ranges::any_of(inner, begins("System.Net.Http.")) &&
         std::ranges::none_of(inner, begins("System.Net.WebSockets."));
}

} // namespace

std::vector<CallGroup> group_calls(std::span<const AsyncStack> stacks, const FrameworkNames &framework) {
  std::map<std::pair<std::string, std::string>, CallGroup> groups;
  for (const AsyncStack &stack : stacks) {
    const std::optional<u64> inner = frames_of_framework(stack, framework);
    if (!inner)
      continue;
    const AsyncFrame &frame = stack.frames[*inner];
    const std::string waits_for = is_for_http(std::span(stack.frames).first(*inner)) ? "HTTP" : stack.awaits.what;
    CallGroup &group = groups[{frame.method, waits_for}];
    if (!group.count)
      group.method = frame.method, group.waits_for = waits_for, group.example = stack.example;
    group.count += stack.count;
    group.called += *inner + 1 < stack.frames.size() ? stack.count : 0;
    group.places.insert(frame);
  }
  std::vector<CallGroup> out;
  for (auto &[key, group] : groups)
    out.push_back(std::move(group));
  return out;
}

SourceLine line_of(const CallGroup &group, SourceLines &lines) {
  constexpr u64 most_places = 16; // awaits of one method
  SourceLine out;
  if (group.places.size() > most_places)
    return out;
  for (const AsyncFrame &place : group.places) {
    const SourceLine line = await_line(place, lines);
    if (&place != &*group.places.begin() && line.text() != out.text())
      return {};
    out = line;
  }
  return out;
}

std::string awaited_in_words(const std::string &waits_for) {
  constexpr std::string_view without_article[] = {"HTTP",     "TLS",    "task ",  "task,",
                                                  "its turn", "itself", "all of", "any of"};
  if (waits_for == "other" || waits_for == "unknown")
    return "";
  if (waits_for.find(", as others do") != waits_for.npos ||
      std::ranges::any_of(without_article, [&](std::string_view begin) { return waits_for.starts_with(begin); }))
    return waits_for;
  return "a " + waits_for;
}

} // namespace dnheap
