/* dnheap for C, and for every language that can call C: opens the dump of a .NET process, or a running process, answers
 * the questions of the program `dnheap`, and reads types, objects, references, strings, roots and dominators row by
 * row. It is libdnheap-c.so, which exports these functions and nothing else. C++ has its own interface:
 * dnheap/dnheap.h.
 *
 * Results. Functions that can fail return a dnheap_code. On success it is 0, and what the last arguments point to is
 * filled. On failure that is unchanged, and dnheap_error() says in one sentence what is wrong. No exception leaves a
 * function, nothing is printed, nothing ends the process. A null pointer where none is allowed is DNHEAP_WRONG_USAGE.
 *
 * Threads. Any thread may call anything. A snapshot works on a thread of its own; its long passes use as many threads
 * as options.threads says. Calls on the same snapshot, or on its rows, wait for each other; calls on different
 * snapshots do not. No call may use a handle while another call closes it, or afterwards. After fork() the child may
 * not use its parent's handles: its calls fail with DNHEAP_WRONG_USAGE.
 *
 * Texts are UTF-8 and end with a zero byte. Names out of a dump have no control characters: '?' replaces them. Contents
 * of strings are unchanged: they may be anybody's secret, and may contain zero bytes.
 *
 * Units. Sizes are bytes. Addresses belong to the dumped process, never to this one; 0 stands for no address. `bytes`
 * of an object or type is the size that ClrMD and SOS report, `aligned_bytes` is its size in the heap. Retained bytes
 * are sizes in the heap, too.
 *
 * Versions. Within one DNHEAP_ABI_VERSION functions, codes and flags are only added, and structs only grow at their
 * end. For this reason each struct that you pass begins with its size, and dnheap_next() takes the size of a row: the
 * library does not write members that your header does not have, and members that the library does not have are
 * zero. */
#ifndef DNHEAP_H
#define DNHEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(DNHEAP_API) /* where the library itself is built */
#elif defined(__GNUC__)
#define DNHEAP_API __attribute__((visibility("default")))
#else
#define DNHEAP_API
#endif

#define DNHEAP_ABI_VERSION 0 /* of libdnheap-c.so.0 */

/* Where the program `dnheap` has an exit code for a case, the code here is the same number. */
typedef enum dnheap_code {
  DNHEAP_OK = 0,
  DNHEAP_WRONG_USAGE = 2, /* the question is wrong, not the dump: an unknown option, a null pointer */
  DNHEAP_CANNOT = 3,      /* cannot open, understand, read or write */
  DNHEAP_NOT_FOUND = 5,   /* the question is valid, but there is no such address or type */
  DNHEAP_NO_MEMORY = 6,   /* this process, or options.max_memory, has too little */
  DNHEAP_INTERNAL = 7,    /* an error of ours: please report it */
  DNHEAP_INTERRUPTED = 130
} dnheap_code;

/* Returns the version of the loaded library: "0.1.0". */
DNHEAP_API const char *dnheap_version(void);
/* Returns one sentence: why the last function that failed on this thread failed; "" if none has failed. Valid until
 * another function fails on this thread. */
DNHEAP_API const char *dnheap_error(void);
/* Returns the meaning of a code, for any number: "not found". */
DNHEAP_API const char *dnheap_code_text(int code);
/* Frees an answer. Does nothing for null. */
DNHEAP_API void dnheap_free(void *answer);

/* ---- Opening ------------------------------------------------------------------------------------------------- */

typedef struct dnheap_snapshot dnheap_snapshot;

/* The progress of a long call. */
typedef struct dnheap_progress {
  const char *pass;     /* "walk", "dominators", …; null between two passes */
  uint64_t done, total; /* bytes of the pass; done is at most total, unless that is 0: unknown */
  uint64_t objects;     /* objects seen so far, if the pass sees objects */
} dnheap_progress;

