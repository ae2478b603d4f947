// Short forms of names that stand below each other: what all of them have alike goes first, what tells them apart stays.
import { shortened } from './format';

export type Shortening = (text: string, most: number) => string;

const border = /[./\\<>,+( :]/;

function alike(texts: string[]): { head: number; tail: number } {
  const first = texts[0] ?? '';
  let head = first.length;
  let tail = first.length;
  for (const text of texts) {
    let at = 0;
    while (at < head && at < text.length && text[at] === first[at]) ++at;
    head = at;
    at = 0;
    while (at < tail && at < text.length && text[text.length - 1 - at] === first[first.length - 1 - at]) ++at;
    tail = at;
  }
  const shortest = Math.min(...texts.map((text) => text.length));
  return { head, tail: Math.max(0, Math.min(tail, shortest - head)) };
}

// The last border before `at`, so that no word is cut that tells something.
function wordBefore(text: string, at: number): number {
  let place = at;
  while (place > 0 && !border.test(text[place - 1]!)) --place;
  return place;
}

// A window of the text that has what differs, with a little of its beginning.
function around(text: string, head: number, tail: number, most: number): string {
  const from = wordBefore(text, head);
  const to = text.length - tail;
  const begin = Math.max(0, Math.min(8, Math.floor(most / 4), from));
  const front = `${text.slice(0, begin)}…`;
  const room = most - front.length;
  const inner = text.slice(from, Math.max(to, Math.min(text.length, from + room)));
  if (inner.length <= room) return front + inner;
  const start = Math.max(0, Math.min(head - from, inner.length - room)); // where they differ, if the word is too long itself
  const cut = inner.slice(head - from > room / 2 ? start : 0);
  return cut.length <= room ? front + cut : `${front}${cut.slice(0, room - 1)}…`;
}

// Maps each text that is too long to a form of at most `most` letters; different texts stay different where that is possible.
export function apart(texts: string[], most: number, shorten: Shortening = shortened): Map<string, string> {
  const out = new Map<string, string>();
  const long = [...new Set(texts)].filter((text) => text.length > most);
  const clashes = new Map<string, string[]>();
  for (const text of long) {
    const short = shorten(text, most);
    out.set(text, short);
    clashes.set(short, [...(clashes.get(short) ?? []), text]);
  }
  for (const text of texts) if (text.length <= most && clashes.has(text)) clashes.get(text)!.push(text);
  for (const same of clashes.values()) {
    if (same.length < 2) continue;
    const { head, tail } = alike(same);
    for (const text of same) if (text.length > most) out.set(text, around(text, head, tail, most));
  }
  return out;
}
