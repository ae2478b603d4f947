// Types: all of them, how much each takes, in which generation, and what would be freed with its instances.
import { useMemo } from 'preact/hooks';
import type { Row } from '../answers';
import { bytes, counted, generationName } from '../format';
import { Stack, Waiting } from '../parts';
import { change, type Route, to } from '../router';
import { reached, useServerState } from '../server_state';
import { isKept } from '../source';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';
import { Choice } from './map';

export const generations = ['gen0', 'gen1', 'gen2', 'loh', 'poh', 'frozen'];
type Life = 'any' | 'live' | 'dead';
export const lives: [Life, string][] = [['any', 'All'], ['live', 'Live'], ['dead', 'Dead']];

export function Types({ route }: { route: Route }) {
  const { query } = route;
  const life = (query.life === 'live' || query.life === 'dead' ? query.life : 'any') as Life;
  const parameters = { top: 0, live: life === 'live', dead: life === 'dead' };
  const { state } = useServerState();
  const has_tree = !!state && (isKept() || reached(state.stage, 'ways'));
  const with_retained = useVerb(has_tree && life !== 'dead' ? 'stat' : null, { ...parameters, by: 'retained' });
  const without = useVerb(with_retained.data ? null : 'stat', parameters);
  const asked = with_retained.data ? with_retained : without;
  const rows = asked.data?.tables.types ?? [];
  const retained = rows.some((row) => typeof row.retained === 'number');
  const total = useMemo(() => rows.reduce((sum, row) => sum + row.aligned_bytes, 0), [rows]);
  const columns = useMemo<Column[]>(() => [
    { key: 'type', title: 'Type', kind: 'type', grow: 3, href: (row) => to.type(row.type) },
    { key: 'count', title: 'Count', kind: 'count' },
    { key: 'bytes', title: 'Bytes', kind: 'bytes', minor: retained, help: 'As other tools count: not rounded up to what it takes in the heap' },
    { key: 'share', title: 'Share', kind: 'share', value: (row) => row.aligned_bytes / (total || 1), minor: true },
    ...(retained ? [{ key: 'retained', title: 'Retained', kind: 'bytes', help: 'What would be freed with the instances that hold it' } as Column] : []),
    { key: 'generations', title: 'Generations', kind: 'share', minor: true, value: (row) => row.gen2 / (row.aligned_bytes || 1), help: 'Gen 0, 1, 2, large, pinned, frozen; sorted by the share of gen 2',
      show: (row) => <span class="generations" title={words(row)}><Stack parts={generations.map((name) => ({ kind: name, n: row[name] ?? 0 }))} /><span class="spoken">{words(row)}</span></span> },
  ], [retained, total]);
  return (
    <>
      <h1 tabIndex={-1}>Types</h1>
      {!asked.data ? <Waiting asked={asked} what="Counting types…" /> : (
        <DataTable label="Types" rows={rows} columns={columns} high href={(row) => to.type(row.type)}
          sort={query.sort || (retained ? 'retained' : 'bytes')} onSort={(sort) => change({ sort })}
          filter={query.filter ?? query.type} onFilter={(filter) => change({ filter, type: '' })} filterHint="Filter: Order, Dictionary<…"
          tools={isKept() ? undefined : <Choice label="Objects" options={lives} value={life} onChoose={(value) => change({ life: value === 'any' ? '' : value })} />}
          total={`${counted(rows.reduce((sum, row) => sum + row.count, 0), 'object')} of ${counted(rows.length, 'type')}, ${bytes(total)}`} />
      )}
      <ul class="legend" aria-label="Colours of generations">
        {generations.map((name) => <li key={name}><span class={`swatch ${name}`} aria-hidden="true" /> {generationName(name)}</li>)}
      </ul>
    </>
  );
}

function words(row: Row): string {
  return generations.filter((name) => row[name] > 0).map((name) => `${generationName(name)} ${bytes(row[name])}`).join(', ');
}