/* A function of yours. While a call runs, it is called about ten times a second, on the thread that made the call. If
 * it returns anything but 0, or throws a C++ exception, the call is cancelled. It may pass the snapshot to
 * dnheap_cancel() and dnheap_close() only: other calls fail with DNHEAP_WRONG_USAGE. It must return normally: no
 * longjmp(), no pthread_exit(). */
typedef int (*dnheap_on_progress)(void *context, const dnheap_progress *now);

/* Usually everything except `size` is zero; a null pointer instead of the struct means the same. */
typedef struct dnheap_options {
  size_t size;                       /* sizeof(dnheap_options) */
  const char *const *module_folders; /* searched for module files that are not in the dump */
  size_t module_folder_count;
  const char *temp_dir;           /* for decompressing; null: $TMPDIR, /var/tmp, /tmp */
  uint64_t max_memory;            /* limit for the copy of a live process; 0 = none */
  uint32_t threads;               /* 0 = one per processor; at most 1024 */
  uint32_t runtime;               /* number of the runtime to use, from 1; 0 = the one that has a heap */
  uint32_t runs_on;               /* not 0: do not stop a live process; memory that it changes meanwhile may be wrong */
  uint32_t by_port;               /* not 0: a live process's GC lists the objects over the diagnostics port */
  dnheap_on_progress on_progress; /* null: none */
  void *context;                  /* for on_progress */
} dnheap_options;

/* Opens a dump: an ELF core, a Mach-O core, a Windows minidump, a .gcdump, or one of these compressed with zstd, gzip,
 * xz or lz4; or the only one in a folder, which is then searched for module files, too. Cheap: reads the headers now,
 * the rest when it is asked for; decompresses a compressed file first. */
DNHEAP_API int dnheap_open(const char *path, const dnheap_options *options, dnheap_snapshot **snapshot);
/* Attaches to a process of this machine (Linux). The process stands still until dnheap_release_process(), until its
 * memory is copied, or until the snapshot is closed. With options.by_port no right to trace is needed: the process
 * makes a full collection, which lists its objects, types and roots, and goes on before this returns; contents of
 * objects and threads are unknown then. */
DNHEAP_API int dnheap_attach(uint64_t pid, const dnheap_options *options, dnheap_snapshot **snapshot);
/* Lets a live process go on; memory that was not read before is unknown from now on. Does nothing for dumps. */
DNHEAP_API int dnheap_release_process(dnheap_snapshot *snapshot);
/* Closes a snapshot. Rows that are still open keep what they need. Does nothing for null. */
DNHEAP_API void dnheap_close(dnheap_snapshot *snapshot);
/* Makes the running call and all later calls on the snapshot fail with DNHEAP_INTERRUPTED: open the dump again to go
 * on. May be called from any thread, even during another call, and from signal handlers. A call may still return
 * results that exist already. */
DNHEAP_API void dnheap_cancel(dnheap_snapshot *snapshot);

/* Describes what was opened. Texts are valid as long as the snapshot. */
typedef struct dnheap_info {
  size_t size;                 /* sizeof(dnheap_info): set it before the call */
  const char *path;            /* as you named it; "process 4711" */
  const char *container;       /* "elf-core", "macho-core", "minidump", "gcdump", "process" */
  const char *system;          /* "linux", "windows", "macos" */
  const char *architecture;    /* "x64", "arm64", … */
  const char *runtime;         /* "coreclr", "nativeaot", "corert" */
  const char *runtime_version; /* "10.0.14"; "": unknown */
  uint64_t pid;                /* 0 = unknown */
  uint32_t pointer_size;       /* 4 or 8 */
  uint32_t gc_heaps;           /* 1 except for server GC */
  uint32_t server_gc;          /* 0 or 1, like `regions` */
  uint32_t regions;
} dnheap_info;
DNHEAP_API int dnheap_get_info(dnheap_snapshot *snapshot, dnheap_info *info);

