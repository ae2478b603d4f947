// ExploredTables: answers of verbs as the program's text shows them: the same columns, headings and words, with all
// rows behind them, sorted, filtered and sent page by page. Keeps the most recent answers (KeptRows). For the thread
// that explores.
#pragma once
#include "explore/kept_rows.h"
#include "report/answer.h"

#include <functional>
#include <list>

namespace dnheap::explore {

class ExploredTables {
public:
  using Answering = std::function<report::Answer()>;

  // `key` identifies the question; `answering` is called if the answer is not kept. `table`: this one alone; empty:
  // those that text shows. {"command", "headline", "lead", "next", "complete", "notes", "gaps", "tables"}, each table
  // with its first rows.
  ordered_json answer(const std::string &key, const std::string &table, u64 count, const Watch &watch,
                      const Answering &answering);
  // Throws NotFound if the answer has no such table.
  ordered_json rows(const std::string &key, const std::string &table, const RowsWanted &wanted, const Watch &watch,
                    const Answering &answering);
  void clear() { recent_.clear(); }

private:
  struct Kept {
    std::string key;
    ordered_json head;
    std::list<std::pair<std::string, KeptRows>> tables;
  };
  Kept &kept(const std::string &key, const std::string &table, const Watch &watch, const Answering &answering);

  std::list<Kept> recent_; // most recent first
};

} // namespace dnheap::explore
