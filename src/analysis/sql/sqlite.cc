// sqlite: the tables of `query` as a database (dominators as a view, so that each owner's name is stored once), with
// indexes and views for the usual questions. SQLite itself makes it from those tables, row by row; graph and dominator
// tree cost what `retained` costs.
#include "algorithms/dominator_tree.h"
#include "analysis/export/exporter.h"
#include "analysis/export/held_roots.h"
#include "analysis/sql/heap_tables.h"
#include "base/text.h"

#include <sqlite3.h>

namespace dnheap {

namespace {

// A table, and the query that fills it; most are filled from the table of `query` with the same name.
struct Made {
  const char *name, *columns, *rows = nullptr;
};
constexpr Made made_tables[] = {
    {"meta", "key TEXT PRIMARY KEY, value TEXT"},
    {"types", "id INTEGER PRIMARY KEY, name TEXT, method_table INTEGER, assembly TEXT, count INTEGER, bytes INTEGER, "
              "aligned_bytes INTEGER"},
    {"objects", "address INTEGER PRIMARY KEY, type INTEGER, bytes INTEGER, aligned_bytes INTEGER, generation TEXT, "
                "reached INTEGER"},
    {"refs", "source INTEGER, target INTEGER, field TEXT, element INTEGER"},
    {"roots", "kind TEXT, owner TEXT, object INTEGER"},
    // A table of its own: repeated in each row, the few owners' names were 12 % of the file.
    {"owner_names", "id INTEGER PRIMARY KEY, name TEXT UNIQUE",
     "SELECT NULL, owner FROM (SELECT owner FROM heap_roots UNION SELECT owner FROM heap_owners)"},
    {"owners", "owner TEXT, kind TEXT, rank TEXT, retained_bytes INTEGER, retained_objects INTEGER"},
    {"dominated",
     "object INTEGER PRIMARY KEY, dominator INTEGER, owner INTEGER, retained_bytes INTEGER, retained_objects INTEGER",
     "SELECT object, dominator, (SELECT id FROM owner_names WHERE name = owner), retained_bytes, retained_objects "
     "FROM heap_dominators"},
    {"strings", "object INTEGER PRIMARY KEY, length INTEGER, value TEXT"},
};
constexpr const char *indexes_and_views = R"(
CREATE INDEX objects_by_type ON objects(type);
CREATE INDEX refs_by_source ON refs(source);
CREATE INDEX refs_by_target ON refs(target);
CREATE INDEX dominated_by_dominator ON dominated(dominator);
CREATE VIEW dominators AS SELECT d.object, d.dominator, n.name AS owner, d.retained_bytes, d.retained_objects
  FROM dominated d LEFT JOIN owner_names n ON n.id = d.owner;
CREATE VIEW stat AS SELECT name AS type, sum(count) AS count, sum(bytes) AS bytes, sum(aligned_bytes) AS aligned_bytes
  FROM types GROUP BY name ORDER BY 3 DESC;
CREATE VIEW named_objects AS SELECT printf('0x%x', o.address) AS shown, t.name AS type_name, o.*
  FROM objects o JOIN types t ON t.id = o.type;
CREATE VIEW named_refs AS SELECT r.*, s.name AS source_type, t.name AS target_type FROM refs r
  JOIN objects a ON a.address = r.source JOIN types s ON s.id = a.type
  JOIN objects b ON b.address = r.target JOIN types t ON t.id = b.type;
)";

class Database {
public:
  Database(const Snapshot &snapshot, const std::string &path) : watch_(snapshot.watch()) {
    if (sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
      const std::string why = sqlite3_errmsg(handle_);
      sqlite3_close(handle_);
      throw Error("cannot write a database: " + why);
    }
    sqlite3_progress_handler(
        handle_, 10000,
        [](void *of) {
          const Progress *progress = static_cast<Database *>(of)->watch_.progress;
          return progress && progress->cancel.load(std::memory_order_relaxed) ? 1 : 0;
        },
        this);
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database &) = delete;

  sqlite3 *handle() const { return handle_; }
  void run(HeapTables &tables, const std::string &sql, const std::string &path) {
    const int result = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    tables.throw_error();
    if (result == SQLITE_INTERRUPT)
      throw Interrupted();
    if (result == SQLITE_NOMEM)
      throw std::bad_alloc();
    if (result != SQLITE_OK)
      throw Error("cannot write to " + path + ": " + sqlite3_errmsg(handle_) + "; no file is left");
  }
  u64 changes() const { return static_cast<u64>(sqlite3_changes64(handle_)); }

private:
  const Watch watch_;
  sqlite3 *handle_ = nullptr;
};

} // namespace

Exported export_sqlite(const ExportJob &job, NewFile &file) {
  Exported out;
  HeapTables tables(job.snapshot, job.question.values);
  const std::string &path = job.question.output;
  tables.roots();
  const DominatorTree &tree = tables.holding(false).tree();
  {
    Database database(job.snapshot, file.path_for_now());
    Timer timer(job.snapshot.watch(), "tables");
    database.run(tables, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = 1; BEGIN", path);
    tables.add_to(database.handle(), "heap_");
    for (const Made &made : made_tables) {
      const std::string name = made.name;
      database.run(tables, "CREATE TABLE " + name + "(" + made.columns + ")", path);
      database.run(tables, "INSERT INTO " + name + " " + (made.rows ? made.rows : "SELECT * FROM heap_" + name), path);
      if (name == "objects")
        out.objects = database.changes();
      else if (name == "refs")
        out.references = database.changes();
      else if (name == "roots")
        out.roots = database.changes();
      else if (name == "strings" && job.question.values)
        out.strings = database.changes();
    }
    database.run(tables, indexes_and_views, path);
    database.run(tables, "COMMIT", path);
  }
  file.take_size();
  out.types = tables.types().size() - 1;
  out.bytes = tree.reached().bytes + tree.unreachable().bytes;
  out.unreachable = tree.unreachable().objects;
  if (!tables.roots().problem().empty())
    out.notes.add(tables.roots().problem());
  return out;
}

} // namespace dnheap
