// What a box's colour says: its type, its generation or its namespace. Each has words beside it, too.
import type { HeapNode } from '../answers';
import { generationName } from '../format';

export type ColorBy = 'type' | 'namespace' | 'generation';

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

function hash(text: string): number {
  let value = 2166136261;
  for (let index = 0; index < text.length; ++index) value = Math.imul(value ^ text.charCodeAt(index), 16777619);
  return value >>> 0;
}

const hues = [210, 28, 150, 268, 50, 335, 185, 8, 95, 235, 305, 128];
const generation_hues: Record<string, number> = { gen0: 95, gen1: 50, gen2: 210, loh: 28, poh: 335, frozen: 185 };

export function keyOf(node: HeapNode, by: ColorBy): string {
  if (node.kind !== 'object') return node.kind === 'root' ? 'the whole heap' : node.owner_kind ?? 'owner';
  if (by === 'generation') return generationName(node.generation);
  return by === 'type' ? node.type ?? node.name : namespaceOf(node.type);
}

export function paint(node: HeapNode | null, by: ColorBy, dark: boolean, depth: number): Paint {
  const ink = dark ? '#f0f1f3' : '#15181c';
  if (!node) return { fill: dark ? '#33373d' : '#e3e4e1', ink };
  if (node.kind !== 'object') return { fill: dark ? '#3b4047' : '#d5d9dd', ink };
  const hue = by === 'generation' ? generation_hues[node.generation ?? ''] ?? 0 : hues[hash(keyOf(node, by)) % hues.length]!;
  const step = (depth % 2) * 3;
  return { fill: dark ? `hsl(${hue} 38% ${29 + step}%)` : `hsl(${hue} 58% ${80 + step}%)`, ink };
}
