// The map where objects that are alike are one box: what a heap of millions of small objects consists of, at one look.
import { useMemo, useState } from 'preact/hooks';
import type { MapNode } from '../answers';
import { type Choice, copied } from '../context_menu';
import { bytes, counted, share } from '../format';
import { added, focused, listOf, matching, placed, removed, without } from '../map/filter';
import { type TypeNode, treeByType, wayTo } from '../map/by_type';
import { MapCanvas } from '../map/canvas';
import type { ColorBy } from '../map/color';
import type { Box, Shape } from '../map/layout';
import { Name } from '../name';
import { Panel, Waiting } from '../parts';
import { change, go, href, type Query, to } from '../router';
import { isKept } from '../source';
import { type Column, DataTable } from '../table';
import { useVerb } from '../use_answer';
import { Legend, Readout } from './map';

export function MapByType({ query, shape, color }: { query: Query; shape: Shape; color: ColorBy }) {
  const asked = useVerb('retained', { tree: true, depth: shape === 'flame' && !isKept() ? 14 : 6, table: 'tree' });
  const owners = useVerb('retained', { table: 'owners', top: 0 });
  const [pointed, point] = useState<Box | null>(null);
  const whole = useMemo(() => {
    const rows = (owners.data?.tables.owners ?? []).filter((row) => row.owner !== '(unreachable)');
    const sum = (key: string) => rows.reduce((all, row) => all + row[key], 0);
    return asked.data && owners.data ? treeByType(asked.data.tables.tree ?? [], sum('retained'), sum('objects')) : null;
  }, [asked.data, owners.data]);
  const hidden = listOf(query.hide);
  const focus = query.focus ?? '';
  const filtered = useMemo(() => {
    if (!whole) return null;
    const all = placed(without(whole, hidden));
    return focus ? focused(all, focus) : all;
  }, [whole, query.hide, focus]);
  const way = filtered ? wayTo(filtered, query.in ?? '') : [];
  const root = way[way.length - 1];
  if (whole && !filtered) return <><Filters query={query} /><p class="empty">No box of the map is {focus}: it holds less than the map shows. <a href={to.type(focus)}>Its instances</a></p></>;
  if (!root) return <Waiting asked={asked} what="Drawing the map…" />;
  const inside = (node: { at: string }) => href('map', '', { ...query, in: node.at });
  const open = (node: TypeNode) => {
    if (node.parts.length) return inside(node);
    if (node.kind === 'owner') return node.name === '(shared)' ? href('owners', '', { table: 'shared' }) : to.owner(node.name);
    return node.times === 1 && node.example ? to.object(node.example) : to.type(node.type ?? '');
  };
  const out = () => { const parent = way[way.length - 2]; if (parent) go(inside(parent)); };
  const columns: Column<TypeNode>[] = [
    { key: 'retained', title: 'Retained', kind: 'bytes' },
    { key: 'share', title: 'Share', kind: 'share', value: (node) => node.retained / (root.retained || 1), minor: true },
    { key: 'times', title: 'Instances', kind: 'count', minor: true },
    { key: 'name', title: 'What', kind: 'type', grow: 4, value: (node) => node.type ?? node.name, show: (node, letters) => <Name text={node.type ?? node.name} type={node.kind === 'object'} most={letters} href={open(node)} /> },
    { key: 'example', title: 'One of them', kind: 'address', optional: true, href: (node) => (node.example ? to.object(node.example) : null) },
  ];
  const found = matching(root, query.find ?? '');
  const menu = (node: MapNode): Choice[] => {
    const name = node.type ?? node.name ?? '';
    if (node.at === '') return [];
    return [
      ...(node.type ? [{ text: 'Paths', href: to.paths(node.type) }, { text: 'Instances', href: to.type(node.type) }] : node.name && !node.name.startsWith('(') ? [{ text: 'Open the owner', href: to.owner(node.name) }] : []),
      { text: 'Hide', run: () => change({ hide: added(query.hide, name), in: '' }) },
      { text: 'Focus', run: () => change({ focus: name, in: '' }) },
      copied(name),
    ];
  };
  const box: Box = pointed ?? ({ node: root, rest: null, kind: null } as unknown as Box);
  return (
    <>
      <Filters query={query} />
      {query.find && <p class="note" role="status">{found.boxes ? `${counted(found.boxes, 'box', 'boxes')} with ${query.find}: ${bytes(found.bytes)}, ${share(found.bytes / (root.retained || 1))} of what is shown` : `No box has ${query.find} in its name.`}</p>}
      <nav class="crumbs" aria-label="Where the map stands">
        <ol>{way.map((node) => <li key={node.at}>{node === root ? <strong aria-current="location"><Name text={node.at ? node.name : 'All'} most={60} /></strong> : <Name text={node.at ? node.name : 'All'} href={inside(node)} most={42} />}</li>)}</ol>
      </nav>
      <MapCanvas root={root} shape={shape} color={color} search={query.find} menu={menu} onZoom={(node) => go(open(node as TypeNode))} onOut={out} onObject={(node) => go(open(node as TypeNode))} onPoint={point} onType={() => {}} onRest={() => {}} />
      <div class="readout"><Readout box={box} whole={root.retained} /></div>
      <Legend root={root} color={color} />
      <Panel title="What it consists of" id="parts" note={`${bytes(root.retained)} in ${counted(root.objects, 'object')}. Each line is all objects of one type at that place; what is less than a part in a hundred or so is left out.`}>
        <DataTable label="Parts of what the map shows" rows={root.parts} columns={columns} href={open} menu={menu} sort="retained" empty="It holds nothing that is large enough to show." />
      </Panel>
    </>
  );
}

// What is left out or looked at alone, each with a button that takes it back.
function Filters({ query }: { query: Query }) {
  const hidden = listOf(query.hide);
  if (!hidden.length && !query.focus) return null;
  return (
    <p class="links filters">
      {query.focus && <button type="button" class="button" onClick={() => change({ focus: '', in: '' })}>Only <Name text={query.focus} most={40} plain /> ✕</button>}
      {hidden.map((name) => <button key={name} type="button" class="button" onClick={() => change({ hide: removed(query.hide, name), in: '' })}>Without <Name text={name} most={40} plain /> ✕</button>)}
    </p>
  );
}
