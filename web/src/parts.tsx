// Small pieces that views are put together from.
import type { ComponentChildren } from 'preact';
import type { Answer } from './answers';
import * as format from './format';
import type { Asked } from './use_answer';

export function Panel({ title, aside, children, id, note }: {
  title: string; aside?: ComponentChildren; children?: ComponentChildren; id?: string; note?: ComponentChildren;
}) {
  const heading = `h-${id ?? title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
  return (
    <section class="panel" aria-labelledby={heading}>
      <div class="panel-head"><h2 id={heading}>{title}</h2>{aside}</div>
      {note && <p class="note">{note}</p>}
      {children}
    </section>
  );
}

export function Bytes({ n }: { n: number | null | undefined }) {
  return <span class="number" title={format.exactBytes(n)}>{format.bytes(n)}</span>;
}

export function Bar({ part, kind = '' }: { part: number; kind?: string }) {
  const width = Math.max(0, Math.min(1, Number.isFinite(part) ? part : 0)) * 100;
  return (
    <svg class={`bar ${kind}`} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-back" x="0" y="0" width="100" height="8" /><rect class="bar-front" x="0" y="0" width={width} height="8" />
    </svg>
  );
}

// Pieces of a whole in one line, each with a class for its colour. What it says stands beside it as text.
export function Stack({ parts, total }: { parts: { kind: string; n: number }[]; total?: number }) {
  const whole = total ?? parts.reduce((sum, part) => sum + part.n, 0);
  let at = 0;
  return (
    <svg class="stack" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-back" x="0" y="0" width="1000" height="10" />
      {whole > 0 && parts.map((part) => {
        const x = at;
        const width = (part.n / whole) * 1000;
        at += width;
        return width > 0 && <rect key={part.kind} class={part.kind} x={x} y="0" width={Math.max(width, 1)} height="10" />;
      })}
    </svg>
  );
}

// What is said while an answer is not there.
export function Waiting({ asked, what = 'Asking…' }: { asked: Asked<any>; what?: string }) {
  if (asked.error) {
    const { error } = asked;
    if (error.isEarly) return <p class="waiting" role="status">This comes as soon as the heap has been worked through.</p>;
    return <p class={error.isNotKept ? 'waiting' : 'error'} role={error.isNotKept ? undefined : 'alert'}><bdi>{error.message}</bdi></p>;
  }
  return <p class="waiting" role="status">{what}</p>;
}

export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

export function Tabs({ label, tabs, selected }: { label: string; tabs: { name: string; title: string; href: string }[]; selected: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => <a key={tab.name} href={tab.href} aria-current={tab.name === selected ? 'page' : undefined}>{tab.title}</a>)}
    </nav>
  );
}

// The two ends of a chain that may be as long as a list: what is between them is counted.
export function ends<T>(rows: T[], head: number, tail: number, left_out = 0): { rows: (T | null)[]; hidden: number } {
  if (rows.length <= head + tail + 1 && !left_out) return { rows, hidden: 0 };
  const last = rows.slice(Math.max(head, rows.length - tail));
  return { rows: [...rows.slice(0, head), null, ...last], hidden: rows.length - Math.min(head, rows.length) - last.length + left_out };
}

// How many rows of a table a view did not ask for.
export function LeftOut({ asked, table, more }: { asked: Asked<Answer>; table: string; more?: () => void }) {
  const left = asked.data?.left_out?.[table];
  if (left === undefined) return null;
  const shown = asked.data?.tables[table]?.length ?? 0;
  return (
    <p class="note left-out">The first {format.count(shown)}{left === null ? ' rows; there are more.' : ` of ${format.counted(shown + left, 'row')}.`}
      {more && <> <button type="button" class="button" onClick={more}>Show more</button></>}</p>
  );
}

export function Notes({ notes }: { notes: string[] | undefined }) {
  return notes?.length ? <ul class="notes">{notes.map((note) => <li key={note}><bdi>{note}</bdi></li>)}</ul> : null;
}
