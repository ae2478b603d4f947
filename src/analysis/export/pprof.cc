// pprof: who holds the live bytes, as a profile of Go's tool: profile.proto, compressed by gzip. A frame is a function
// with one location; a frame's own bytes are a sample, with the frames from it down to the owner. Types of samples are
// those of Go's heap profiles.
// https://github.com/google/pprof/blob/main/proto/profile.proto
#include "analysis/export/file_text.h"
#include "analysis/export/flame_graph.h"

#include <zlib.h>

namespace dnheap {

namespace {

// Messages of protocol buffers are fields, each with its number, as numbers or as bytes preceded by their length.
void put_varint(std::string &out, u64 value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
void put_number(std::string &out, u64 field, u64 value) {
  put_varint(out, field << 3);
  put_varint(out, value);
}
void put_bytes(std::string &out, u64 field, std::string_view bytes) {
  put_varint(out, field << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

class Gzip {
public:
  explicit Gzip(NewFile &file) : out_(file) {
    constexpr int gzip = 16; // added to the window size
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS | gzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip &) = delete;

  void write(std::string &text) {
    run(text, Z_NO_FLUSH);
    text.clear();
  }
  void finish() {
    run({}, Z_FINISH);
    out_.flush();
  }

private:
  void run(std::string_view text, int flush) {
    stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = buffer_;
      stream_.avail_out = sizeof buffer_;
      deflate(&stream_, flush);
      out_.text.append(reinterpret_cast<const char *>(buffer_), sizeof buffer_ - stream_.avail_out);
      out_.flush_if_large();
    } while (stream_.avail_out == 0);
  }

  FileText out_;
  z_stream stream_{};
  Bytef buffer_[1 << 14];
};

// The strings of a profile: the first one is empty, then come the graph's names, then all others.
class Texts {
public:
  explicit Texts(const FlameGraph &graph) : graph_(graph) {}
  u64 of(std::string text) {
    more_.push_back(std::move(text));
    return graph_.names().size() + more_.size();
  }
  static u64 of_name(u64 name) { return 1 + name; }
  template <class Visit> void for_each(Visit visit) const {
    visit(std::string());
    for (const auto *list : {&graph_.names(), &more_})
      for (const std::string &text : *list)
        visit(text);
  }

private:
  const FlameGraph &graph_;
  std::vector<std::string> more_;
};

} // namespace

Exported export_pprof(const ExportJob &job, NewFile &file) {
  const FlameGraph graph(job.snapshot, job.question);
  Texts texts(graph);
  Gzip out(file);
  std::string text, message, list;
  auto put_message = [&](u64 field) {
    put_bytes(text, field, message);
    message.clear();
    if (text.size() > 1 << 16)
      out.write(text);
  };
  enum Field { sample_type = 1, sample, location = 4, function, string_table, time_nanos = 9, comment = 13 };

  const u64 objects = texts.of("inuse_objects"), count = texts.of("count");
  const u64 space = texts.of("inuse_space"), bytes = texts.of("bytes");
  for (const auto &[type, unit] : {std::pair(objects, count), std::pair(space, bytes)}) {
    put_number(message, 1, type);
    put_number(message, 2, unit);
    put_message(sample_type);
  }
  std::vector<u32> below; // numbers of names
  for (const FlameGraph::Frame &frame : graph.frames()) {
    below.resize(frame.depth);
    below.push_back(frame.name);
    if (frame.own == Retained{})
      continue;
    for (auto name = below.rbegin(); name != below.rend(); ++name)
      put_varint(list, *name + 1); // locations are numbered from 1
    put_bytes(message, 1, std::exchange(list, {}));
    for (u64 value : {frame.own.objects, frame.own.bytes})
      put_varint(list, value);
    put_bytes(message, 2, std::exchange(list, {}));
    put_message(sample);
  }
  for (u64 name = 0; name < graph.names().size(); ++name) {
    put_number(message, 1, name + 1); // the function's id
    std::string line = std::exchange(message, {});
    put_number(message, 1, name + 1);
    put_bytes(message, 4, line);
    put_message(location);
    put_number(message, 1, name + 1);
    put_number(message, 2, Texts::of_name(name));
    put_message(function);
  }
  if (job.snapshot.target().taken)
    put_number(text, time_nanos, job.snapshot.target().taken->seconds * 1000000000);
  constexpr u64 default_sample_type = 14;
  put_number(text, comment, texts.of(job.completeness.complete() ? "dnheap: complete" : "dnheap: incomplete"));
  put_number(text, default_sample_type, space);
  texts.for_each([&](const std::string &one) {
    message = one;
    put_message(string_table);
  });
  out.write(text);
  out.finish();
  return graph.exported();
}

} // namespace dnheap
