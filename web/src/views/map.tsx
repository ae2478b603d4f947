// Map: the whole heap as boxes, each as large as what would be freed with it; go in until single objects are to be seen.
import { useMemo, useState } from 'preact/hooks';
import type { Above, HeapNode, MapNode } from '../answers';
import { bytes, count, counted, generationName, isAddress, share } from '../format';
import { MapCanvas } from '../map/canvas';
import { type ColorBy, keyOf, paint } from '../map/color';
import type { Box, Shape } from '../map/layout';
import { Name } from '../name';
import { Paged } from '../paged';
import { ends, Panel, Waiting } from '../parts';
import { change, go, href, type Query, type Route, to } from '../router';
import { choicesOf } from '../shown_table';
import type { Column } from '../table';
import { useTheme } from '../theme';
import { useAnswer } from '../use_answer';
import { MapByType } from './map_by_type';

const shapes: [Shape, string][] = [['icicle', 'Icicle'], ['flame', 'Flame graph'], ['treemap', 'Treemap']];
const colors: [ColorBy, string][] = [['type', 'Type'], ['namespace', 'Namespace'], ['generation', 'Generation']];

export const levels = 4;

export function nodeColumns(open: (node: HeapNode) => string, whole: number): Column<HeapNode>[] {
  return [
    { key: 'retained', title: 'Retained', kind: 'bytes', help: 'What would be freed if this one went' },
    { key: 'share', title: 'Share', kind: 'share', value: (node) => node.retained / whole, minor: true },
    { key: 'objects', title: 'Objects', kind: 'count', minor: true },
    { key: 'name', title: 'Name', kind: 'type', grow: 3, show: (node, letters) => <Name text={node.name} type={node.kind === 'object'} most={letters} href={open(node)} /> },
    { key: 'at', title: 'Object', kind: 'address', optional: true, value: (node) => (node.kind === 'object' ? node.at : null), href: (node) => to.object(node.at) },
    { key: 'children', title: 'Parts', kind: 'count', minor: true, optional: true },
    { key: 'generation', title: 'Generation', kind: 'text', minor: true, optional: true, value: (node) => (node.generation ? generationName(node.generation) : null) },
  ];
}

type Group = 'types' | 'objects';
const groups: [Group, string][] = [['types', 'Alike as one'], ['objects', 'Each object']];

export function MapView({ route }: { route: Route }) {
  const { query } = route;
  const shape: Shape = query.as === 'treemap' || query.as === 'flame' ? query.as : 'icicle';
  const group: Group = query.group === 'objects' || query.group === 'types' ? query.group : query.at && !query.focus ? 'objects' : 'types';
  const color: ColorBy = query.color === 'namespace' || (query.color === 'generation' && group === 'objects') ? query.color : 'type';
  return (
    <>
      <h1 tabIndex={-1}>Map of the heap</h1>
      <div class="tools">
        <Choice label="Boxes" options={groups} value={group} onChoose={(by) => go(href('map', '', { ...query, at: '', in: '', group: by === 'types' ? '' : by }))} />
        <Choice label="Shape" options={shapes} value={shape} onChoose={(as) => change({ as: as === 'icicle' ? '' : as })} />
        <input class="filter" type="search" value={query.find ?? ''} placeholder="Search in the map" aria-label="Search in the map" spellcheck={false} onInput={(event) => change({ find: (event.target as HTMLInputElement).value })} />
        <Choice label="Colour" options={group === 'types' ? colors.slice(0, 2) : colors} value={color} onChoose={(by) => change({ color: by === 'type' ? '' : by })} />
      </div>
      {group === 'types' ? <MapByType key="types" query={query} shape={shape} color={color} /> : <MapOfObjects key="objects" query={query} shape={shape} color={color} />}
    </>
  );
}

