#include "analysis/verbs/tables/shared_table.h"

#include "base/share.h"
#include "base/text.h"
#include "objects/object_graph.h"
#include "objects/object_index.h"
#include "report/columns_of.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

using report::Cell;
using report::Kind;
using report::Shown;

struct SetSum {
  u32 set = 0;
  u64 pieces = 0, objects = 0, bytes = 0;
  TreePlace largest{};
  u64 largest_bytes = 0;
};

constexpr u64 large_share = 100; // a piece of 1/100 of the heap or more has a row of its own

// Returns a sum for each set of owners, and one for each large piece; most bytes first.
std::vector<SetSum> sums_of(const SharedPieces &shared, const DominatorTree &tree, u64 whole) {
  std::vector<SetSum> out(shared.sets());
  for (u32 i = 0; i < out.size(); ++i)
    out[i].set = i;
  for (const SharedPieces::Piece &piece : shared.pieces()) {
    const Retained held = tree.retained(piece.place);
    if (held.bytes >= whole / large_share) {
      out.push_back({piece.set, 1, held.objects, held.bytes, piece.place, held.bytes});
      continue;
    }
    SetSum &sum = out[piece.set];
    ++sum.pieces;
    sum.objects += held.objects;
    sum.bytes += held.bytes;
    if (held.bytes > sum.largest_bytes || sum.pieces == 1)
      sum.largest = piece.place, sum.largest_bytes = held.bytes;
  }
  std::erase_if(out, [](const SetSum &sum) { return !sum.pieces; });
  std::stable_sort(out.begin(), out.end(), [](const SetSum &a, const SetSum &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.largest < b.largest;
  });
  return out;
}

constexpr u64 most_named = 100; // owners in a row's data; the text has fewer

std::string brief(const std::vector<std::string> &names, u64 count) {
  constexpr u64 most = 2;
  std::string out;
  for (u64 i = 0; i < std::min<u64>(names.size(), most); ++i)
    out += (i ? "; " : "") + names[i];
  if (count > most)
    out += fmt::format(" and {} more", count_text(count - most));
  return out;
}

} // namespace

report::Table shared_table(const Snapshot &snapshot, const DominatorTree &tree, const Owners &owners,
                           const std::function<std::string(OwnerId)> &name) {
  Timer timer(snapshot.watch(), "shared pieces");
  const ObjectGraph &graph = snapshot.graph();
  const SharedPieces shared(tree, graph.edges(), owners, snapshot.threads(), snapshot.watch());
  report::Table table;
  table.name = "shared";
  table.title = "Held by several owners together";
  table.columns = {{"retained", "Retained", Kind::bytes},
                   {"share", "Share", Kind::percent},
                   {"objects", "Objects", Kind::count},
                   {"pieces", "Pieces", Kind::count},
                   {"address", "Largest", Kind::address},
                   {"type", "Type", Kind::text},
                   {"ways", "Ways", Kind::count},
                   {"owners", "Owners", Kind::nested, Shown::in_data},
                   {"held_by", "Held by", Kind::text, Shown::in_text}};
  const u64 whole = tree.reached().bytes + tree.unreachable().bytes;
  std::vector<report::Row> rows;
  for (const SetSum &sum : sums_of(shared, tree, whole)) {
    const u64 count = shared.owner_count(sum.set);
    std::vector<std::string> names;
    std::vector<Cell> cells;
    for (OwnerId owner : shared.owners(sum.set))
      if (names.size() < most_named) {
        names.push_back(name(owner));
        cells.push_back(names.back());
      }
    const ObjectId largest = *tree.object(sum.largest);
    rows.push_back({sum.bytes, share_of(sum.bytes, whole), sum.objects, sum.pieces, snapshot.index().address(largest),
                    snapshot.runtime().types().name(snapshot.references().types()[graph.type(largest)].method_table),
                    count, std::move(cells), brief(names, count)});
  }
  const Retained all = tree.shared();
  table.total = total_row(table, {{"retained", all.bytes},
                                  {"share", share_of(all.bytes, whole)},
                                  {"objects", all.objects},
                                  {"pieces", u64{shared.pieces().size()}},
                                  {"type", total_of(rows.size(), "row")}});
  table.set_rows(std::move(rows));
  table.notes.push_back("pieces: objects that no single owner would free, each with everything that it alone holds; "
                        "pieces of 1% of the heap or more are listed singly, others by their owners");
  if (!shared.is_complete())
    table.notes.push_back("the search for owners stopped early: pieces may have more owners than are listed");
  return table;
}

} // namespace dnheap
