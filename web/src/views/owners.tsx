// Owners: who keeps how much alive; and the same by type, namespace, assembly and object.
import { useMemo } from 'preact/hooks';
import type { Row } from '../answers';
import { columnFor } from '../columns';
import { Name } from '../name';
import { LeftOut, Tabs, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';

const tabs = [
  { name: 'owners', title: 'Owners', says: 'What would be freed if this owner let go: a static field, a thread, a handle.' },
  { name: 'shared', title: 'Shared', says: 'What several owners hold together: no single one would free it.' },
  { name: 'types', title: 'Types', says: 'What would be freed with all instances of a type.' },
  { name: 'namespaces', title: 'Namespaces', says: 'What would be freed with all objects of a namespace.' },
  { name: 'assemblies', title: 'Assemblies', says: 'What would be freed with all objects of an assembly\u2019s types.' },
  { name: 'objects', title: 'Objects', says: 'The single objects that hold most.' },
];

const size: Column[] = [
  { key: 'retained', title: 'Retained', kind: 'bytes' },
  { key: 'share', title: 'Share', kind: 'share' },
  { key: 'objects', title: 'Objects', kind: 'count', minor: true },
];

const special = /^\((\w+)\)$/;

function ownerLink(name: string): string | null {
  const kind = special.exec(name)?.[1];
  if (kind === 'unreachable') return href('types', '', { life: 'dead' });
  return kind === 'shared' ? href('owners', '', { table: 'shared' }) : to.owner(name);
}

const columns: Record<string, Column[]> = {
  owners: [...size, { key: 'owner', title: 'Owner', kind: 'text', grow: 4, href: (row) => ownerLink(row.owner) }, { key: 'kind', title: 'Kind', kind: 'text', minor: true }, { key: 'rank', title: 'Rank', kind: 'text', minor: true }],
  shared: [...size, { key: 'address', title: 'Largest piece', kind: 'address', href: (row) => (row.address ? to.object(row.address) : null) }, { key: 'type', title: 'Its type', kind: 'type', grow: 2, href: (row) => (row.type ? to.type(row.type) : null) },
    { key: 'owners', title: 'Owners', kind: 'text', grow: 3, value: (row) => (row.owners ?? []).join(', '), show: (row, letters) => <Name text={(row.owners ?? []).join(', ')} most={letters} /> }],
  types: [...size, { key: 'instances', title: 'Instances', kind: 'count', minor: true }, { key: 'type', title: 'Type', kind: 'type', grow: 4, href: (row) => to.type(row.type) }],
  namespaces: [...size, { key: 'instances', title: 'Instances', kind: 'count', minor: true }, { key: 'namespace', title: 'Namespace', kind: 'text', grow: 4, href: (row) => href('types', '', { filter: row.namespace }) }],
  assemblies: [...size, { key: 'instances', title: 'Instances', kind: 'count', minor: true }, { key: 'assembly', title: 'Assembly', kind: 'text', grow: 4 }],
  objects: [...size, { key: 'address', title: 'Object', kind: 'address', href: (row) => to.object(row.address) }, { key: 'type', title: 'Type', kind: 'type', grow: 3, href: (row) => to.object(row.address) }, { key: 'owner', title: 'Owner', kind: 'text', grow: 2, minor: true, href: (row) => (row.owner ? ownerLink(row.owner) : null) }],
};

function opened(table: string, row: Row): string | null {
  if (table === 'owners') return ownerLink(row.owner);
  if (table === 'types') return to.type(row.type);
  if (table === 'namespaces') return href('types', '', { filter: row.namespace });
  return row.address ? to.object(row.address) : null;
}

export function Owners({ route }: { route: Route }) {
  const { query } = route;
  const tab = tabs.find((each) => each.name === query.table) ?? tabs[0]!;
  const asked = useVerb('retained', { table: tab.name, top: tab.name === 'objects' ? 1000 : 0 });
  const rows = asked.data?.tables[tab.name] ?? [];
  const shown = useMemo(() => columns[tab.name] ?? Object.keys(rows[0] ?? {}).map((key) => columnFor(key, rows)), [tab.name, rows]);
  return (
    <>
      <h1 tabIndex={-1}>Owners</h1>
      <Tabs label="What is summed up" selected={tab.name} tabs={tabs.map((each) => ({ name: each.name, title: each.title, href: href('owners', '', { table: each.name === 'owners' ? '' : each.name }) }))} />
      <p class="note">{tab.says}</p>
      {!asked.data ? <Waiting asked={asked} what="Asking who holds what…" /> : (
        <><LeftOut asked={asked} table={tab.name} />
        <DataTable key={tab.name} label={tab.title} rows={rows} columns={shown} high href={(row) => opened(tab.name, row)}
          sort={query.sort || 'retained'} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })} /></>
      )}
    </>
  );
}