function MapOfObjects({ query, shape, color }: { query: Query; shape: Shape; color: ColorBy }) {
  const at = query.at || 'root';
  const map = useAnswer<MapNode>('api/map', { at, levels });
  const above = useAnswer<Above>('api/above', { at });
  const [pointed, point] = useState<Box | null>(null);
  const way = above.data?.rows ?? [];
  const crumbs = ends(way, 3, 5, above.data?.left_out);
  const inside = (node: { at: string }) => href('map', '', { ...query, at: node.at === 'root' ? '' : node.at, group: node.at === 'root' ? 'objects' : query.group });
  const out = () => { const parent = way[way.length - 2]; if (parent) go(inside(parent)); };
  const columns = useMemo(() => nodeColumns(inside, map.data?.retained || 1), [map.data, color, shape]);
  const root = map.data;
  const box: Box | null = pointed ?? (root ? ({ node: root, rest: null, kind: null } as Box) : null);
  return (
    <>
      <nav class="crumbs" aria-label="Where the map stands">
        <ol>
          {crumbs.rows.map((node) => (node === null ? <li key="hidden" class="muted">{counted(crumbs.hidden, 'more', 'more')}</li> : (
            <li key={node.at}>
              {node !== way[way.length - 1] ? <Name text={node.kind === 'root' ? 'All' : node.name} href={inside(node)} type={node.kind === 'object'} most={42} /> : <strong aria-current="location"><Name text={node.kind === 'root' ? 'All' : node.name} type={node.kind === 'object'} most={60} /></strong>}
            </li>
          )))}
        </ol>
      </nav>
      {(way.length > 1 || root?.kind === 'object') && <div class="tools">
        {way.length > 1 && <button type="button" class="button" onClick={out}>Go out</button>}
        {root?.kind === 'object' && <a class="button" href={to.object(root.at)}>Open this object</a>}
      </div>}
      {!root ? <Waiting asked={map} what="Drawing the map…" /> : (
        <>
          <MapCanvas root={root} shape={shape} color={color} search={query.find} menu={(node) => choicesOf({ type: node.type, owner: node.kind === 'owner' ? node.name : null }, node.kind === 'object' ? node.at : null)} onZoom={(node) => go(inside(node))} onOut={out} onObject={(node) => go(to.object(node.at))} onPoint={point}
            onType={(type) => go(to.type(type))} onRest={() => document.getElementById('h-parts')?.scrollIntoView()} />
          <div class="readout">{box && <Readout box={box} whole={root.retained} />}</div>
          <Legend root={root} color={color} />
          <Panel title="What it consists of" id="parts" note={<>
            {root.kind === 'root' ? 'Everything that is alive' : <Name text={root.name} type most={60} />}: {bytes(root.retained)} in {counted(root.objects, 'object')}, {bytes(root.self)} of it its own.
            {root.rest && root.rest.count > 0 ? ` On the map, ${counted(root.rest.count, 'smaller part')} of ${bytes(root.rest.bytes)} are drawn as one.` : ''}
          </>}>
            <Paged path="api/children" parameters={{ at }} key={at} label="Parts of what the map shows" columns={columns} href={inside} one="part" empty="It holds nothing but itself." />
          </Panel>
        </>
      )}
    </>
  );
}

export function Choice<T extends string>({ label, options, value, onChoose }: { label: string; options: [T, string][]; value: T; onChoose: (value: T) => void }) {
  return (
    <span class="choice" role="group" aria-label={label}>
      <span class="choice-label">{label}</span>
      {options.map(([name, title]) => <button key={name} type="button" aria-pressed={name === value} onClick={() => onChoose(name)}>{title}</button>)}
    </span>
  );
}

export function Readout({ box, whole }: { box: Box; whole: number }) {
  if (box.rest && box.kind) return <p><strong>{count(box.rest.count)} × <Name text={box.kind} type most={80} /></strong> {bytes(box.rest.bytes)} retained in {counted(box.rest.objects, 'object')}, each too small for the map</p>;
  if (box.rest) return <p>{counted(box.rest.count, 'part')}, each too small for the map: {bytes(box.rest.bytes)} in {counted(box.rest.objects, 'object')}</p>;
  const node = box.node!;
  return (
    <p>
      <strong><Name text={node.name} type={node.kind === 'object'} most={80} /></strong>
      <span> {bytes(node.retained)} retained ({share(node.retained / whole)}), {count(node.objects)} objects, {bytes(node.self)} itself{node.generation ? `, ${generationName(node.generation)}` : ''}{isAddress(node.at) ? `, ${node.at}` : ''}</span>
    </p>
  );
}

export function Legend({ root, color }: { root: MapNode; color: ColorBy }) {
  const { dark } = useTheme();
  const kinds = useMemo(() => {
    const sums = new Map<string, { node: HeapNode; bytes: number }>();
    const add = (node: MapNode) => {
      if (node.kind === 'object') {
        const key = keyOf(node, color);
        const inner = (node.parts ?? []).reduce((sum, part) => sum + part.retained, 0);
        const known = sums.get(key);
        if (known) known.bytes += node.retained - inner;
        else sums.set(key, { node, bytes: node.retained - inner });
      }
      node.parts?.forEach(add);
    };
    add(root);
    return [...sums].sort((a, b) => b[1].bytes - a[1].bytes).slice(0, 9);
  }, [root, color]);
  return (
    <ul class="legend" aria-label={`Colours: ${color}`}>
      {kinds.map(([key, { node }]) => (
        <li key={key}>
          <svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="2" fill={paint(node, color, dark).fill} /></svg>
          <Name text={key} type={color === 'type'} most={44} />
        </li>
      ))}
    </ul>
  );
}
