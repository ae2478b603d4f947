/* All of dnheap.h from C: on the sample, on a file that was cut, on wrong arguments. Usage: whole SAMPLE FOLDER. Says
 * what is wrong and ends with 1. */
#define _POSIX_C_SOURCE 200809L
#include "dnheap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The ABI: what was built with one header runs with every later library. */
#define SIZE(type, size) _Static_assert(sizeof(type) == size, #type)
#define AT(type, member, offset) _Static_assert(offsetof(type, member) == offset, #type "." #member)
SIZE(dnheap_progress, 32);
AT(dnheap_progress, objects, 24);
SIZE(dnheap_options, 72);
AT(dnheap_options, module_folders, 8);
AT(dnheap_options, max_memory, 32);
AT(dnheap_options, threads, 40);
AT(dnheap_options, runs_on, 48);
AT(dnheap_options, by_port, 52);
AT(dnheap_options, on_progress, 56);
AT(dnheap_options, context, 64);
SIZE(dnheap_info, 80);
AT(dnheap_info, path, 8);
AT(dnheap_info, runtime_version, 48);
AT(dnheap_info, pid, 56);
AT(dnheap_info, regions, 76);
SIZE(dnheap_completeness, 56);
AT(dnheap_completeness, objects, 8);
AT(dnheap_completeness, complete, 48);
SIZE(dnheap_type, 56);
AT(dnheap_type, count, 8);
AT(dnheap_type, name, 32);
AT(dnheap_type, id, 48);
SIZE(dnheap_object, 32);
AT(dnheap_object, type, 24);
AT(dnheap_object, generation, 28);
SIZE(dnheap_reference, 24);
AT(dnheap_reference, field, 16);
SIZE(dnheap_edge, 16);
SIZE(dnheap_string, 32);
AT(dnheap_string, text, 16);
SIZE(dnheap_root, 48);
AT(dnheap_root, kind_text, 16);
AT(dnheap_root, kind, 40);
SIZE(dnheap_dominated, 32);
AT(dnheap_dominated, retained_bytes, 24);

static int wrong;

static void check(int holds, const char *what, int line) {
  if (!holds) {
    printf("whole.c:%d: %s; the last error: %s\n", line, what, dnheap_error());
    wrong = 1;
  }
}
#define CHECK(condition) check(condition, #condition, __LINE__)
#define FAILS(call, code, words) CHECK((call) == (code) && strstr(dnheap_error(), words))
#define WORDS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* What the sample's types say, for what others say to be compared with. */
struct sums {
  uint64_t types, objects, bytes, strings, byte_arrays;
  uint64_t string_type;
};

static struct sums look_at_types(dnheap_snapshot *snapshot) {
  struct sums out = {0};
  dnheap_rows *rows;
  dnheap_type type[7];
  size_t count;
  CHECK(dnheap_types(snapshot, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, type, sizeof type[0], 7, &count) == DNHEAP_OK && count)
    for (size_t i = 0; i < count; ++i) {
      ++out.types;
      CHECK((type[i].id == DNHEAP_NO_TYPE) == (type[i].flags & DNHEAP_TYPE_IS_FREE));
      CHECK(type[i].bytes <= type[i].aligned_bytes);
      out.objects += type[i].count;
      out.bytes += type[i].aligned_bytes;
      if (!strcmp(type[i].name, "System.String")) {
        out.strings = type[i].count;
        out.string_type = type[i].id;
        CHECK(!strcmp(type[i].assembly, "System.Private.CoreLib.dll"));
      }
      if (!strcmp(type[i].name, "System.Byte[]")) {
        out.byte_arrays = type[i].count;
        CHECK(type[i].flags == DNHEAP_TYPE_IS_ARRAY);
      }
    }
  dnheap_close_rows(rows);
  return out;
}

