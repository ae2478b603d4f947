// Instances: the objects of one type.
import type { Row } from '../answers';
import { bytes, count, generationName } from '../format';
import { Name } from '../name';
import { Facts, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { isKept } from '../source';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';
import { generations } from './types';

const most = 2000;
const columns: Column[] = [
  { key: 'address', title: 'Object', kind: 'address', href: (row) => to.object(row.address) },
  { key: 'bytes', title: 'Bytes', kind: 'bytes' },
  { key: 'generation', title: 'Generation', kind: 'text', show: (row) => generationName(row.generation) },
  { key: 'map', title: 'Elsewhere', kind: 'text', minor: true, value: () => null, show: (row) => <span class="links"><a href={to.map(row.address)} aria-label={`Map of ${row.address}`}>Map</a></span> },
];

export function Instances({ route }: { route: Route }) {
  const type = route.query.type ?? '';
  const generation = route.query.gen ?? '';
  const asked = useVerb(type ? 'objects' : null, { 'type-exact': type, sort: 'bytes', top: most, gen: generation });
  const stat = useVerb(isKept() || !type ? null : 'stat', { 'type-exact': type, top: 0 });
  const one: Row | undefined = stat.data?.tables.types?.[0];
  const rows = asked.data?.tables.objects ?? [];
  return (
    <>
      <h1 tabIndex={-1} class="with-name"><span class="kind">Type</span> <Name text={type} type most={100} /></h1>
      {one && <Facts rows={[['Instances', count(one.count)], ['Bytes', bytes(one.bytes)], ['MethodTable', one.method_table]]} />}
      <p class="links">
        <a class="button" href={to.paths(type)}>What holds them</a>
        <a class="button" href={href('types', '', { filter: type })}>Among all types</a>
      </p>
      {!asked.data ? <Waiting asked={asked} what="Looking for its instances…" /> : (
        <DataTable label={`Instances`} rows={rows} columns={columns} high href={(row) => to.object(row.address)}
          sort={route.query.sort || 'bytes'} onSort={(sort) => change({ sort })} filter={route.query.filter} onFilter={(filter) => change({ filter })} filterHint="Filter: 7f3a…"
          tools={<label class="choice"><span class="choice-label">Generation</span>
            <select value={generation} onChange={(event) => change({ gen: (event.target as HTMLSelectElement).value })}>
              <option value="">all</option>{generations.map((name) => <option key={name} value={name}>{generationName(name)}</option>)}
            </select></label>}
          total={rows.length >= most ? `The ${count(most)} largest; there are more.` : undefined} />
      )}
    </>
  );
}
