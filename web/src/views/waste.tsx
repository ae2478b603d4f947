// Waste: memory that could be saved: duplicates, zeros, collections without elements.
import type { Row } from '../answers';
import { bytes, count, sentence } from '../format';
import { Bar, Bytes, Notes, Panel, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { ShownRows } from '../shown_table';
import type { Column } from '../table';
import { useTables } from '../tables';
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

const column = (each: Column): Column => (each.key === 'field' ? { ...each, href: undefined } : each.key === 'what' ? { ...each, kind: 'type', href: (row) => to.type(row.what) } : each);

export function Waste({ route }: { route: Route }) {
  const asked = useVerb('waste', { live: true, top: 0 });
  const { query } = route;
  const kinds: Row[] = asked.data?.tables.kinds ?? [];
  const parameters = { live: true };
  const shown = useTables('waste', parameters);
  const table = shown.data?.tables.find((each) => each.name === 'waste');
  const largest = kinds[0]?.bytes ?? 1;
  return (
    <>
      <h1 tabIndex={-1}>Waste</h1>
      {!asked.data ? <Waiting asked={asked} what="Comparing contents…" /> : (
        <>
          <Panel title="By kind" note={`${bytes(kinds.reduce((sum, row) => sum + row.bytes, 0))} of what is alive.`} aside={query.kind && <a href={href('waste')}>All kinds</a>}>
            <ul class="odd">
              {kinds.map((row) => (
                <li key={row.kind}><Bytes n={row.bytes} /><Bar part={row.bytes / largest} kind="waste" /><span><a href={href('waste', '', { kind: row.kind })} aria-current={query.kind === row.kind ? 'true' : undefined}>{sentence(row.kind.replaceAll('_', ' '))}</a> <span class="muted">{count(row.count)}</span></span></li>
              ))}
            </ul>
          </Panel>
          <Panel title="Where">
            {table ? <ShownRows verb="waste" parameters={parameters} table={table} label="Waste" columns={column} sort={query.sort} onSort={(sort) => change({ sort })} filter={query.filter ?? query.kind} onFilter={(filter) => change({ filter, kind: '' })} href={(row) => to.type(row.what)} /> : <Waiting asked={shown} />}
          </Panel>
          <Notes notes={asked.data.completeness?.notes} />
        </>
      )}
    </>
  );
}
