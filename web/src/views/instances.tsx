// Instances: the objects of one type, those first that hold most.
import type { Row } from '../answers';
import { bytes, count, generationName } from '../format';
import { Name } from '../name';
import { Facts, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { reached, useServerState } from '../server_state';
import { isKept } from '../source';
import { Gaps, ShownRows } from '../shown_table';
import { useTables } from '../tables';
import { useVerb } from '../use_answer';
import { generations } from './types';

export function Instances({ route }: { route: Route }) {
  const type = route.query.type ?? '';
  const generation = route.query.gen ?? '';
  const { state } = useServerState();
  const stat = useVerb(isKept() || !type ? null : 'stat', { 'type-exact': type, top: 0 });
  const one: Row | undefined = stat.data?.tables.types?.[0];
  // Sorted by what they hold, all of them are kept by the server: not millions.
  const by_retained = !!one && one.count <= 1_000_000 && !!state && reached(state.stage, 'ways');
  const parameters = { 'type-exact': type, ...(by_retained ? { by: 'retained' } : { sort: 'bytes' }), gen: generation };
  const asked = useTables(type && (isKept() || stat.data || stat.error) ? 'objects' : null, parameters);
  const table = asked.data?.tables[0];
  return (
    <>
      <h1 tabIndex={-1} class="with-name"><span class="kind">Type</span> <Name text={type} type most={100} /></h1>
      {one && <Facts rows={[['Instances', count(one.count)], ['Bytes', bytes(one.bytes)], ['MethodTable', one.method_table]]} />}
      <p class="links">
        <a class="button" href={to.paths(type)}>What holds them</a>
        <a class="button" href={href('types', '', { filter: type })}>Among all types</a>
      </p>
      {!asked.data ? <Waiting asked={asked} what="Looking for its instances…" /> : !table ? <p class="empty">There is none.</p> : (
        <ShownRows verb="objects" parameters={parameters} table={table} label="Instances" high columns={(column) => (column.key === 'type' ? null : column.key === 'generation' ? { ...column, show: (row) => generationName(row.generation) } : column)}
          href={(row) => to.object(row.address)} sort={route.query.sort} onSort={(sort) => change({ sort })} filter={route.query.filter} onFilter={(filter) => change({ filter })} filterHint="Filter: 7f3a…"
          tools={<label class="choice"><span class="choice-label">Generation</span>
            <select value={generation} onChange={(event) => change({ gen: (event.target as HTMLSelectElement).value })}>
              <option value="">all</option>{generations.map((name) => <option key={name} value={name}>{generationName(name)}</option>)}
            </select></label>} />
      )}
      {asked.data && <Gaps shown={asked.data} />}
    </>
  );
}
