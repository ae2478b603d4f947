// What the map and the flame graph show of the tree of types: without the types that one hides, or only those below one
// type, and what a search finds in it.
import { type TypeNode } from './by_type';

const joint = '\n';

export function listOf(text: string | undefined): string[] {
  return (text ?? '').split(joint).filter(Boolean);
}

export function added(list: string | undefined, name: string): string {
  return [...new Set([...listOf(list), name])].join(joint);
}

export function removed(list: string | undefined, name: string): string {
  return listOf(list).filter((each) => each !== name).join(joint);
}

const nameOf = (node: TypeNode) => node.type ?? node.name ?? '';

// A hidden box goes; what it holds stands where it stood.
export function without(root: TypeNode, hidden: string[]): TypeNode {
  if (!hidden.length) return root;
  const parts = (node: TypeNode): TypeNode[] => node.parts.flatMap((part) => (hidden.includes(nameOf(part)) ? parts(part) : [changed(part)]));
  const changed = (node: TypeNode): TypeNode => {
    const all = parts(node).sort((a, b) => b.retained - a.retained);
    return { ...node, parts: all, children: all.length, self: Math.max(0, node.retained - all.reduce((sum, part) => sum + part.retained, 0)) };
  };
  return changed(root);
}

// All places of one type as one tree: whatever holds them, what they hold.
export function focused(root: TypeNode, type: string): TypeNode | null {
  const found: TypeNode[] = [];
  const collect = (node: TypeNode) => { if (nameOf(node) === type) found.push(node); else node.parts.forEach(collect); };
  collect(root);
  if (!found.length) return null;
  const merged = (nodes: TypeNode[], at: string): TypeNode => {
    const groups = new Map<string, TypeNode[]>();
    for (const part of nodes.flatMap((node) => node.parts)) groups.set(nameOf(part), [...(groups.get(nameOf(part)) ?? []), part]);
    const sum = (key: 'retained' | 'objects' | 'times') => nodes.reduce((all, node) => all + node[key], 0);
    const parts = [...groups.values()].sort((a, b) => b.reduce((all, node) => all + node.retained, 0) - a.reduce((all, node) => all + node.retained, 0)).map((group, index) => merged(group, at === '' ? String(index) : `${at}.${index}`));
    const times = sum('times');
    const first = nodes[0]!;
    return { ...first, at, name: times > 1 && first.type ? `${times.toLocaleString('en-US')} × ${first.type}` : first.name, retained: sum('retained'), objects: sum('objects'), times, parts, children: parts.length,
      self: Math.max(0, sum('retained') - parts.reduce((all, part) => all + part.retained, 0)) };
  };
  return merged(found, '');
}

// Bytes of the boxes that have the text in their name; what is inside such a box counts once.
export function matching(root: TypeNode, text: string): { bytes: number; boxes: number } {
  const wanted = text.trim().toLowerCase();
  let bytes = 0;
  let boxes = 0;
  const walk = (node: TypeNode, inside: boolean) => {
    const is = !!wanted && node.at !== '' && nameOf(node).toLowerCase().includes(wanted);
    if (is) ++boxes;
    if (is && !inside) bytes += node.retained;
    node.parts.forEach((part) => walk(part, inside || is));
  };
  walk(root, false);
  return { bytes, boxes };
}

// Places again, after parts went.
export function placed(root: TypeNode): TypeNode {
  const walk = (node: TypeNode, at: string): TypeNode => ({ ...node, at, parts: node.parts.map((part, index) => walk(part, at === '' ? String(index) : `${at}.${index}`)) });
  return walk(root, '');
}
