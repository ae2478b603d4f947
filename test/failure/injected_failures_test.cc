// Every verb while the n-th allocation, mmap, open, read or write fails, or that one and all later ones, for n = 1, 2,
// 3 … until nothing is left to fail (as SQLite's tests do it): the verb either answers as always, or ends with an error
// that is one sentence. Never a crash, never another answer.
#include "analysis/verb.h"
#include "base/text.h"
#include "failure/failing_calls.h"
#include "report/write.h"
#include "snapshot/snapshot.h"
#include "support/core_file.h"
#include "support/run.h"
#include "support/sanitized.h"
#include "support/statics_heap.h"
#include "support/zstd.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

struct Shop : StaticsHeap {
  Shop() : StaticsHeap({}) {
    SegmentWriter &old = segments.front();
    Address order = type("Shop.Order", 2);
    for (int i = 0; i < 20; ++i) {
      orders.push_back(old.object(order));
      old.store(orders.back() + p, i ? orders[orders.size() - 2] : objects_of_test[0], p);
    }
    old.string("text");
    old.store(slot(holder, 7), orders.back(), p);
    gc.handles.push_back({.type = HandleType::strong, .object = orders[4]});
    sync_block(orders[3]);
    threads[0].registers.push_back(orders[2]);
  }
  std::vector<Address> orders;
};

struct Asked {
  const char *verb, *word = ""; // the subject, or a filter
  const char *target = "shop.core";
};

void PrintTo(const Asked &asked, std::ostream *to) { *to << asked.verb << " " << asked.word << " " << asked.target; }

const Asked all_asked[] = {{"stat"},
                           {"stat", "--live"},
                           {"stat", "--by retained"},
                           {"segments"},
                           {"objects"},
                           {"objects", "--dead"},
                           {"show"},
                           {"show", "--closure"},
                           {"path"},
                           {"path", "type"},
                           {"retained"},
                           {"retained", "--tree"},
                           {"handles"},
                           {"roots"},
                           {"gc"},
                           {"info"},
                           {"verify"},
                           {"verify", "--all"},
                           {"contract"},
                           {"extract"},
                           {"stat", "", "shop.core.zst"}};

class InjectedFailures : public testing::TestWithParam<Asked> {
protected:
  InjectedFailures() {
    const std::string core = core_file(shop_);
    folder_.write("shop.core", core);
    folder_.write("shop.core.zst", zstd(core));
  }

  // What the verb says while the n-th call of that kind fails; an error as "error: …".
  std::string answer(Failing what, u64 n, Later later) {
    const Asked &asked = GetParam();
    const std::string word = asked.word;
    Question question;
    question.target = "TARGET";
    question.subject = word == "type" ? "Shop.Order" : hex(shop_.orders[3]);
    question.life = word == "--live" ? Life::live : word == "--dead" ? Life::dead : Life::any;
    question.closure = word == "--closure";
    question.tree = word == "--tree";
    question.all = word == "--all";
    question.by = word == "--by retained" ? "retained" : "";
    question.output = folder_.path("small.core");
    SnapshotOptions options;
    options.threads = 1 + n % 2;
    options.temp_dir = folder_.path();
    options.record_reads = asked.verb == std::string("extract");
    const std::string target = folder_.path(asked.target);
    std::string out;
    try {
      const FailingCall failing(what, n, later); // gone when an error is caught
      std::unique_ptr<Snapshot> snapshot = Snapshot::open(target, options);
      for (const Verb &verb : verbs())
        if (verb.name == std::string(asked.verb)) {
          report::Answer answer = ask(verb, *snapshot, question);
          report::Sink sink(out);
          report::write_json(answer, {}, sink);
        }
    } catch (const Error &error) {
      out = std::string("error: ") + error.what();
    } catch (const std::bad_alloc &) {
      out = "error: not enough memory";
    }
    return out;
  }
  bool is_left_over() const { // besides the dumps and, where it was made whole, the extracted core
    u64 files = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder_.path()))
      ++files;
    return files > 3;
  }

  Shop shop_;
  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Verbs, InjectedFailures, testing::ValuesIn(all_asked));

TEST_P(InjectedFailures, AnErrorOrTheSameAnswer) {
  const std::string wanted = answer(Failing::allocation, 0, Later::succeed);
  ASSERT_NE(wanted.find("\"dnheap/1\""), wanted.npos) << wanted.substr(0, 500);
  for (Failing what : all_failing)
    for (Later later : {Later::succeed, Later::fail}) {
      if (sanitized && what != Failing::allocation)
        continue; // the sanitizers' own stand-ins are called
      u64 errors = 0;
      for (u64 n = 1;; n += sanitized ? 1 + n / 16 : 1) {
        const std::string found = answer(what, n, later);
        const u64 calls = counted_calls();
        if (n > calls) {
          ASSERT_EQ(found, wanted); // nothing failed
          break;
        }
        const std::string which = std::string(name_of(what)) + " " + std::to_string(n) +
                                  (later == Later::fail ? " and all later ones" : "") + " of " + std::to_string(calls);
        const bool is_error = found.starts_with("error: ");
        errors += is_error;
        ASSERT_TRUE(is_error || found == wanted) << which << "\n"
                                                 << found.substr(0, 3000) << "\ninstead of\n"
                                                 << wanted.substr(0, 3000);
        ASSERT_TRUE(!is_error || (found.size() > 20 && found.size() < 4000 && found.find('\n') == found.npos)) << found;
        ASSERT_FALSE(is_left_over()) << which;
      }
      if (what == Failing::allocation || what == Failing::open) {
        EXPECT_GT(errors, 0u) << name_of(what);
      }
      RecordProperty(std::string(name_of(what)) + (later == Later::fail ? "s" : ""),
                     std::to_string(errors) + " errors");
    }
}

} // namespace
} // namespace dnheap::test
