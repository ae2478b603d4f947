// `inspect requests`: connections, streams, contexts and sessions that were written in known states; those of another
// shape are said to be unknown.
#include "base/text.h"
#include "support/library_heap.h"
#include "support/opened.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// As in Kestrel, Microsoft.AspNetCore.Http and .Hosting.
struct Served : LibraryHeap {
  explicit Served(const HeapShape &shape, const char *status = "!_requestProcessingStatus",
                  const char *active = "_active")
      : LibraryHeap(shape) {
    const char *kestrel = "Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http";
    protocol = type(kestrel, "HttpProtocol", 0, 4, {status, "?<Method>k__BackingField"});
    connection = type(kestrel, "Http1Connection", protocol, 5,
                      {"<Microsoft.AspNetCore.Hosting.Server.Abstractions.IHostContextContainer<TContext>.HostContext>"
                       "k__BackingField"},
                      2);
    other = type(kestrel, "OfAnotherHost", protocol, 5, {"_application"}, 2);
    const u32 hosting = heap.app().metadata.type("Microsoft.AspNetCore.Hosting", "HostingApplication");
    host = nested(hosting, "Context", 6, {"<HttpContext>k__BackingField", "HttpActivityFeature", "%StartTimestamp"});
    activity = activity_type();
    feature = type("Microsoft.AspNetCore.Hosting", "HttpActivityFeature", 0, 3, {"<Activity>k__BackingField"});
    context = context_type(active);
    request = type("Microsoft.AspNetCore.Http", "DefaultHttpRequest", 0, 3, {"_context"});
    owner = type("Shop", "AuditEntry", 0, 3, {"_context"});
    session = type("Microsoft.AspNetCore.Session", "DistributedSession", 0, 4, {"?_isModified", "?_loaded"});
  }
  // With a DateTime.
  Address activity_type() {
    MetadataWriter &metadata = heap.app().metadata;
    const u32 rid = metadata.type("System", "DateTime"), word = static_cast<u32>(p);
    const Address time = heap.method_table({.base_size = 2 * word + 8, .flags = 0x40000, .rid = rid});
    heap.fields(time, {{metadata.field("_dateData", field_signature(element(ElementType::U8))), ElementType::U8, 0}});
    heap.value_type(time, ElementType::ValueType, 8);
    const Address out =
        heap.method_table({.base_size = 2 * word + 8, .rid = metadata.type("System.Diagnostics", "Activity")});
    heap.fields(out,
                {{metadata.field("<StartTimeUtc>k__BackingField",
                                 field_signature(type_reference(ElementType::ValueType, token(Table::TypeDef, rid)))),
                  ElementType::ValueType, 0}});
    set_widths(out, {8});
    return out;
  }
  // Began at that time on the stopwatch (ns), by its activity (ms since 2026 began), or both; 0: not noted.
  Address began(u64 stopwatch, u64 utc) {
    const u64 ticks = 10'000 * (63'902'908'800'000 + utc) | u64{1} << 62; // of UTC
    const Address of = utc ? with(feature, {with(activity, {ticks})}) : 0;
    return with(connection, {3, 3, with(host, {made(true, with(owner, {0})), of, stopwatch})});
  }
  // A truth value, and a struct with a reference.
  Address context_type(const char *active) {
    MetadataWriter &metadata = heap.app().metadata;
    const u32 rid = metadata.type("Microsoft.AspNetCore.Http.Features", "FeatureReferences"),
              word = static_cast<u32>(p);
    const Address features = heap.method_table({.base_size = 3 * word, .flags = 0x40000, .rid = rid});
    heap.fields(features,
                {{metadata.field("<Collection>k__BackingField", field_signature(element(ElementType::Object))),
                  ElementType::Class, 0}});
    heap.value_type(features, ElementType::ValueType, p);
    const Address out = heap.method_table({.base_size = 4 * word,
                                           .rid = metadata.type("Microsoft.AspNetCore.Http", "DefaultHttpContext"),
                                           .series = {{2 * p, p}}});
    heap.fields(out, {{metadata.field(active, field_signature(element(ElementType::Boolean))), ElementType::Boolean, 0},
                      {metadata.field("_features", field_signature(type_reference(ElementType::ValueType,
                                                                                  token(Table::TypeDef, rid)))),
                       ElementType::ValueType, word}});
    set_widths(out, {1, p});
    return out;
  }
  Address made(bool is_active, Address collection) {
    const Address at = with(context, {is_active, collection});
    with(request, {at}); // does not hold it
    return at;
  }
  Address serves(u32 status, u8 method, Address of_context) {
    return with(connection, {status, method, with(host, {of_context})});
  }

  Address protocol = 0, connection = 0, other = 0, host = 0, context = 0, request = 0, owner = 0, session = 0,
          activity = 0, feature = 0;
};

// "kind | state | method | type | held by", and how many.
std::map<std::string, u64> rows_said(report::Answer &answer) {
  std::map<std::string, u64> out;
  for (TextRow &row : text_rows_of(answer, "requests"))
    out[row["kind"] + " | " + row["state"] + " | " + row["method"] + " | " +
        row["type"].substr(row["type"].rfind('.')) + " | " + row["held_by"]] = std::stoull(row["count"]);
  return out;
}