/* Of a type that has one object. */
static uint64_t look_at_objects(dnheap_snapshot *snapshot, const struct sums *sums) {
  dnheap_rows *rows;
  /* A program whose header knows more than the library: what is new there is zero. */
  struct {
    dnheap_object object;
    uint64_t newer;
  } row[100];
  size_t count;
  uint64_t objects = 0, strings = 0, last = 0;
  memset(row, 0xff, sizeof row);
  CHECK(dnheap_objects(snapshot, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, row, sizeof row[0], 100, &count) == DNHEAP_OK && count)
    for (size_t i = 0; i < count; ++i) {
      ++objects;
      strings += row[i].object.type == sums->string_type;
      CHECK(row[i].object.address > last && row[i].newer == 0 && row[i].object.generation <= DNHEAP_FROZEN);
      last = row[i].object.address;
    }
  CHECK(dnheap_next(rows, row, sizeof row[0], 100, &count) == DNHEAP_OK && count == 0);
  CHECK(objects == sums->objects && strings == sums->strings);
  dnheap_close_rows(rows);
  return last;
}

static void look_at_strings(dnheap_snapshot *snapshot, const struct sums *sums) {
  dnheap_rows *rows;
  dnheap_string row;
  size_t count;
  uint64_t strings = 0, texts = 0;
  CHECK(dnheap_strings(snapshot, 5, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, &row, sizeof row, 1, &count) == DNHEAP_OK && count) {
    ++strings;
    CHECK(!row.text || (row.text[row.text_size] == 0 && row.text_size <= 15));
    texts += row.text && strlen(row.text) == row.length;
  }
  CHECK(strings == sums->strings && texts > 0);
  dnheap_close_rows(rows);
}

/* The object that the first static root leads to. */
static uint64_t look_at_roots(dnheap_snapshot *snapshot) {
  dnheap_rows *rows;
  dnheap_root row[16];
  size_t count;
  uint64_t cache = 0;
  CHECK(dnheap_roots(snapshot, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, row, sizeof row[0], 16, &count) == DNHEAP_OK && count)
    for (size_t i = 0; i < count; ++i)
      if (!strcmp(row[i].name, "Shop.Cache.SessionCache.Shared")) {
        CHECK(row[i].kind == DNHEAP_ROOT_STATIC && !strcmp(row[i].kind_text, "static") && row[i].flags == 0);
        cache = row[i].object;
      }
  dnheap_close_rows(rows);
  return cache;
}

static void look_at_references(dnheap_snapshot *snapshot, uint64_t cache) {
  dnheap_rows *rows;
  dnheap_reference reference;
  dnheap_edge edge[500];
  dnheap_dominated dominated;
  size_t count;
  uint64_t table = 0, found = 0, last = 0, retained = 0;
  CHECK(dnheap_references(snapshot, cache, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, &reference, sizeof reference, 1, &count) == DNHEAP_OK && count)
    if (!strcmp(reference.field, "byToken"))
      table = reference.target;
  dnheap_close_rows(rows);

  CHECK(dnheap_referrers(snapshot, table, &rows) == DNHEAP_OK);
  CHECK(dnheap_next(rows, edge, sizeof edge[0], 500, &count) == DNHEAP_OK && count == 1);
  CHECK(edge[0].from == cache && edge[0].to == table);
  dnheap_close_rows(rows);

  CHECK(dnheap_edges(snapshot, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, edge, sizeof edge[0], 500, &count) == DNHEAP_OK && count)
    for (size_t i = 0; i < count; ++i) {
      CHECK(edge[i].from >= last);
      last = edge[i].from;
      found += edge[i].from == cache && edge[i].to == table;
    }
  CHECK(found == 1);
  dnheap_close_rows(rows);

  CHECK(dnheap_dominators(snapshot, &rows) == DNHEAP_OK);
  while (dnheap_next(rows, &dominated, sizeof dominated, 1, &count) == DNHEAP_OK && count) {
    CHECK(dominated.retained_objects >= 1 && dominated.dominator != dominated.object);
    if (dominated.object == table)
      CHECK(dominated.dominator == cache);
    if (dominated.object == cache)
      retained = dominated.retained_bytes;
  }
  CHECK(retained > 9000000);
  dnheap_close_rows(rows);
}

