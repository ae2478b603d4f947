// What a box's colour says: its type, its generation or its namespace. Each has words beside it, too.
import type { HeapNode } from '../answers';
import { generationName } from '../format';

export type ColorBy = 'type' | 'namespace' | 'generation';

export type Painted = Pick<HeapNode, 'kind' | 'type'> & Partial<HeapNode>;

export interface Paint {
  fill: string;
  ink: string;
}

export function namespaceOf(type: string | null): string {
  if (!type) return '';
  const own = type.split(/[<[(+`]/)[0] as string;
  const parts = own.split('.');
  return parts.length > 1 ? parts.slice(0, Math.min(2, parts.length - 1)).join('.') : '(none)';
}

const seen = new Map<string, number>(); // in the order they came: what is large came first, and keeps its colour

function rank(key: string): number {
  const known = seen.get(key);
  if (known !== undefined) return known;
  seen.set(key, seen.size);
  return seen.size - 1;
}

const hues = [210, 28, 150, 268, 50, 335, 185, 8, 95, 235, 305, 128];
const generation_hues: Record<string, number> = { gen0: 95, gen1: 50, gen2: 210, loh: 28, poh: 335, frozen: 185 };

export function keyOf(node: Painted, by: ColorBy): string {
  if (node.kind !== 'object') return node.kind === 'root' ? 'the whole heap' : node.owner_kind ?? 'owner';
  if (by === 'generation') return generationName(node.generation);
  return by === 'type' ? node.type ?? node.name ?? '' : namespaceOf(node.type);
}

export function paint(node: Painted | null, by: ColorBy, dark: boolean): Paint {
  const ink = dark ? '#f0f1f3' : '#15181c';
  if (!node) return { fill: dark ? '#33373d' : '#e3e4e1', ink };
  if (node.kind !== 'object') return { fill: dark ? '#3b4047' : '#d5d9dd', ink };
  const place = by === 'generation' ? 0 : rank(`${by} ${keyOf(node, by)}`);
  const hue = by === 'generation' ? generation_hues[node.generation ?? ''] ?? 0 : hues[place % hues.length]!;
  const again = Math.floor(place / hues.length) % 3; // more kinds than hues: paler ones
  return { fill: dark ? `hsl(${hue} ${40 - again * 12}% ${31 - again * 4}%)` : `hsl(${hue} ${62 - again * 16}% ${81 + again * 3}%)`, ink };
}
