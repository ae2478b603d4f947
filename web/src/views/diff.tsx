// What grew: this dump beside an earlier one, by owner, type, class of memory and waste. With explore --against; else how to get it.
import type { Row } from '../answers';
import { baseName, bytes, count, exactBytes } from '../format';
import { Notes, Tabs, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
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

export function Diff({ route }: { route: Route }) {
  const { query } = route;
  const tab = tabs.find((each) => each.name === query.table) ?? tabs[0]!;
  const { state } = useServerState();
  const is_alone = !isKept() && !!state && state.verbs.length > 0 && !state.verbs.some((verb) => verb.name === 'diff');
  const asked = useVerb(is_alone ? null : 'diff', { top: 0 });
  const dumps: Row[] = asked.data?.tables.dumps ?? [];
  if (is_alone)
    return (
      <>
        <h1 tabIndex={-1}>What grew</h1>
        <p>This page has one dump. To compare it with an earlier one of the same program, begin again with both:</p>
        <p><code>dnheap explore <bdi>{baseName(state.file)}</bdi> --against EARLIER</code></p>
      </>
    );
  return (
    <>
      <h1 tabIndex={-1}>What grew</h1>
      <Tabs label="What is compared" selected={tab.name} tabs={tabs.map((each) => ({ ...each, href: href('diff', '', { table: each.name === 'owners' ? '' : each.name }) }))} />
      {!asked.data ? <Waiting asked={asked} what="Reading the earlier dump…" /> : (
        <>
          <p class="note">From <bdi>{dumps[0]?.name}</bdi> ({bytes(dumps[0]?.live_bytes)} alive) to <bdi>{dumps[dumps.length - 1]?.name}</bdi> ({bytes(dumps[dumps.length - 1]?.live_bytes)} alive).</p>
          <DataTable key={tab.name} label={tab.title} rows={asked.data.tables[tab.name] ?? []} columns={columns[tab.name]!} high href={opened}
            sort={query.sort || 'change'} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })} />
          <Notes notes={asked.data.completeness?.notes} />
        </>
      )}
    </>
  );
}