static void ask(dnheap_snapshot *snapshot) {
  char *answer = NULL;
  size_t size;
  CHECK(dnheap_ask(snapshot, WORDS("stat", "--type-exact", "System.Byte[]"), &answer, &size) == DNHEAP_OK);
  CHECK(answer && size == strlen(answer) && strstr(answer, "\"schema\":\"dnheap/1\"") &&
        strstr(answer, "\"type\":\"System.Byte[]\"") && !strstr(answer, "System.String"));
  dnheap_free(answer);
  answer = NULL;
  CHECK(dnheap_ask(snapshot, WORDS("path", "Shop.Cache.BasketItem", "--top=1", "--format", "text"), &answer, NULL) ==
        DNHEAP_OK);
  CHECK(answer && strstr(answer, "static Shop.Cache.SessionCache.Shared"));
  dnheap_free(answer);

  answer = NULL;
  FAILS(dnheap_ask(snapshot, WORDS("stta"), &answer, &size), DNHEAP_WRONG_USAGE, "did you mean 'stat'?");
  FAILS(dnheap_ask(snapshot, WORDS("stat", "--typ"), &answer, &size), DNHEAP_WRONG_USAGE, "unknown option");
  FAILS(dnheap_ask(snapshot, WORDS("stat", "--threads", "2"), &answer, &size), DNHEAP_WRONG_USAGE,
        "when the snapshot is opened");
  FAILS(dnheap_ask(snapshot, WORDS("stat", "-o", "x"), &answer, &size), DNHEAP_WRONG_USAGE, "only returns an answer");
  FAILS(dnheap_ask(snapshot, WORDS("stat", "other.core"), &answer, &size), DNHEAP_WRONG_USAGE, "unexpected");
  FAILS(dnheap_ask(snapshot, WORDS("diff"), &answer, &size), DNHEAP_WRONG_USAGE, "dnheap_command()");
  FAILS(dnheap_ask(snapshot, WORDS("show", "0x10"), &answer, &size), DNHEAP_NOT_FOUND, "0x10");
  FAILS(dnheap_ask(snapshot, WORDS("show", NULL), &answer, &size), DNHEAP_WRONG_USAGE, "arguments is null");
  FAILS(dnheap_ask(snapshot, NULL, 1, &answer, &size), DNHEAP_WRONG_USAGE, "dnheap_ask: arguments is null");
  FAILS(dnheap_ask(snapshot, (const char *const[]){"stat"}, 0, &answer, &size), DNHEAP_WRONG_USAGE, "which verb?");
  FAILS(dnheap_ask(snapshot, WORDS("stat"), NULL, &size), DNHEAP_WRONG_USAGE, "answer is null");
  CHECK(!answer);
}

static void command(const char *sample, const char *folder) {
  char *answer = NULL, file[4096];
  size_t size = 0;
  snprintf(file, sizeof file, "%s/small.core", folder);
  CHECK(dnheap_command(WORDS("diff", sample, sample, "--table", "types"), NULL, NULL, &answer, &size) == DNHEAP_OK);
  CHECK(answer && strstr(answer, "\"command\":\"diff\""));
  dnheap_free(answer);
  answer = NULL;
  CHECK(dnheap_command(WORDS("extract", sample, "-o", file), NULL, NULL, &answer, &size) == DNHEAP_OK);
  CHECK(answer && strstr(answer, "\"command\":\"extract\"") && access(file, R_OK) == 0);
  dnheap_free(answer);
  answer = NULL;
  CHECK(dnheap_command(WORDS("inspect", "list"), NULL, NULL, &answer, &size) == DNHEAP_OK);
  CHECK(answer && strstr(answer, "collections"));
  dnheap_free(answer);
  answer = NULL;
  CHECK(dnheap_command(WORDS("summary", sample), NULL, NULL, &answer, &size) == DNHEAP_OK);
  CHECK(answer && strstr(answer, "\"command\":\"summary\""));
  dnheap_free(answer);
  FAILS(dnheap_command(WORDS("summary", sample, sample), NULL, NULL, &answer, &size), DNHEAP_WRONG_USAGE,
        "one target per call");
  FAILS(dnheap_command(WORDS("stat"), NULL, NULL, &answer, &size), DNHEAP_WRONG_USAGE, "which dump?");
  FAILS(dnheap_command(WORDS("shell", sample), NULL, NULL, &answer, &size), DNHEAP_WRONG_USAGE, "shell");
  FAILS(dnheap_command(WORDS("stat", "--help"), NULL, NULL, &answer, &size), DNHEAP_WRONG_USAGE, "need the program");
}

