// Object: its fields, what it refers to, who refers to it, the way to it from what keeps it alive, and its dominators.
import type { Above, Answer, Edge, HeapNode, HeapObject, Row, Way } from '../answers';
import { bytes, count, counted, generationName } from '../format';
import { Branches, dominated, referring } from '../branches';
import { Name } from '../name';
import { Paged } from '../paged';
import { ends, Facts, LeftOut, Panel, Waiting } from '../parts';
import { type Route, to } from '../router';
import { reached, useServerState } from '../server_state';
import { isKept } from '../source';
import { choicesOf } from '../shown_table';
import { type Column, DataTable } from '../table';
import { type Asked, useAnswer, useVerb } from '../use_answer';

const edges: Column<Edge>[] = [
  { key: 'field', title: 'Field', kind: 'text', grow: 2 },
  { key: 'type', title: 'Type', kind: 'type', grow: 4, value: (edge) => edge.node.type ?? edge.node.name, show: (edge, letters) => <Name text={edge.node.type ?? edge.node.name} type={edge.node.kind === 'object'} most={letters} href={link(edge.node)} /> },
  { key: 'at', title: 'Object', kind: 'address', minor: true, value: (edge) => (edge.node.kind === 'object' ? edge.node.at : null), href: (edge) => link(edge.node) },
  { key: 'retained', title: 'Retained', kind: 'bytes', value: (edge) => edge.node.retained, minor: true },
];

function link(node: HeapNode): string | null {
  return node.kind === 'object' ? to.object(node.at) : node.kind === 'owner' ? to.owner(node.name) : null;
}

export function nodeChoices(node: HeapNode) {
  return choicesOf({ type: node.type, owner: node.kind === 'owner' ? node.name : null }, node.kind === 'object' ? node.at : null);
}

function number(title: string, n: number | null | undefined, of?: number | null): [string, string][] {
  return typeof n === 'number' ? [[title, count(n) + (typeof of === 'number' ? ` of ${count(of)}` : '')]] : [];
}

export function ObjectView({ route }: { route: Route }) {
  const at = route.subject.toLowerCase();
  const { state } = useServerState();
  const asked = useAnswer<HeapObject>('api/object', { at });
  const object = asked.data;
  // With the tree, everything but the fields is shown without a look at the whole heap.
  const has_tree = !!state && (isKept() || reached(state.stage, 'ways'));
  const shown = useVerb('show', { subject: at, values: state?.values, top: 500, table: has_tree ? 'fields' : undefined });
  const has_elements = has_tree && !!state?.values && (object?.elements ?? 0) > 0;
  const elements = useVerb(has_elements ? 'show' : null, { subject: at, values: true, top: 500, table: 'elements' });
  const row: Row | undefined = shown.data?.tables.object?.[0];
  const type = object?.type ?? row?.type ?? object?.name;
  const value = object?.value ?? row?.value;
  return (
    <>
      <h1 tabIndex={-1} class="with-name"><span class="kind">Object</span> {type ? <Name text={type} type most={100} href={to.type(type)} /> : at}</h1>
      {!object && !row ? <Waiting asked={asked} /> : (
        <Facts rows={[
          ['Address', <span class="address">{at}</span>],
          ['Size', bytes(object?.size ?? row?.aligned_bytes)],
          ['Retained', bytes(object?.retained ?? row?.retained)],
          ['Objects retained', count(object?.objects ?? row?.retained_objects)],
          ['Generation', generationName(object?.generation ?? row?.generation)],
          ...number('Elements', object?.elements ?? row?.elements),
          ...number('Entries', object?.entries ?? row?.entries, object?.capacity ?? row?.capacity),
          ...number('References', object?.references),
          ...number('Referrers', object?.referrers),
        ]} />
      )}
      {row && row.reachable === false && <p class="verdict wrong">Nothing holds it any more: the next collection of its generation frees it.</p>}
      {(object?.delegate || row?.calls) && <p class="note">Calls <Name text={object?.delegate ?? row?.calls} most={120} /></p>}
      {value !== null && value !== undefined && <Panel title="Value"><p class="value"><bdi>{String(value)}</bdi></p></Panel>}
      <p class="links"><a class="button" href={to.map(at)}>Show on the map</a> {type && <a class="button" href={to.paths(type)}>What holds its type</a>}</p>
      <div class="columns">
        <div>
          <Fields asked={shown} of_elements={has_elements ? elements : shown} values={!!state?.values} />
          {object && object.references !== 0 && (
            <Panel title={(object.elements ?? 0) > 0 && !shown.data?.tables.fields?.length ? 'Elements it refers to' : 'What it refers to'}>
              <Paged path="api/references" parameters={{ at }} key={at} label="What it refers to" columns={edges} href={(edge) => link(edge.node)} one="reference" empty="It refers to nothing." />
            </Panel>
          )}
          {object && (object.children ?? 0) > 0 && (
            <Panel title="What it alone holds" note="What would be freed with it; each opens in place.">
              <Branches key={at} label="What it alone holds" at={at} below={dominated} whole={object.retained} href={link} menu={nodeChoices} />
            </Panel>
          )}
          {object && <Panel title="Who refers to it" note="Each opens in place: who refers to that one.">
            {!!object.roots?.length && (
              <ul class="roots">
                {object.roots.map((root, index) => <li key={index}><span class="kind">{root.kind.replaceAll('_', ' ')}</span> <Name text={root.name ?? '(without a name)'} most={90} href={root.kind === 'static' && root.name ? to.owner(`static ${root.name}`) : null} /></li>)}
                {(object.root_count ?? 0) > object.roots.length && <li class="muted">{counted(object.root_count! - object.roots.length, 'more root')}</li>}
              </ul>
            )}
            {object.referrers === 0 ? <p class="empty">{object.root_count ? 'No other object refers to it.' : 'No object refers to it. What keeps it alive, if anything does, stands beside.'}</p>
              : <Branches key={at} label="Who refers to it" at={at} above={[at]} below={referring} whole={object.retained} href={link} menu={nodeChoices} />}
          </Panel>}
        </div>
        <div>
          <WayTo at={at} />
          <Dominators at={at} />
        </div>
      </div>
    </>
  );
}

