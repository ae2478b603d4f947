// Over time: owners and types of several dumps, stacked, and the figures of each. A click leads to what grew between two.
import { useMemo } from 'preact/hooks';
import type { Row } from '../answers';
import { copied } from '../context_menu';
import { baseName, bytes, change as changed, counted, exactBytes } from '../format';
import { changeOf, later, layersOf } from '../growth/layers';
import { StackedChart } from '../growth/stacked';
import { Notes, Panel, Tabs, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { useServerState } from '../server_state';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';
import { Choice } from './map';

interface Kind {
  name: 'owners' | 'types';
  title: string;
  says: string;
  key: 'owner' | 'type';
  counts: string; // key of the numbers of objects
}

const kinds: Kind[] = [
  { name: 'owners', title: 'Owners', says: 'What would be freed if this owner let go.', key: 'owner', counts: 'objects_series' },
  { name: 'types', title: 'Types', says: 'All instances, dead ones too.', key: 'type', counts: 'count_series' },
];

// So many dumps have a column each; of more the first and the last, as in the program's text.
const most_columns = 6;

// What grew from one dump to another, in the order of `diff`.
export function between(from: number, until: number, table: string, filter = ''): string {
  return href('diff', '', { from, to: until, table: table === 'owners' ? '' : table, filter });
}

export function Timeline({ route }: { route: Route }) {
  const { state } = useServerState();
  const is_ready = state?.stage === 'ready' || state?.stage === 'failed'; // else this would have to wait for all dumps, and others for this
  const { query } = route;
  const kind = kinds.find((each) => each.name === query.table) ?? kinds[0]!;
  const dumps = useVerb(is_ready ? 'diff' : null, { table: 'dumps', top: 0 });
  const asked = useVerb(dumps.data ? 'diff' : null, { table: kind.name, top: 0 });
  return (
    <>
      <h1 tabIndex={-1}>Over time</h1>
      <Tabs label="What is shown over time" selected={kind.name} tabs={kinds.map((each) => ({ name: each.name, title: each.title, href: href('timeline', '', { table: each.name === 'owners' ? '' : each.name, as: query.as }) }))} />
      {!is_ready ? <p class="waiting">This comes as soon as all dumps are summed up.</p> : !asked.data || !dumps.data ? <Waiting asked={dumps.data ? asked : dumps} what="Summing up the other dumps…" /> : (
        <Growth key={kind.name} route={route} kind={kind} rows={asked.data.tables[kind.name] ?? []} dumps={dumps.data.tables.dumps ?? []} notes={asked.data.completeness?.notes} />
      )}
    </>
  );
}

function Growth({ route, kind, rows, dumps, notes }: { route: Route; kind: Kind; rows: Row[]; dumps: Row[]; notes: string[] | undefined }) {
  const { query } = route;
  const { state } = useServerState();
  const of_bytes = query.as !== 'count';
  const last = dumps.length - 1;
  const valuesOf = useMemo(() => (row: Row): number[] => row[of_bytes ? 'series' : kind.counts] ?? [], [of_bytes, kind]);
  const layers = useMemo(() => layersOf(rows, (row) => row[kind.key], valuesOf, dumps.length), [rows, valuesOf, dumps]);
  const drawn = useMemo(() => dumps.map((dump) => ({ name: baseName(dump.name), hours: dump.hours as number | null })), [dumps]);
  const columns = useMemo<Column[]>(() => {
    const figure = (dump: number, title: string): Column => ({ key: `in_${dump}`, title, kind: of_bytes ? 'bytes' : 'count', value: (row) => valuesOf(row)[dump] ?? 0, help: dumps[dump]!.name, minor: dump > 0 && dump < last });
    const each = dumps.length <= most_columns ? dumps.map((_, dump) => figure(dump, `In ${dump + 1}`)) : [figure(0, 'In 1'), figure(last, `In ${dumps.length}`)];
    return [
      { key: 'change', title: 'Change', kind: 'change', bytes: of_bytes, value: (row) => changeOf(valuesOf(row)) },
      ...(of_bytes ? [{ key: 'per_hour', title: 'Per hour', kind: 'change', bytes: true, optional: true, minor: true } as Column] : []),
      { key: 'course', title: 'Course', kind: 'bar', value: (row) => Math.max(...valuesOf(row)), help: 'The figures of the row beside its largest', show: (row) => <Course values={valuesOf(row)} trend={of_bytes ? row.trend : ''} /> },
      ...each,
      { key: kind.key, title: kind.name === 'types' ? 'Type' : 'Owner', kind: kind.name === 'types' ? 'type' : 'text', grow: 4, href: (row) => (kind.name === 'types' ? to.type(row.type) : row.owner.startsWith('(') ? null : to.owner(row.owner)) },
    ];
  }, [kind, of_bytes, dumps]);
  if (!dumps.length) return <p class="empty">There is nothing to compare.</p>;
  const elapsed = dumps[last]!.hours as number | null;
  return (
    <>
      <p class="note">{counted(dumps.length, 'dump')}{elapsed ? ` over ${later(elapsed).slice(1)}` : ''}: live objects {bytes(dumps[0]!.live_bytes)} → {bytes(dumps[last]!.live_bytes)}. {kind.says} {state && <>The other pages show <bdi>{baseName(state.file)}</bdi>.</>}</p>
      <Panel title={`${kind.title} over time`} id="growth" aside={<Choice label="Show" options={[['bytes', 'Bytes'], ['count', 'Objects']]} value={of_bytes ? 'bytes' : 'count'} onChoose={(as) => change({ as: as === 'count' ? 'count' : '' })} />}>
        <StackedChart layers={layers} dumps={drawn} of_bytes={of_bytes} types={kind.name === 'types'} label={`${kind.title} over time`}
          href={({ layer, step }) => between(step, step + 1, kind.name, layers[layer]!.name ?? '')} />
      </Panel>
      <Panel title="Figures" id="figures">
        <DataTable label={kind.title} rows={rows} columns={columns} href={(row) => between(0, last, kind.name, row[kind.key])}
          sort={query.sort || 'change'} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })}
          menu={(row) => [
            ...dumps.slice(1, 11).map((_, step) => ({ text: `What grew from ${step + 1} to ${step + 2}`, href: between(step, step + 1, kind.name, row[kind.key]) })),
            ...(last > 1 ? [{ text: `What grew from 1 to ${last + 1}`, href: between(0, last, kind.name, row[kind.key]) }] : []),
            copied(row[kind.key]),
          ]} />
      </Panel>
      <Panel title="Dumps" id="dumps"><Dumps dumps={dumps} table={kind.name} /></Panel>
      <Notes notes={notes} />
    </>
  );
}