/* All that is wrong whatever the dump is. */
static void misuse(dnheap_snapshot *snapshot) {
  dnheap_options options = {0};
  dnheap_snapshot *out = NULL;
  dnheap_rows *rows = NULL;
  dnheap_object object;
  dnheap_info info = {0};
  dnheap_completeness completeness = {0};
  size_t count = 77;
  char byte;
  FAILS(dnheap_open(NULL, NULL, &out), DNHEAP_WRONG_USAGE, "dnheap_open: path is null");
  FAILS(dnheap_open("x", NULL, NULL), DNHEAP_WRONG_USAGE, "dnheap_open: snapshot is null");
  FAILS(dnheap_open("x", &options, &out), DNHEAP_WRONG_USAGE, "size is not set");
  options.size = sizeof options;
  options.module_folder_count = 1;
  FAILS(dnheap_open("x", &options, &out), DNHEAP_WRONG_USAGE, "module_folders is null");
  options.module_folders = (const char *const[]){NULL};
  FAILS(dnheap_open("x", &options, &out), DNHEAP_WRONG_USAGE, "one of options.module_folders is null");
  options.module_folder_count = 0;
  options.threads = 1025;
  FAILS(dnheap_open("x", &options, &out), DNHEAP_WRONG_USAGE, "threads");
  options.threads = 0;
  options.by_port = 1;
  FAILS(dnheap_open("x", &options, &out), DNHEAP_WRONG_USAGE, "by_port needs a live process");
  FAILS(dnheap_attach((uint64_t)1 << 60, &options, &out), DNHEAP_CANNOT, "1152921504606846976");
  options.runs_on = 1;
  FAILS(dnheap_attach((uint64_t)1 << 60, &options, &out), DNHEAP_WRONG_USAGE, "exclude each other");
  FAILS(dnheap_open("/no/such/core", NULL, &out), DNHEAP_CANNOT, "/no/such/core");
  FAILS(dnheap_attach((uint64_t)1 << 60, NULL, &out), DNHEAP_CANNOT, "1152921504606846976");
  FAILS(dnheap_attach(1, NULL, NULL), DNHEAP_WRONG_USAGE, "null");
  CHECK(!out);
  FAILS(dnheap_release_process(NULL), DNHEAP_WRONG_USAGE, "null");
  FAILS(dnheap_get_info(NULL, &info), DNHEAP_WRONG_USAGE, "null");
  FAILS(dnheap_get_info(snapshot, &info), DNHEAP_WRONG_USAGE, "size is not set");
  FAILS(dnheap_get_completeness(snapshot, &completeness), DNHEAP_WRONG_USAGE, "size is not set");
  FAILS(dnheap_get_completeness(NULL, &completeness), DNHEAP_WRONG_USAGE, "null");
  FAILS(dnheap_read(snapshot, 0, NULL, 1, &count), DNHEAP_WRONG_USAGE, "to is null");
  FAILS(dnheap_types(NULL, &rows), DNHEAP_WRONG_USAGE, "dnheap_types: snapshot is null");
  FAILS(dnheap_objects(NULL, &rows), DNHEAP_WRONG_USAGE, "dnheap_objects");
  FAILS(dnheap_edges(NULL, &rows), DNHEAP_WRONG_USAGE, "dnheap_edges");
  FAILS(dnheap_roots(NULL, &rows), DNHEAP_WRONG_USAGE, "dnheap_roots");
  FAILS(dnheap_strings(NULL, 1, &rows), DNHEAP_WRONG_USAGE, "dnheap_strings");
  FAILS(dnheap_dominators(NULL, &rows), DNHEAP_WRONG_USAGE, "dnheap_dominators");
  FAILS(dnheap_referrers(NULL, 1, &rows), DNHEAP_WRONG_USAGE, "dnheap_referrers");
  FAILS(dnheap_references(snapshot, 1, NULL), DNHEAP_WRONG_USAGE, "rows is null");
  FAILS(dnheap_references(snapshot, 16, &rows), DNHEAP_NOT_FOUND, "0x10");
  FAILS(dnheap_referrers(snapshot, 16, &rows), DNHEAP_NOT_FOUND, "0x10");
  FAILS(dnheap_next(NULL, &object, sizeof object, 1, &count), DNHEAP_WRONG_USAGE, "rows is null");
  CHECK(!rows && dnheap_objects(snapshot, &rows) == DNHEAP_OK);
  FAILS(dnheap_next(rows, &object, 8, 1, &count), DNHEAP_WRONG_USAGE, "row_size");
  FAILS(dnheap_next(rows, NULL, sizeof object, 1, &count), DNHEAP_WRONG_USAGE, "buffer is null");
  CHECK(count == 77);
  CHECK(dnheap_next(rows, &object, sizeof object, 0, &count) == DNHEAP_OK && count == 0);
  CHECK(dnheap_next(rows, &object, sizeof object, 1, &count) == DNHEAP_OK && count == 1);
  CHECK(dnheap_read(snapshot, 1, &byte, 1, &count) == DNHEAP_OK && count == 0);
  CHECK(dnheap_read(snapshot, object.address, &byte, 1, &count) == DNHEAP_OK && count == 1);
  dnheap_close_rows(rows);
  dnheap_close(NULL);
  dnheap_close_rows(NULL);
  dnheap_cancel(NULL);
  dnheap_free(NULL);
  for (int code = -1; code < 140; ++code)
    CHECK(*dnheap_code_text(code));
}