/* The part of the heap that all answers are based on. The first call walks the heap. */
typedef struct dnheap_completeness {
  size_t size;          /* sizeof(dnheap_completeness): set it before the call */
  uint64_t objects;     /* walked, holes (Free) included */
  uint64_t bytes;       /* their size in the heap */
  uint64_t bad_objects; /* places without a valid object */
  uint64_t gaps;        /* stretches that could not be walked; dnheap_ask() lists them */
  uint64_t gap_bytes;
  uint32_t complete; /* 0 or 1 */
  uint32_t reserved;
} dnheap_completeness;
DNHEAP_API int dnheap_get_completeness(dnheap_snapshot *snapshot, dnheap_completeness *completeness);

/* Copies the process's memory from `address` on. `*copied`: how many bytes could be copied, perhaps 0. */
DNHEAP_API int dnheap_read(dnheap_snapshot *snapshot, uint64_t address, void *to, size_t size, size_t *copied);

/* ---- Asking -------------------------------------------------------------------------------------------------- */

/* Answers a question: a verb with its subject and options, spelled as on the program's command line but without the
 * dump's name: {"stat", "--type", "Shop\\."}, {"path", "Shop.Cache.Session", "--top=3"}. `dnheap help VERB` lists the
 * options of a verb. The answer is JSON according to doc/schema, unless the options have a --format; it ends with a
 * zero byte that `*size` does not count. `size` may be null. Free the answer with dnheap_free(). Options such as
 * --modules and --threads belong to dnheap_options, and are refused here. */
DNHEAP_API int dnheap_ask(dnheap_snapshot *snapshot, const char *const *arguments, size_t count, char **answer,
                          size_t *size);
/* Answers a whole command line, with the names of its dumps, or --pid: for verbs that open several dumps (`diff`,
 * `check`), make one (`extract`), or need none (`ps`): {"diff", "before.core", "after.core"}. Each call opens its dumps
 * again. on_progress may be null. */
DNHEAP_API int dnheap_command(const char *const *arguments, size_t count, dnheap_on_progress on_progress, void *context,
                              char **answer, size_t *size);

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

/* Rows to be read piece by piece with dnheap_next(). Each function below names the struct of its rows. */
typedef struct dnheap_rows dnheap_rows;

/* Fills `buffer` with the next rows, at most `capacity`, and sets `*count`: 0 if there are no more. `row_size` is the
 * sizeof of one row. Texts in rows are valid until the next call, or dnheap_close_rows(). Read a hundred or more at a
 * time, as a call takes 10 to 50 µs. After a failed call the rows are at their end. */
DNHEAP_API int dnheap_next(dnheap_rows *rows, void *buffer, size_t row_size, size_t capacity, size_t *count);
DNHEAP_API void dnheap_close_rows(dnheap_rows *rows); /* does nothing for null */

#define DNHEAP_NO_TYPE UINT32_MAX
#define DNHEAP_NO_OFFSET UINT64_MAX

/* Generations. */
enum { DNHEAP_GEN0, DNHEAP_GEN1, DNHEAP_GEN2, DNHEAP_LOH, DNHEAP_POH, DNHEAP_FROZEN };

/* A type that has objects, identified by its MethodTable, so two instances of a generic type are two types. */
enum { DNHEAP_TYPE_IS_FREE = 1 /* the type of the Free objects that fill holes */, DNHEAP_TYPE_IS_ARRAY = 2 };
typedef struct dnheap_type {
  uint64_t method_table;
  uint64_t count, bytes, aligned_bytes;
  const char *name;     /* "System.Collections.Generic.List<Shop.Order>" */
  const char *assembly; /* "Shop.dll"; "": unknown */
  uint32_t id;          /* from 0 and without holes; DNHEAP_NO_TYPE for Free */
  uint32_t flags;
} dnheap_type;
/* Rows are dnheap_type, by MethodTable. Walks the heap once. */
DNHEAP_API int dnheap_types(dnheap_snapshot *snapshot, dnheap_rows **rows);

