#include "mcp/protocol.h"

#include <algorithm>
#include <array>

namespace dnheap::mcp {

namespace {

// Newest first: the first is offered to clients that ask for an unknown one.
constexpr std::array<std::string_view, 4> with_handshake = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view modern = "2026-07-28";
constexpr const char *version_key = "io.modelcontextprotocol/protocolVersion";

constexpr int most_nested = 64;

// The error codes of JSON-RPC and of the protocol.
enum ErrorCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_parameters = -32602,
  unsupported_version = -32022
};

struct Problem {
  ErrorCode code;
  std::string text;
  Json data = nullptr;
};

// If the message has no valid id, the answer has none, as the protocol's schema demands.
Json error_answer(const Json &id, const Problem &problem) {
  Json out = {{"jsonrpc", "2.0"}};
  if (!id.is_null())
    out["id"] = id;
  out["error"] = {{"code", problem.code}, {"message", problem.text}};
  if (!problem.data.is_null())
    out["error"]["data"] = problem.data;
  return out;
}

Json result_answer(const Json &id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

bool is_id(const Json &value) { return value.is_string() || value.is_number_integer(); }

// Returns null (as JSON) if there is no such member, or if `of` is no object.
const Json &member(const Json &of, const char *name) {
  static const Json none;
  const auto at = of.is_object() ? of.find(name) : of.end();
  return at == of.end() ? none : *at;
}

std::string text_of(const Json &of, const char *name) {
  const Json &value = member(of, name);
  return value.is_string() ? value.get<std::string>() : "";
}

Json parsed(std::string_view text) {
  bool is_deep = false;
  Json out = Json::parse(
      text.begin(), text.end(),
      [&](int depth, Json::parse_event_t, Json &) {
        is_deep |= depth > most_nested;
        return depth <= most_nested;
      },
      false);
  if (is_deep)
    throw Problem{invalid_request, "the message is nested deeper than 64"};
  if (out.is_discarded())
    throw Problem{parse_error, "the message is not JSON: send one message per line, in UTF-8"};
  return out;
}

} // namespace

Taken Protocol::take(std::string_view message) const {
  Json id; // set as soon as it is known
  try {
    const Json request = parsed(message);
    if (!request.is_object() || text_of(request, "jsonrpc") != "2.0")
      throw Problem{invalid_request, "the message is not a request of JSON-RPC 2.0"};
    const bool has_id = request.contains("id");
    if (has_id && is_id(request["id"]))
      id = request["id"];
    if (!member(request, "method").is_string()) {
      if (request.contains("result") || request.contains("error")) // responses: we never send requests
        return {};
      throw Problem{invalid_request, "the request names no method"};
    }
    const std::string method = request["method"];
    const Json &parameters = member(request, "params");
    if (!has_id)
      return method == "notifications/cancelled" && is_id(member(parameters, "requestId"))
                 ? Taken{.cancelled = member(parameters, "requestId")}
                 : Taken{};
    if (id.is_null())
      throw Problem{invalid_request, "the request's id is neither a text nor a whole number"};
    if (!parameters.is_null() && !parameters.is_object())
      throw Problem{invalid_parameters, "the request's params are not an object"};

    const Json &said = member(member(parameters, "_meta"), version_key);
    const bool is_modern = said == modern;
    if (!said.is_null() && !is_modern)
      throw Problem{unsupported_version,
                    "this revision of the protocol is not known",
                    {{"supported", Json::array({modern})}, {"requested", said}}};
    if (method != "tools/call")
      return {.answer = result_answer(id, completed(this->request(method, parameters, is_modern), is_modern))};

    Call call{id, text_of(parameters, "name"), member(parameters, "arguments"),
              member(member(parameters, "_meta"), "progressToken"), is_modern};
    if (!find_tool(call.tool))
      throw Problem{invalid_parameters, "there is no tool of this name; tools/list lists all tools"};
    if (call.arguments.is_null())
      call.arguments = Json::object();
    if (!call.arguments.is_object())
      throw Problem{invalid_parameters, "the tool's arguments are not an object"};
    if (!is_id(call.progress_token))
      call.progress_token = nullptr;
    return {.call = std::move(call)};
  } catch (const Problem &problem) {
    return {.answer = error_answer(id, problem)};
  }
}

Json Protocol::request(const std::string &method, const Json &parameters, bool is_modern) const {
  if (method == "tools/list")
    return tool_list();
  if (method == "server/discover")
    return discovered();
  if (!is_modern && method == "initialize")
    return initialized(parameters);
  if (!is_modern && method == "ping")
    return Json::object();
  throw Problem{method_not_found, "there is no such method here: this server offers tools only"};
}

Json Protocol::server_info() const { return {{"name", "dnheap"}, {"title", "dnheap"}, {"version", version_}}; }

Json Protocol::initialized(const Json &parameters) const {
  const std::string wanted = text_of(parameters, "protocolVersion");
  const bool is_known = std::ranges::find(with_handshake, wanted) != with_handshake.end();
  return {{"protocolVersion", is_known ? std::string_view(wanted) : with_handshake.front()},
          {"capabilities", {{"tools", Json::object()}}},
          {"serverInfo", server_info()},
          {"instructions", instructions_}};
}

Json Protocol::discovered() const {
  return {{"supportedVersions", Json::array({modern})},
          {"capabilities", {{"tools", Json::object()}}},
          {"instructions", instructions_}};
}

Json Protocol::tool_list() const {
  Json all = Json::array();
  for (const Tool &tool : tools_)
    all.push_back({{"name", tool.name},
                   {"description", tool.description},
                   {"inputSchema", tool.input_schema},
                   {"annotations", {{"readOnlyHint", true}, {"idempotentHint", true}, {"openWorldHint", false}}}});
  return {{"tools", std::move(all)}};
}

// Adds what newer clients require in each result. Tools do not change while the server runs.
Json Protocol::completed(Json result, bool is_modern) const {
  if (!is_modern)
    return result;
  result["resultType"] = "complete";
  result["_meta"]["io.modelcontextprotocol/serverInfo"] = server_info();
  if (result.contains("tools") || result.contains("supportedVersions")) {
    result["ttlMs"] = 3'600'000;
    result["cacheScope"] = "private";
  }
  return result;
}

Json Protocol::answer_to(const Call &call, const ToolResult &result) const {
  Json content = Json::array();
  for (const std::string &text : result.texts)
    content.push_back({{"type", "text"}, {"text", text}});
  Json out = {{"content", std::move(content)}};
  if (!result.structured.is_null())
    out["structuredContent"] = result.structured;
  out["isError"] = result.is_error;
  return result_answer(call.id, completed(std::move(out), call.is_modern));
}

Json Protocol::progress_of(const Call &call, double done, const std::string &text) {
  return {{"jsonrpc", "2.0"},
          {"method", "notifications/progress"},
          {"params", {{"progressToken", call.progress_token}, {"progress", done}, {"message", text}}}};
}

Json Protocol::too_long() {
  return error_answer(nullptr, {invalid_request, "the message is longer than 4 MiB, and was not read"});
}

const Tool *Protocol::find_tool(const std::string &name) const {
  const auto at = std::ranges::find(tools_, name, &Tool::name);
  return at == tools_.end() ? nullptr : &*at;
}

} // namespace dnheap::mcp