/* A dump that ends early is read as far as it goes, or refused in a sentence that names it: nothing else. */
static void cut(const char *core, const char *folder) {
  char file[4096], command[9000];
  int refused = 0;
  snprintf(file, sizeof file, "%s/cut.core", folder);
  for (int percent = 0; percent < 100; percent += 9) {
    dnheap_snapshot *snapshot = NULL;
    dnheap_completeness completeness = {sizeof completeness, 0, 0, 0, 0, 0, 0, 0};
    snprintf(command, sizeof command, "head -c $(($(stat -c %%s '%s') * %d / 100)) '%s' > '%s'", core, percent, core,
             file);
    CHECK(system(command) == 0);
    int code = dnheap_open(file, NULL, &snapshot);
    if (code == DNHEAP_OK)
      code = dnheap_get_completeness(snapshot, &completeness);
    CHECK(code == DNHEAP_OK || (code == DNHEAP_CANNOT && strstr(dnheap_error(), "cut.core")));
    refused += code != DNHEAP_OK;
    dnheap_close(snapshot);
  }
  CHECK(refused > 3);
}

struct watching {
  dnheap_snapshot *snapshot;
  int told, nested;
};

static int on_progress(void *context, const dnheap_progress *now) {
  struct watching *watching = context;
  dnheap_rows *rows;
  ++watching->told;
  CHECK(now->total == 0 || now->done <= now->total);
  if (watching->snapshot)
    watching->nested = dnheap_types(watching->snapshot, &rows);
  return watching->snapshot != NULL;
}

static void *ask_from_thread(void *snapshot) {
  char *answer = NULL;
  CHECK(dnheap_ask(snapshot, WORDS("retained", "--top", "3"), &answer, NULL) == DNHEAP_OK);
  dnheap_free(answer);
  return NULL;
}

/* Cancelled: by the callback, and from elsewhere. Some calls are too short to be told about: then nothing is. */
static void cancel(const char *sample) {
  struct watching watching = {NULL, 0, 0};
  dnheap_options options = {0};
  dnheap_snapshot *snapshot = NULL;
  char *answer = NULL;
  options.size = sizeof options;
  options.on_progress = on_progress;
  options.context = &watching;
  CHECK(dnheap_open(sample, &options, &snapshot) == DNHEAP_OK);
  watching.snapshot = snapshot;
  const int code = dnheap_ask(snapshot, WORDS("report"), &answer, NULL);
  if (watching.told) {
    CHECK(code == DNHEAP_INTERRUPTED || code == DNHEAP_OK);
    CHECK(watching.nested == DNHEAP_WRONG_USAGE);
  }
  dnheap_free(answer);
  dnheap_cancel(snapshot);
  FAILS(dnheap_ask(snapshot, WORDS("waste"), &answer, NULL), DNHEAP_INTERRUPTED, "interrupted");
  dnheap_close(snapshot);
}

static void many_threads(const char *sample) {
  dnheap_snapshot *snapshot = NULL;
  pthread_t thread[4];
  CHECK(dnheap_open(sample, NULL, &snapshot) == DNHEAP_OK);
  for (int i = 0; i < 4; ++i)
    CHECK(pthread_create(&thread[i], NULL, ask_from_thread, snapshot) == 0);
  for (int i = 0; i < 4; ++i)
    pthread_join(thread[i], NULL);
  dnheap_close(snapshot);
}

