// Owners: who keeps how much alive; and the same by type, namespace, assembly and object.
import type { Row } from '../answers';
import { Tabs, Waiting } from '../parts';
import { change, href, type Route, to } from '../router';
import { ShownRows } from '../shown_table';
import type { Column } from '../table';
import { useTables } from '../tables';

const tabs = [
  { name: 'owners', title: 'Owners', says: 'What would be freed if this owner let go: a static field, a thread, a handle.' },
  { name: 'shared', title: 'Shared', says: 'What several owners hold together: no single one would free it.' },
  { name: 'types', title: 'Types', says: 'What would be freed with all instances of a type.' },
  { name: 'namespaces', title: 'Namespaces', says: 'What would be freed with all objects of a namespace.' },
  { name: 'assemblies', title: 'Assemblies', says: 'What would be freed with all objects of an assembly\u2019s types.' },
  { name: 'objects', title: 'Objects', says: 'The single objects that hold most.' },
];

const special = /^\((\w+)\)$/;

function ownerLink(name: string): string | null {
  const kind = special.exec(name)?.[1];
  if (kind === 'unreachable') return href('types', '', { life: 'dead' });
  return kind === 'shared' ? href('owners', '', { table: 'shared' }) : to.owner(name);
}

// Names lead to what they name.
const linked = (table: string) => (each: Column): Column => {
  if (each.key === 'owner' || (table === 'owners' && each.key === 'name')) return { ...each, href: (row) => ownerLink(row[each.key]) };
  if (table === 'types' && /^(type|name)$/.test(each.key)) return { ...each, kind: 'type', href: (row) => to.type(row[each.key]) };
  if (table === 'namespaces' && /^(namespace|name)$/.test(each.key)) return { ...each, href: (row) => href('types', '', { filter: row[each.key] }) };
  return each;
};

function opened(table: string, row: Row): string | null {
  if (table === 'owners') return ownerLink(row.owner ?? row.name);
  if (table === 'types') return to.type(row.type ?? row.name);
  if (table === 'namespaces') return href('types', '', { filter: row.namespace ?? row.name });
  return row.address ? to.object(row.address) : null;
}

export function Owners({ route }: { route: Route }) {
  const { query } = route;
  const tab = tabs.find((each) => each.name === query.table) ?? tabs[0]!;
  const parameters = { table: tab.name };
  const asked = useTables('retained', parameters);
  const table = asked.data?.tables[0];
  return (
    <>
      <h1 tabIndex={-1}>Owners</h1>
      <Tabs label="What is summed up" selected={tab.name} tabs={tabs.map((each) => ({ name: each.name, title: each.title, href: href('owners', '', { table: each.name === 'owners' ? '' : each.name }) }))} />
      <p class="note">{tab.says}</p>
      {!asked.data ? <Waiting asked={asked} what="Asking who holds what…" /> : !table ? <p class="empty">There is none.</p> : (
        <ShownRows key={tab.name} verb="retained" parameters={parameters} table={table} label={tab.title} columns={linked(tab.name)} high href={(row) => opened(tab.name, row)}
          sort={query.sort} onSort={(sort) => change({ sort })} filter={query.filter} onFilter={(filter) => change({ filter })} />
      )}
    </>
  );
}
