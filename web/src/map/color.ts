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

// A number of the name alone: a type has its colour on every page, in every dump.
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; ++index) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const hues = 24;
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
  const hash = by === 'generation' ? 0 : hashOf(`${by} ${keyOf(node, by)}`);
  const hue = by === 'generation' ? generation_hues[node.generation ?? ''] ?? 0 : (hash % hues) * (360 / hues);
  const pale = Math.floor(hash / hues) % 3; // neighbours of one hue differ in this
  return { fill: dark ? `hsl(${hue} ${42 - pale * 11}% ${32 - pale * 4}%)` : `hsl(${hue} ${68 - pale * 9}% ${77 + pale * 5}%)`, ink };
}