TEST(InspectRequests, StatesOfAll) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    Served s(shape);
    const Address features = s.with(s.owner, {0}); // any object
    for (const u32 status : {3, 3, 0})             // of HTTP/2 it stays at 0
      s.serves(status, 3, s.made(true, features));
    s.serves(4, 0, s.made(true, features));
    s.serves(5, 9, s.made(true, features));
    s.serves(6, 0, s.made(true, features));
    s.serves(0, 255, 0);
    s.serves(0, 255, s.made(false, 0));
    s.serves(6, 0, s.made(false, 0));
    s.serves(2, 0, s.made(false, 0));
    s.serves(3, 0, s.made(false, 0)); // whose client went away
    s.with(s.other, {3, 1, 0});       // of an application that is not ASP.NET's
    s.with(s.other, {6, 1, 0});
    Address leaked = 0;
    for (int i = 0; i < 5; ++i) {
      const Address ended = s.made(false, 0);
      leaked = leaked ? leaked : ended;
      s.with(s.owner, {ended});
    }
    s.with(s.owner, {s.made(false, features)});
    s.made(true, features); // of another server
    s.with(s.session, {0, 0});
    s.with(s.session, {0, 1});
    s.with(s.owner, {s.with(s.session, {1, 1})});
    report::Answer answer = inspected(s.heap, "requests");
    const std::map<std::string, u64> written = {
        {"request | in flight | POST | .Http1Connection | ", 3},
        {"request | in flight, response begun | GET | .Http1Connection | ", 1},
        {"request | in flight, response begun | (other) | .Http1Connection | ", 1},
        {"request | in flight, response complete | GET | .Http1Connection | ", 1},
        {"request | idle |  | .Http1Connection | ", 3},
        {"request | reading the request |  | .Http1Connection | ", 1},
        {"request | ended |  | .Http1Connection | ", 1},
        {"request | in flight | PUT | .OfAnotherHost | ", 1},
        {"request | idle |  | .OfAnotherHost | ", 1},
        {"context | kept for reuse |  | .DefaultHttpContext | "
         "Microsoft.AspNetCore.Hosting.HostingApplication+Context.<HttpContext>k__BackingField",
         4},
        {"context | ended |  | .DefaultHttpContext | Shop.AuditEntry._context", 5},
        {"context | made by code |  | .DefaultHttpContext | Shop.AuditEntry._context", 1},
        {"context | in flight |  | .DefaultHttpContext | (nobody)", 1},
        {"session | not loaded |  | .DistributedSession | (nobody)", 1},
        {"session | loaded |  | .DistributedSession | (nobody)", 1},
        {"session | modified |  | .DistributedSession | Shop.AuditEntry._context", 1}};
    EXPECT_EQ(rows_said(answer), written) << notes_of(answer);
    EXPECT_EQ(unknown_notes_of(answer), "");
    EXPECT_EQ(answer.next_command, "dnheap path core " + hex(leaked));
  }
}

// Until the newest start, on each clock.
TEST(InspectRequests, Ages) {
  for (const HeapShape &shape : type_layouts()) {
    SCOPED_TRACE(name_of(shape));
    auto age = [&](const std::vector<std::pair<u64, u64>> &starts) {
      Served s(shape);
      for (const auto &[stopwatch, utc] : starts)
        s.began(stopwatch, utc);
      s.serves(0, 255, s.made(false, 0)); // idle
      report::Answer answer = inspected(s.heap, "requests");
      std::string out;
      for (TextRow &row : text_rows_of(answer, "requests"))
        if (row["kind"] == "request")
          out += row["state"] + " " + row["count"] + ": " + row["age_ms_most"] + " " + row["age"] + "; ";
      return out;
    };
    constexpr u64 ms = 1'000'000, hours = 5'000'000;
    EXPECT_EQ(age({{hours * ms, 0}, {(hours + 95'250) * ms, 0}, {0, 0}}), "in flight 3: 95250 95 s; idle 1:  ; ");
    EXPECT_EQ(age({{0, hours}, {0, hours + 200}, {0, hours + 130'000}}), "in flight 3: 130000 2.167 min; idle 1:  ; ");
    EXPECT_EQ(age({{0, hours}, {0, hours + 7000}, {3 * hours * ms, 0}}), "in flight 3: 7000 7 s; idle 1:  ; ");
    EXPECT_EQ(age({{~u64{0}, 0}, {0, 0}}), "in flight 2:  ; idle 1:  ; "); // damaged
  }
}

TEST(InspectRequests, OfAnotherShape) {
  Served s({}, "!_status", "_isActive");
  s.serves(0, 0, 0);
  s.made(false, 0);
  s.with(s.session, {0, 0});
  Served other({});
  other.serves(7, 0, 0); // no such status
  auto note = [](const char *type) { return unknown_shape(1, type, "such an object"); };
  const std::string protocol = note("Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol");
  report::Answer answer = inspected(s.heap, "requests"), of_other = inspected(other.heap, "requests");
  EXPECT_EQ(rows_said(answer).size(), 1u);
  EXPECT_EQ(unknown_notes_of(answer), note("Microsoft.AspNetCore.Http.DefaultHttpContext") + protocol);
  EXPECT_TRUE(rows_said(of_other).empty());
  EXPECT_EQ(unknown_notes_of(of_other), protocol);
}

} // namespace
} // namespace dnheap::test