typedef struct dnheap_object {
  uint64_t address, method_table;
  uint64_t bytes;
  uint32_t type;      /* dnheap_type.id */
  uint8_t generation; /* DNHEAP_GEN0, … */
  uint8_t is_free;    /* 0 or 1 */
  uint8_t reserved[2];
} dnheap_object;
/* Rows are dnheap_object: all objects in address order; holes between objects are rows, too. Takes 40 ns per object,
 * and the memory of some ten thousand rows. */
DNHEAP_API int dnheap_objects(dnheap_snapshot *snapshot, dnheap_rows **rows);

/* A reference from one object to another. */
typedef struct dnheap_reference {
  uint64_t target;
  uint64_t offset;   /* from the object's first byte; DNHEAP_NO_OFFSET: not from a slot in the object */
  const char *field; /* "_items", "[17].value", "(dependent handle)" */
} dnheap_reference;
/* Rows are dnheap_reference: the references of one object, in field order. `object` may be an address inside it. */
DNHEAP_API int dnheap_references(dnheap_snapshot *snapshot, uint64_t object, dnheap_rows **rows);

typedef struct dnheap_edge {
  uint64_t from, to;
} dnheap_edge;
/* Rows are dnheap_edge: all references of the heap, by the address of the referring object. Builds the graph: 12 bytes
 * of memory per object, 4 per reference. */
DNHEAP_API int dnheap_edges(dnheap_snapshot *snapshot, dnheap_rows **rows);
/* Rows are dnheap_edge: the references to one object, by the address of the referring object. Reads every reference of
 * the heap. */
DNHEAP_API int dnheap_referrers(dnheap_snapshot *snapshot, uint64_t object, dnheap_rows **rows);

typedef struct dnheap_string {
  uint64_t address;
  uint64_t length;  /* UTF-16 code units of the string */
  const char *text; /* null: not in the dump */
  size_t text_size; /* in bytes, without the zero byte after them */
} dnheap_string;
/* Rows are dnheap_string: all System.String objects by address, at most `most` code units each. 1 µs each. */
DNHEAP_API int dnheap_strings(dnheap_snapshot *snapshot, uint64_t most, dnheap_rows **rows);

enum {
  DNHEAP_ROOT_HANDLE,
  DNHEAP_ROOT_FINALIZER,
  DNHEAP_ROOT_STATIC,
  DNHEAP_ROOT_THREAD_STATIC,
  DNHEAP_ROOT_COM,
  DNHEAP_ROOT_STACK,
  DNHEAP_ROOT_STACK_CONSERVATIVE
};
enum {
  DNHEAP_ROOT_IS_CONSERVATIVE = 1, /* any word was taken for a reference, so it may be chance */
  DNHEAP_ROOT_IS_INTERIOR = 2,     /* leads into the object, not to its beginning */
  DNHEAP_ROOT_IS_PINNED = 4
};
typedef struct dnheap_root {
  uint64_t slot;         /* where the reference lies; 0: in a register */
  uint64_t object;       /* the object it leads to */
  const char *kind_text; /* "handle:strong", "static", … */
  const char *name;      /* "Shop.Cache._items"; "": none */
  const char *thread;    /* "thread 4711"; "": no thread */
  uint32_t kind;         /* DNHEAP_ROOT_HANDLE, … */
  uint32_t flags;
} dnheap_root;
/* Rows are dnheap_root: the GC roots (everything that keeps objects alive by itself), by kind, then by slot. Walks the
 * heap, and searches static fields and stacks for references. */
DNHEAP_API int dnheap_roots(dnheap_snapshot *snapshot, dnheap_rows **rows);

typedef struct dnheap_dominated {
  uint64_t object;
  uint64_t dominator;                        /* the object on every path from the roots; 0: there is no single one */
  uint64_t retained_objects, retained_bytes; /* would be freed with it, itself included */
} dnheap_dominated;
/* Rows are dnheap_dominated: all objects that a root reaches, by address. Builds the dominator tree: 24 bytes of memory
 * per object, 45 while it is built. */
DNHEAP_API int dnheap_dominators(dnheap_snapshot *snapshot, dnheap_rows **rows);

#ifdef __cplusplus
}
#endif

#endif
