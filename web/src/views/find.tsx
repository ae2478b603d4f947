// Find: types and fields whose names have a text, the object at an address, or the views that other tools call so.
import type { Found } from '../answers';
import { Panel, Waiting } from '../parts';
import { type Route, to } from '../router';
import { type Column, DataTable } from '../table';
import { useAnswer } from '../use_answer';
import { placesFor } from '../words';
import { nodeColumns } from './map';

const types: Column<Found['types'][number]>[] = [
  { key: 'name', title: 'Type', kind: 'type', grow: 3, href: (row) => to.type(row.name) },
  { key: 'objects', title: 'Objects', kind: 'count' },
  { key: 'bytes', title: 'Bytes', kind: 'bytes' },
];

const fields: Column<{ type: string; field: string }>[] = [
  { key: 'field', title: 'Field', kind: 'text', grow: 2, href: (row) => to.type(row.type) },
  { key: 'type', title: 'Of', kind: 'type', grow: 3, href: (row) => to.type(row.type) },
];

export function Find({ route }: { route: Route }) {
  const text = route.query.text ?? '';
  const asked = useAnswer<Found>(text ? 'api/find' : null, { text, count: 500 });
  const found = asked.data;
  const places = placesFor(text, 8);
  return (
    <>
      <h1 tabIndex={-1}>Found: <bdi>{text}</bdi></h1>
      {places.length > 0 && <Panel title="Views" note="Other tools call these so."><ul class="odd" aria-label="Views">{places.map((place) => <li key={place.says}><a href={place.address}>{place.title}</a> <span class="muted">{place.says}</span></li>)}</ul></Panel>}
      {!found ? <Waiting asked={asked} /> : (
        <>
          {found.objects.length > 0 && <Panel title="Objects"><DataTable label="Objects" rows={found.objects} columns={nodeColumns((node) => to.object(node.at), found.objects[0]!.retained || 1)} href={(node) => to.object(node.at)} /></Panel>}
          {!!found.fields?.length && <Panel title="Fields"><DataTable label="Fields" rows={found.fields} columns={fields} href={(row) => to.type(row.type)} /></Panel>}
          <Panel title="Types"><DataTable label="Types" rows={found.types} columns={types} href={(row) => to.type(row.name)} empty="No type has that in its name." /></Panel>
        </>
      )}
    </>
  );
}
