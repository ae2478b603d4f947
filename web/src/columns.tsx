// Columns of tables whose keys are only known when they come: any verb's.
import type { Row } from './answers';
import * as format from './format';
import { Name } from './name';
import { to } from './router';
import type { Column } from './table';

const bytes_key = /(^|_)(bytes|retained|wasted|size|largest|heap_bytes)$/;
const object_key = /^(address|object|example|inner|secondary|after|before|waits_for|waits_for_object|exception|weak_target|target|inner_address|reference)$/;
const type_key = /^(type|.*_type|element|what)$/;
const not_a_type = /^\((root|shared|unreachable|frozen|unknown)/;

function text(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((each) => (each && typeof each === 'object' ? JSON.stringify(each) : String(each ?? '–'))).join(' ← ');
  if (typeof value === 'object') return Object.entries(value as Row).map(([key, each]) => `${key}: ${text(each)}`).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

export function columnFor(key: string, rows: Row[], objects = true): Column {
  const sample = rows.find((row) => row[key] !== null && row[key] !== undefined)?.[key];
  const title = format.title(key);
  if (typeof sample === 'number') {
    if (key === 'share') return { key, title, kind: 'share' };
    return bytes_key.test(key) ? { key, title, kind: 'bytes' } : { key, title, kind: 'count', show: /_id$|^(index|line|heap|table|rank|flags|state)$/.test(key) ? (row) => <span class="number">{row[key] ?? '–'}</span> : undefined };
  }
  const is_place = key === 'address' && rows.some((row) => 'object' in row || 'after' in row || 'os_id' in row); // of a slot, a hole, a thread
  if (format.isAddress(sample)) return { key, title, kind: 'address', href: objects && !is_place && object_key.test(key) ? (row) => (format.isAddress(row[key]) ? to.object(row[key]) : null) : undefined };
  if (key === 'generation') return { key, title, kind: 'text', value: (row) => format.generationName(row[key]) };
  if (key === 'owner') return { key, title, kind: 'text', grow: 2, href: (row) => (row[key] && !row[key].startsWith('(') ? to.owner(row[key]) : null) };
  if (type_key.test(key) && typeof sample === 'string') return { key, title, kind: 'type', grow: 2, href: (row) => (row[key] && !not_a_type.test(row[key]) ? to.type(row[key]) : null) };
  const short = rows.every((row) => (text(row[key]) ?? '').length < 22);
  return { key, title, kind: 'text', grow: short ? 1 : 2, value: (row) => text(row[key]), show: (row, letters) => <Name text={text(row[key])} most={letters} /> };
}

// The most telling keys first: numbers that say how much, then names, then the rest.
export function columnsFor(rows: Row[], left_out: string[] = [], objects = true): Column[] {
  const keys = [...new Set(rows.slice(0, 50).flatMap((row) => Object.keys(row)))].filter((key) => !left_out.includes(key));
  const used = keys.filter((key) => rows.some((row) => row[key] !== null && row[key] !== undefined && row[key] !== ''));
  const columns = used.map((key) => columnFor(key, rows, objects));
  return columns.map((column, index) => ({ ...column, minor: index >= 4 }));
}
