// Other tools' names for the views of this page: queries of Eclipse MAT, views of Chrome's memory panel, SOS' commands. The search box
// leads from them to the view. doc/tasks.md and src/cli/shell/*_table.cc have the same words.
import { href, to } from './router';

export interface Place {
  address: string;
  title: string; // where that is, and what to open there
  says: string; // what others call it
}

interface Words {
  of: string; // names, apart by commas
  address: string;
  title: string;
}

const an_object = 'Types → a type → an object';
const inspector = (name: string) => to.verb('inspect', name);
const all: Words[] = [
  { of: 'leak suspects, leaks, find leaks, leakhunter, heap dump overview, system overview, crashinfo', address: href(''), title: 'Overview' },
  { of: 'histogram, class histogram, classes, constructors, summary, summary view, dumpheap, shallow size, shallow heap', address: href('types'), title: 'Types' },
  { of: 'retained size, retained heap, retained set, top consumers, what would be freed', address: href('owners'), title: 'Owners' },
  { of: 'biggest objects', address: href('owners', '', { table: 'objects' }), title: 'Owners → Objects' },
  { of: 'package, namespace, group by package', address: href('owners', '', { table: 'namespaces' }), title: 'Owners → Namespaces' },
  { of: 'class loader explorer, component report, group by class loader, assembly', address: href('owners', '', { table: 'assemblies' }), title: 'Owners → Assemblies' },
  { of: 'dominator tree, dominators, containment', address: href('tree'), title: 'Tree' },
  { of: 'path to gc roots, paths to gc roots, path2gc, gcroot, pathto, retaining path, distance', address: href('types'), title: `${an_object}: Why it is alive` },
  { of: 'retainers, referrers, incoming references, inbound references', address: href('types'), title: `${an_object}: Who refers to it` },
  { of: 'outgoing references, outbound references, list objects, dumpobj, inspector, properties, object properties', address: href('types'), title: `${an_object}: Fields, What it refers to` },
  { of: 'merge shortest paths, immediate dominators, paths of a type', address: href('types'), title: 'Types → a type → What holds them' },
  { of: 'find, search, go to object, objsize', address: href('types'), title: `${an_object}: Size, Retained` },
  { of: 'gc roots, roots', address: to.verb('roots'), title: 'Roots' },
  { of: 'oql, query, find strings', address: href('query'), title: 'SQL' },
  { of: 'collection fill ratio, collections grouped by size, map collision ratio, hash entries', address: inspector('collections'), title: 'Inspect → Collections' },
  { of: 'array fill ratio, waste in char arrays, primitive arrays with a constant value, wasted memory', address: href('waste'), title: 'Waste' },
  { of: 'duplicate strings, duplicated strings, group by value', address: to.verb('strings'), title: 'Strings' },
  { of: 'thread overview, thread stacks, clrthreads, clrstack, parallelstacks, dumpstackobjects, stack trace', address: href('threads'), title: 'Threads' },
  { of: 'finalizer overview, finalizer queue, finalizequeue', address: inspector('finalizers'), title: 'Inspect → Finalizers' },
  { of: 'detached elements, detached nodes, event listeners, event handlers', address: inspector('events'), title: 'Inspect → Events' },
  { of: 'closures, closure', address: href('types', '', { filter: 'DisplayClass' }), title: 'Types, those of closures' },
  { of: 'unreachable objects, garbage, dead objects', address: href('types', '', { life: 'dead' }), title: 'Types, Objects: Dead' },
  { of: 'comparison, compare snapshots, compare tables, delta histogram, objects allocated between snapshots, diff', address: href('diff'), title: 'What grew' },
  { of: 'statistics, memory usage', address: to.verb('account'), title: 'Account' },
  { of: 'eeheap, heap segments, gcheapstat, regions', address: href('segments'), title: 'Segments' },
  { of: 'gchandles, weak references, pinned objects', address: to.verb('handles'), title: 'Handles' },
  { of: 'syncblk, deadlock, monitors, lock owners', address: to.verb('locks'), title: 'Locks' },
  { of: 'printexception, pe, dumpexceptions', address: to.verb('exceptions'), title: 'Exceptions' },
  { of: 'dumpasync, threadpool, pending tasks', address: href('async'), title: 'Async' },
  { of: 'timerinfo, timers', address: inspector('timers'), title: 'Inspect → Timers' },
  { of: 'eeversion, clrmodules, system properties', address: to.verb('info'), title: 'Info' },
  { of: 'verifyheap', address: to.verb('verify'), title: 'Soundness' },
];

const plain = (text: string) => text.toLowerCase().replace(/[\s_!-]+/g, ' ').trim();

// Views for what somebody typed, at most `most`: those called so, then those whose names begin so. "gcroot 7ff3b559a6c0" is about that
// object.
export function placesFor(text: string, most = 3): Place[] {
  const [, words = '', address = ''] = /^(.*?)(?:\s+((?:0x)?[0-9a-f`]{8,18}))?$/i.exec(text.trim()) ?? [];
  const wanted = plain(words);
  if (wanted.length < 3 && wanted !== 'pe') return [];
  const at = `0x${address.toLowerCase().replace(/^0x|`/g, '').replace(/^0+/, '')}`;
  const found: { rank: number; place: Place }[] = [];
  const tests = [(name: string) => name === wanted || wanted.startsWith(`${name} `), (name: string) => name.startsWith(wanted), (name: string) => name.includes(` ${wanted}`)];
  for (const each of all) {
    const names = each.of.split(', ');
    const rank = tests.findIndex((is_so) => names.some(is_so));
    if (rank < 0) continue;
    const is_object = address && each.title.startsWith(an_object);
    found.push({ rank, place: { address: is_object ? to.object(at) : each.address, title: is_object ? each.title.replace(an_object, at) : each.title, says: names.find(tests[rank]!)! } });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, most).map((one) => one.place);
}
