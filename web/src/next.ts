// Where a command that an answer ends with leads in this page: "dnheap stack DUMP 29379" opens that thread.
import { href, to } from './router';

export interface Next {
  text: string;
  href: string;
}

const pages: Record<string, [string, string]> = {
  threads: ['threads', 'The threads'], async: ['async', 'The async calls'], waste: ['waste', 'The waste'], segments: ['segments', 'The segments'], stat: ['types', 'The types'], retained: ['owners', 'Who holds what'],
};
const words: Record<string, string> = { locks: 'The locks', exceptions: 'The exceptions', frag: 'The fragmentation', handles: 'The handles', roots: 'The roots', gc: 'What the GC says', account: 'The account of the memory', info: 'The dump', verify: 'The soundness', strings: 'The strings' };

// The words of a command line; '…' and "…" keep spaces.
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((found) => found[1] ?? found[2] ?? found[3] ?? '');
}

// Of a file name and a subject the subject: the file comes first, an inspector's name before it.
function subjectOf(verb: string, rest: string[]): string {
  const plain: string[] = [];
  for (let index = 0; index < rest.length; ++index) {
    if (rest[index]!.startsWith('-')) { if (/^--(type|type-exact|top|by|sort|gen|depth|table|min|max|modules|symbols|runtime)$/.test(rest[index]!)) ++index; }
    else plain.push(rest[index]!);
  }
  return verb === 'inspect' ? plain.find((each) => /^[a-z]+$/.test(each)) ?? '' : plain.find((each, index) => index > 0 || /^(0x[0-9a-f]+|@?\d+)$/.test(each)) ?? '';
}

export function nextOf(command: string | null | undefined, example?: string | null): Next | null {
  const [program, verb = '', ...rest] = wordsOf(command ?? '');
  if (program !== 'dnheap' || !verb) return null;
  const option = (name: string) => { const at = rest.indexOf(name); return at < 0 ? '' : rest[at + 1] ?? ''; };
  const subject = subjectOf(verb, rest);
  if (verb === 'path') {
    const of = subject && !subject.startsWith('@') ? subject : example ?? '';
    return of ? { text: `What holds ${of}`, href: to.paths(of) } : { text: 'Who holds most', href: href('owners') };
  }
  if (verb === 'stack') {
    if (/^\d+$/.test(subject)) return { text: `Thread ${subject}`, href: href('thread', subject) };
    return { text: 'All stacks, those alike as one', href: href('threads', 'merged') };
  }
  if (verb === 'show' && subject) return { text: `The object ${subject}`, href: to.object(subject) };
  if (verb === 'objects') { const type = option('--type-exact') || option('--type'); return type ? { text: `Instances of ${type}`, href: to.type(type) } : null; }
  if (verb === 'inspect') return { text: subject ? `Inspect ${subject}` : 'All inspectors', href: to.verb('inspect', subject || undefined) };
  if (verb === 'report') return { text: 'The overview', href: href('') };
  const page = pages[verb];
  if (page) return { text: page[1], href: href(page[0]) };
  return words[verb] ? { text: words[verb]!, href: to.verb(verb) } : null;
}
