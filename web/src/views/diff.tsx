// What grew: from one dump to another, by owner, type, class of memory and waste. Where explore was given one dump: how to get it.
import type { Row } from '../answers';
import { baseName, bytes, count, exactBytes, shortened } from '../format';
import { Notes, Tabs, Waiting } from '../parts';
import { change, href, type Query, type Route, to } from '../router';
import { useServerState } from '../server_state';
import { isKept } from '../source';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';

const tabs = [{ name: 'owners', title: 'Owners' }, { name: 'types', title: 'Types' }, { name: 'account', title: 'Memory' }, { name: 'waste', title: 'Waste' }];

function signed(n: number | null, write: (n: number) => string): string {
  if (n === null || n === undefined) return '–';
  return n === 0 ? '0' : `${n > 0 ? '+' : '−'}${write(Math.abs(n))}`;
}

const size: Column[] = [
  { key: 'change', title: 'Change', kind: 'bytes', show: (row) => <span class={`number ${row.change > 0 ? 'grew' : ''}`} title={exactBytes(row.change)}>{signed(row.change, bytes)}</span> },
  { key: 'before', title: 'Before', kind: 'bytes', minor: true },
  { key: 'after', title: 'After', kind: 'bytes' },
  { key: 'state', title: 'State', kind: 'text', minor: true },
];

const counts = (key: string, title: string): Column => ({ key, title, kind: 'count', minor: true, optional: true, show: (row) => <span class="number">{signed(row[key], count)}</span> });

const columns: Record<string, Column[]> = {
  owners: [...size, counts('objects_change', 'Objects'), { key: 'owner', title: 'Owner', kind: 'text', grow: 4, href: (row) => to.owner(row.owner) }],
  types: [...size, counts('live_change', 'Live objects'), { key: 'type', title: 'Type', kind: 'type', grow: 4, href: (row) => to.type(row.type) }],
  account: [...size, { key: 'what', title: 'What', kind: 'text', grow: 4 }],
  waste: [...size, { key: 'kind', title: 'Why', kind: 'text', grow: 2, value: (row) => row.kind.replaceAll('_', ' ') }, { key: 'what', title: 'What', kind: 'type', grow: 2, href: (row) => to.type(row.what) }, { key: 'field', title: 'In', kind: 'text', grow: 2 }],
};

function opened(row: Row): string | null {
  return row.owner ? to.owner(row.owner) : row.type ? to.type(row.type) : row.kind && row.field ? to.type(row.what) : null;
}

// The numbers of two dumps as the address has them; else the first and the last.
function pairOf(query: Query, dumps: number): { from: number; until: number } {
  const from = Number(query.from ?? 0), until = Number(query.to ?? dumps - 1);
  const is_sound = Number.isInteger(from) && Number.isInteger(until) && from >= 0 && from < until && until < dumps;
  return is_sound ? { from, until } : { from: 0, until: Math.max(1, dumps - 1) };
}

function Chosen({ label, names, value, allowed, onChoose }: { label: string; names: string[]; value: number; allowed: (dump: number) => boolean; onChoose: (dump: number) => void }) {
  return (
    <span><label for={`pair-${label}`}>{label}</label> <select id={`pair-${label}`} value={value} onChange={(event) => onChoose(Number((event.target as HTMLSelectElement).value))}>
      {names.map((name, dump) => <option key={dump} value={dump} disabled={!allowed(dump)}>{dump + 1}: {shortened(baseName(name), 40)}</option>)}
    </select></span>
  );
}

export function Diff({ route }: { route: Route }) {
  const { query } = route;
  const tab = tabs.find((each) => each.name === query.table) ?? tabs[0]!;
  const { state } = useServerState();
  const is_alone = !isKept() && !!state && state.verbs.length > 0 && !state.verbs.some((verb) => verb.name === 'diff');
  const all = useVerb(is_alone ? null : 'diff', { table: 'dumps', top: 0 });
  const dumps: Row[] = all.data?.tables.dumps ?? [];
  const several = dumps.length > 2;
  const { from, until } = pairOf(query, dumps.length);
  const asked = useVerb(all.data ? 'diff' : null, { dumps: several ? `${from},${until}` : '', table: tab.name, top: 0 });
  if (is_alone)
    return (
      <>
        <h1 tabIndex={-1}>What grew</h1>
        <p>This page has one dump. To compare it with an earlier one of the same program, begin again with both:</p>
        <p><code>dnheap explore EARLIER <bdi>{baseName(state.file)}</bdi></code></p>
      </>
    );
  return (
    <>
      <h1 tabIndex={-1}>What grew</h1>
      <Tabs label="What is compared" selected={tab.name} tabs={tabs.map((each) => ({ ...each, href: href('diff', '', { table: each.name === 'owners' ? '' : each.name, from: query.from, to: query.to }) }))} />
      {several && (
        <p class="pair">
          <Chosen label="From" names={dumps.map((dump) => dump.name)} value={from} allowed={(dump) => dump < until} onChoose={(dump) => change({ from: dump })} />
          <Chosen label="To" names={dumps.map((dump) => dump.name)} value={until} allowed={(dump) => dump > from} onChoose={(dump) => change({ to: dump })} />
          <a href={href('timeline', '', { table: tab.name === 'types' ? 'types' : '' })}>Over time</a>
        </p>
      )}
      {!asked.data ? <Waiting asked={all.error ? all : asked} what="Summing up the other dumps…" /> : (
        <>
          <p class="note">From <bdi>{dumps[from]?.name}</bdi> ({bytes(dumps[from]?.live_bytes)} alive) to <bdi>{dumps[until]?.name}</bdi> ({bytes(dumps[until]?.live_bytes)} alive).</p>
          <DataTable key={tab.name} label={tab.title} rows={asked.data.tables[tab.name] ?? []} columns={columns[tab.name]!} high href={opened}
            sort={query.sort || 'change'} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })} />
          <Notes notes={asked.data.completeness?.notes} />
        </>
      )}
    </>
  );
}
