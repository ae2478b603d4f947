// Protocol: the Model Context Protocol without its transport: takes a message, returns what to answer. Serves tools and
// nothing else, to clients of both kinds: those that shake hands (initialize; revisions 2024-11-05 to 2025-11-25), and
// those that state in each request which revision they speak (2026-07-28, server/discover). Has no changing state. The
// input is untrusted: 4 MiB a message, nested 64 deep. A call costs time in proportion to its message; any thread.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap::mcp {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t longest_message = 4 << 20;

struct Tool {
  std::string name = {}, description = {};
  Json input_schema = {};
};

struct ToolResult {
  std::vector<std::string> texts = {};
  Json structured = {}; // null: none
  bool is_error = false;
};

// A client's request to call a tool. The answer is sent later, when the call is done.
struct Call {
  Json id = {};
  std::string tool = {};
  Json arguments = {};      // an object
  Json progress_token = {}; // null: no progress wanted
  bool is_modern = false;   // the client did not shake hands
};

struct Taken {
  std::optional<Json> answer = {};    // to send at once
  std::optional<Call> call = {};      // the call to make, if the answer comes later
  std::optional<Json> cancelled = {}; // the id of a call that is no longer wanted
};

class Protocol {
public:
  Protocol(std::string version, std::string instructions, std::vector<Tool> tools)
      : version_(std::move(version)), instructions_(std::move(instructions)), tools_(std::move(tools)) {}

  Taken take(std::string_view message) const;
  // Returns the message to send when the call is done.
  Json answer_to(const Call &call, const ToolResult &result) const;
  // Returns a message to send meanwhile; `done` must grow from one to the next.
  static Json progress_of(const Call &call, double done, const std::string &text);
  static Json too_long();

private:
  Json request(const std::string &method, const Json &parameters, bool is_modern) const; // the result
  Json server_info() const;
  Json tool_list() const;
  Json initialized(const Json &parameters) const;
  Json discovered() const;
  Json completed(Json result, bool is_modern) const;
  const Tool *find_tool(const std::string &name) const;

  std::string version_, instructions_;
  std::vector<Tool> tools_;
};

} // namespace dnheap::mcp
