// Waste: memory that could be saved: duplicates, zeros, collections without elements.
import type { Row } from '../answers';
import { bytes, count } from '../format';
import { Bar, Bytes, Notes, Panel, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';

export const wasteKinds: Record<string, string> = {
  duplicate_arrays: 'duplicates',
  duplicate_strings: 'duplicate texts',
  mostly_zero_arrays: 'mostly zero',
  zero_arrays: 'all zero',
  over_allocated_collections: 'larger than needed',
  empty_collections: 'empty',
  one_element_collections: 'with one element',
};

const named = (kind: string) => wasteKinds[kind] ?? kind.replaceAll('_', ' ');

const columns: Column[] = [
  { key: 'bytes', title: 'Bytes', kind: 'bytes', help: 'Bytes that could be saved' },
  { key: 'count', title: 'Count', kind: 'count' },
  { key: 'kind', title: 'Why', kind: 'text', grow: 1.4, value: (row) => named(row.kind) },
  { key: 'what', title: 'What', kind: 'type', grow: 2, href: (row) => to.type(row.what) },
  { key: 'field', title: 'In', kind: 'text', grow: 2 },
];

export function Waste({ route }: { route: Route }) {
  const asked = useVerb('waste', { live: true, top: 0 });
  const { query } = route;
  const kinds: Row[] = asked.data?.tables.kinds ?? [];
  const rows = (asked.data?.tables.waste ?? []).filter((row) => !query.kind || row.kind === query.kind);
  const largest = kinds[0]?.bytes ?? 1;
  return (
    <>
      <h1 tabIndex={-1}>Waste</h1>
      {!asked.data ? <Waiting asked={asked} what="Comparing contents…" /> : (
        <>
          <Panel title="Waste" note={`${bytes(kinds.reduce((sum, row) => sum + row.bytes, 0))} of what is alive.`} aside={query.kind && <a href={href('waste')}>All kinds</a>}>
            <ul class="odd">
              {kinds.map((row) => (
                <li key={row.kind}><Bytes n={row.bytes} /><Bar part={row.bytes / largest} kind="waste" /><span><a href={href('waste', '', { kind: row.kind })} aria-current={query.kind === row.kind ? 'true' : undefined}>{row.kind.replaceAll('_', ' ')}</a> <span class="muted">{count(row.count)}</span></span></li>
              ))}
            </ul>
          </Panel>
          <Panel title="Where">
            <DataTable label="Waste" rows={rows} columns={columns} sort={query.sort || 'bytes'} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })} href={(row) => to.type(row.what)} />
          </Panel>
          <Notes notes={asked.data.completeness?.notes} />
        </>
      )}
    </>
  );
}