function Fields({ asked, of_elements, values }: { asked: Asked<Answer>; of_elements: Asked<Answer>; values: boolean }) {
  const elements = of_elements.data?.tables.elements ?? [];
  if (!asked.data) return <Panel title="Fields"><Waiting asked={asked} /></Panel>;
  const { fields = [] } = asked.data.tables;
  const inherits = new Set(fields.map((row) => row.declared_by)).size > 1;
  const columns: Column[] = [
    { key: 'field', title: 'Field', kind: 'text', grow: 2, href: (row) => (row.reference ? to.object(row.reference) : null) },
    { key: 'type', title: 'Declared type', kind: 'type', grow: values ? 3 : 4 },
    ...(values ? [] : [{ key: 'reference', title: 'Object', kind: 'address', minor: true, optional: true, href: (row) => (row.reference ? to.object(row.reference) : null) } as Column]),
    ...(values ? [{ key: 'value', title: 'Value', kind: 'text', grow: 4, optional: true, show: (row, letters) => <Name text={row.value === null || row.value === undefined ? null : String(row.value)} most={letters} verbatim /> } as Column] : []),
    ...(inherits ? [{ key: 'declared_by', title: 'Declared by', kind: 'type', grow: 2, minor: true } as Column] : []),
    ...(values || inherits ? [] : [{ key: 'offset', title: 'Offset', kind: 'count', minor: true } as Column]),
  ];
  return (
    <>
      {fields.length > 0 && <Panel title="Fields" note={values ? undefined : 'Values of strings and fields are shown by: dnheap explore --values'}><LeftOut asked={asked} table="fields" /><DataTable label="Fields" rows={fields} columns={columns} href={(row) => (row.reference ? to.object(row.reference) : null)} /></Panel>}
      {elements.length > 0 && <Panel title="Elements"><LeftOut asked={of_elements} table="elements" /><DataTable label="Elements" rows={elements} columns={Object.keys(elements[0]!).map((key) => ({ key, title: key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' '), kind: key === 'index' ? 'count' : /address|reference/.test(key) ? 'address' : 'text', href: (row: Row) => (/address|reference/.test(key) && row[key] ? to.object(row[key]) : null) }) as Column)} href={(row) => (row.reference ? to.object(row.reference) : null)} /></Panel>}
    </>
  );
}

function WayTo({ at }: { at: string }) {
  const asked = useAnswer<Way>('api/way', { at });
  const way = asked.data;
  const steps = ends(way?.steps ?? [], 12, 20);
  const last = way?.steps[way.steps.length - 1];
  return (
    <Panel title="Why it is alive" note="The shortest way from what keeps it alive.">
      {!way ? (asked.error?.status === 404 ? <p class="empty">Nothing holds it.</p> : <Waiting asked={asked} />) : (
        <ol class="way">
          <li class="way-root"><Name text={way.owner.name} href={to.owner(way.owner.name)} most={60} /></li>
          {steps.rows.map((step, index) => (step === null ? <li key="hidden" class="muted">{counted(steps.hidden, 'more step')}</li> : (
            <li key={index} aria-current={step === last ? 'location' : undefined}>
              {step.field && <div class="field"><Name text={step.field} most={60} href={to.object(step.node.at)} label="Field" /></div>}
              <div class="muted"><Name text={step.node.type ?? step.node.name} type most={60} href={step.field ? undefined : to.object(step.node.at)} /></div>
            </li>
          )))}
        </ol>
      )}
    </Panel>
  );
}

function Dominators({ at }: { at: string }) {
  const asked = useAnswer<Above>('api/above', { at });
  const rows = asked.data?.rows.filter((node) => node.kind !== 'root') ?? [];
  const shown = ends(rows, 6, 20, asked.data?.left_out);
  return (
    <Panel title="Held alone by" note="Its dominators: if one of these went, it would be freed.">
      {!asked.data ? <Waiting asked={asked} /> : rows.length <= 1 ? <p class="empty">No single one: it is shared.</p> : (
        <ol class="dominators">
          {shown.rows.map((node) => (node === null ? <li key="hidden" class="muted">{counted(shown.hidden, 'more', 'more')}</li> : (
            <li key={node.at}>
              <Name text={node.name} type={node.kind === 'object'} most={56} href={node.at === at ? null : link(node)} />
              <span class="muted"> {bytes(node.retained)}, {counted(node.objects, 'object')}</span>
            </li>
          )))}
        </ol>
      )}
    </Panel>
  );
}