/* In processes of their own. */
static int child(int (*what)(dnheap_snapshot *, const char *), dnheap_snapshot *snapshot, const char *sample) {
  int status = 0;
  const pid_t pid = fork();
  if (pid == 0) {
    wrong = 0;
    _exit(what(snapshot, sample));
  }
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int asks_after_fork(dnheap_snapshot *snapshot, const char *sample) {
  dnheap_rows *rows;
  (void)sample;
  FAILS(dnheap_types(snapshot, &rows), DNHEAP_WRONG_USAGE, "fork()");
  dnheap_close(snapshot);
  return wrong;
}

static int has_no_memory(dnheap_snapshot *none, const char *sample) {
  dnheap_snapshot *snapshot = NULL;
  char *answer = NULL;
  (void)none;
  CHECK(dnheap_open(sample, NULL, &snapshot) == DNHEAP_OK);
  CHECK(dnheap_ask(snapshot, WORDS("info"), &answer, NULL) == DNHEAP_OK);
  const struct rlimit limit = {1 << 20, 1 << 20};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  FAILS(dnheap_ask(snapshot, WORDS("waste"), &answer, NULL), DNHEAP_NO_MEMORY, "memory");
  return wrong;
}

int main(int count, char **arguments) {
  dnheap_snapshot *snapshot = NULL;
  dnheap_info info = {0};
  dnheap_completeness completeness = {0};
  char core[4096];
  if (count != 3)
    return 2;
  const char *sample = arguments[1], *folder = arguments[2];
  CHECK(*dnheap_error() == 0 && *dnheap_version());
  CHECK(dnheap_open(sample, NULL, &snapshot) == DNHEAP_OK);
  if (wrong)
    return 1;
  info.size = sizeof info;
  CHECK(dnheap_get_info(snapshot, &info) == DNHEAP_OK && info.size == sizeof info);
  CHECK(!strcmp(info.path, sample) && !strcmp(info.container, "elf-core") && !strcmp(info.system, "linux"));
  CHECK(!strcmp(info.architecture, "x64") && !strcmp(info.runtime, "coreclr") && info.pointer_size == 8);
  CHECK(info.pid && info.gc_heaps == 1 && info.regions == 1 && info.server_gc == 0 && *info.runtime_version);
  /* A program of an earlier header, which knows less: nothing behind that is touched. */
  memset(&info, 0x55, sizeof info);
  info.size = offsetof(dnheap_info, pid);
  CHECK(dnheap_get_info(snapshot, &info) == DNHEAP_OK && !strcmp(info.path, sample));
  CHECK(info.pid == UINT64_C(0x5555555555555555));
  completeness.size = sizeof completeness;
  CHECK(dnheap_get_completeness(snapshot, &completeness) == DNHEAP_OK && completeness.complete && !completeness.gaps);

  const struct sums sums = look_at_types(snapshot);
  CHECK(sums.objects == completeness.objects && sums.bytes == completeness.bytes && sums.byte_arrays == 5024);
  look_at_objects(snapshot, &sums);
  look_at_strings(snapshot, &sums);
  look_at_references(snapshot, look_at_roots(snapshot));
  ask(snapshot);
  misuse(snapshot);
  CHECK(dnheap_release_process(snapshot) == DNHEAP_OK);
  if (!getenv("SANITIZED")) { /* sanitizers mind fork() beside threads, and want memory */
    CHECK(child(asks_after_fork, snapshot, sample) == 0);
    CHECK(child(has_no_memory, NULL, sample) == 0);
  }

  /* Rows outlive their snapshot. */
  dnheap_rows *rows = NULL;
  dnheap_object object;
  size_t rows_read = 0;
  CHECK(dnheap_objects(snapshot, &rows) == DNHEAP_OK);
  dnheap_close(snapshot);
  CHECK(dnheap_next(rows, &object, sizeof object, 1, &rows_read) == DNHEAP_OK && rows_read == 1);
  dnheap_close_rows(rows);

  command(sample, folder);
  snprintf(core, sizeof core, "%s/small.core", folder);
  cut(core, folder);
  cancel(sample);
  many_threads(sample);
  return wrong;
}