// The figures of a row as bars beside each other.
function Course({ values, trend }: { values: number[]; trend: string }) {
  const most = Math.max(1, ...values);
  const each = 100 / values.length;
  return (
    <span class="course" title={trend}>
      <svg viewBox="0 0 100 18" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-back" x="0" y="0" width="100" height="18" />
        {values.map((value, index) => <rect key={index} class="bar-front" x={index * each + each * 0.1} width={each * 0.8} y={18 - (value / most) * 18} height={(value / most) * 18} />)}
      </svg>
      <span class="spoken">{trend}</span>
    </span>
  );
}

function Dumps({ dumps, table }: { dumps: Row[]; table: string }) {
  const rows = useMemo(() => dumps.map((dump, index): Row => ({ ...dump, number: index + 1, since: index ? dump.live_bytes - dumps[index - 1]!.live_bytes : null })), [dumps]);
  const columns: Column[] = [
    { key: 'number', title: 'Dump', kind: 'number' },
    { key: 'taken', title: 'Taken', kind: 'text', minor: true, help: 'Its time by the dump itself, or the time of its file', value: (row) => (row.taken ? `${row.taken.replace('T', ' ').replace('Z', '')}${row.clock === 'file' ? ' (file)' : ''}` : null) },
    { key: 'objects', title: 'Objects', kind: 'count', minor: true },
    { key: 'bytes', title: 'Heap', kind: 'bytes' },
    { key: 'live_bytes', title: 'Live', kind: 'bytes' },
    { key: 'since', title: 'Since the one before', kind: 'change', bytes: true, help: 'Bytes of live objects',
      show: (row) => (row.since === null ? <span class="muted">–</span> : <a class="number" title={exactBytes(row.since)} href={between(row.number - 2, row.number - 1, table)} aria-label={`What grew from ${row.number - 1} to ${row.number}: ${changed(row.since, true)}`}>{row.since ? changed(row.since, true) : 'no change'}</a>) },
    { key: 'complete', title: 'Complete', kind: 'text', minor: true, value: (row) => (row.complete ? 'yes' : 'no') },
    { key: 'name', title: 'File', kind: 'text', grow: 3 },
  ];
  return <DataTable label="Dumps" rows={rows} columns={columns} sort="-number" href={(row) => (row.number > 1 ? between(row.number - 2, row.number - 1, table) : null)} />;
}
