// Where each node of the dominator tree lies on the map: areas in proportion to what would be freed with it.
import { hierarchy, partition, treemap } from 'd3-hierarchy';
import type { MapNode, Rest } from '../answers';

export interface Box {
  node: MapNode | null; // null: what was too small, as one
  rest: Rest | null;
  kind: string | null; // the type of all that `rest` stands for, if it is one
  depth: number;
  x: number;
  y: number;
  width: number;
  height: number;
  parent: number; // index of its box; -1: none
}

interface Item {
  node: MapNode | null;
  rest: Rest | null;
  kind: string | null;
  own: number; // what no part of it has
  parts: Item[];
}

function item(node: MapNode): Item {
  const parts = (node.parts ?? []).map(item);
  const rest = node.rest && node.rest.bytes > 0 ? node.rest : null;
  if (rest) {
    let left: Rest = { count: rest.count, objects: rest.objects, bytes: rest.bytes };
    for (const { type, ...kind } of rest.kinds ?? []) {
      parts.push({ node: null, rest: kind, kind: type, own: kind.bytes, parts: [] });
      left = { count: left.count - kind.count, objects: left.objects - kind.objects, bytes: left.bytes - kind.bytes };
    }
    if (left.bytes > 0 && left.count > 0) parts.push({ node: null, rest: left, kind: null, own: left.bytes, parts: [] });
  }
  const inside = (node.parts ?? []).reduce((sum, part) => sum + part.retained, 0) + (rest?.bytes ?? 0);
  return { node, rest: null, kind: null, own: Math.max(0, node.retained - inside), parts };
}

const head = 24; // of an icicle

export type Shape = 'icicle' | 'flame' | 'treemap';

export function lay(root: MapNode, shape: Shape, width: number, height: number): Box[] {
  const tree = hierarchy(item(root), (each) => each.parts).sum((each) => each.own);
  const laid = shape !== 'treemap'
    ? partition<Item>().size([width, height]).round(false)(tree)
    : treemap<Item>().size([width, height]).paddingTop((each) => (each.height && each.x1 - each.x0 > 50 && each.y1 - each.y0 > 34 ? 20 : 3)).paddingInner(1).paddingLeft(2).paddingRight(2).paddingBottom(2).round(false)(tree);
  const index = new Map<object, number>();
  const boxes: Box[] = [];
  const levels = laid.height + 1;
  const rest_height = (height - head) / Math.max(1, levels - 1);
  laid.eachBefore((each) => {
    if (shape !== 'treemap') { // a narrow line for the whole, all room for its parts
      each.y0 = each.depth === 0 ? 0 : head + (each.depth - 1) * rest_height;
      each.y1 = each.depth === 0 ? (levels > 1 ? head : height) : each.y0 + rest_height;
    }
    const y = shape === 'flame' ? height - each.y1 : each.y0; // of a flame graph the whole stands at the bottom
    const box = { node: each.data.node, rest: each.data.rest, kind: each.data.kind, depth: each.depth, x: each.x0, y, width: each.x1 - each.x0, height: each.y1 - each.y0, parent: each.parent ? index.get(each.parent) ?? -1 : -1 };
    if (each.depth > 0 && (box.width < 0.5 || box.height < 0.5)) return;
    if (each.parent && !index.has(each.parent)) return;
    index.set(each, boxes.length);
    boxes.push(box);
  });
  return boxes;
}

export function boxAt(boxes: Box[], x: number, y: number): number {
  let found = -1; // the deepest: children come behind their parents
  for (let index = 0; index < boxes.length; ++index) {
    const box = boxes[index]!;
    if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height) found = index;
  }
  return found;
}

// Where an arrow key leads from a box.
export function neighbour(boxes: Box[], from: number, pressed: string, shape: Shape): number {
  const key = shape !== 'flame' ? pressed : pressed === 'ArrowUp' ? 'ArrowDown' : pressed === 'ArrowDown' ? 'ArrowUp' : pressed;
  const box = boxes[from];
  if (!box) return 0;
  if (key === 'ArrowUp') return box.parent < 0 ? from : box.parent;
  if (key === 'ArrowDown') {
    const child = boxes.findIndex((each) => each.parent === from);
    return child < 0 ? from : child;
  }
  const level = boxes.map((_, index) => index).filter((index) => boxes[index]!.depth === box.depth);
  const place = level.indexOf(from) + (key === 'ArrowRight' ? 1 : -1);
  return level[Math.max(0, Math.min(level.length - 1, place))] ?? from;
}
