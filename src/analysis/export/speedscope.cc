// speedscope: who holds the live bytes, as a flame graph in speedscope's own format: the same frames twice, with their
// bytes and with their objects as width.
#include "analysis/export/file_text.h"
#include "analysis/export/flame_graph.h"
#include "report/encoding.h"

#include <filesystem>
#include <fmt/format.h>

namespace dnheap {

namespace {

// Appends a profile. Frames open and close at positions from 0 to the sum of all bytes, or objects.
void append_profile(FileText &out, const FlameGraph &graph, const char *name, const char *unit, u64 Retained::*what) {
  fmt::format_to(std::back_inserter(out.text),
                 R"({{"type":"evented","name":"{}","unit":"{}","startValue":0,"endValue":{},"events":[)", name, unit,
                 graph.all().*what);
  u64 at = 0;
  std::vector<u32> opened; // open frames, outermost first: indices into graph.names()
  const char *comma = "";
  auto event = [&](char type, u32 frame) {
    fmt::format_to(std::back_inserter(out.text), R"({}{{"type":"{}","frame":{},"at":{}}})", comma, type, frame, at);
    comma = ",";
    out.flush_if_large();
  };
  auto close_down_to = [&](u64 depth) {
    for (; opened.size() > depth; opened.pop_back())
      event('C', opened.back());
  };
  for (const FlameGraph::Frame &frame : graph.frames()) {
    close_down_to(frame.depth);
    opened.push_back(frame.name);
    event('O', frame.name);
    at += frame.own.*what;
  }
  close_down_to(0);
  out.text += "]}";
}

} // namespace

Exported export_speedscope(const ExportJob &job, NewFile &file) {
  const FlameGraph graph(job.snapshot, job.question);
  FileText out(file);
  out.text = R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"dnheap","name":)";
  report::append_json_text(out.text, std::filesystem::path(job.snapshot.target().path).filename().string());
  out.text += R"(,"activeProfileIndex":0,"profiles":[)";
  append_profile(out, graph, "retained bytes", "bytes", &Retained::bytes);
  out.text += ',';
  append_profile(out, graph, "retained objects", "none", &Retained::objects);
  out.text += R"(],"shared":{"frames":[)";
  for (u64 i = 0; i < graph.names().size(); ++i) {
    out.text += i ? ",{\"name\":" : "{\"name\":";
    report::append_json_text(out.text, graph.names()[i]);
    out.text += '}';
    out.flush_if_large();
  }
  out.text += "]}}\n";
  out.flush();
  return graph.exported();
}

} // namespace dnheap
