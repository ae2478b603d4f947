// Which rows of a series of dumps a chart shows by themselves, what is left of the others, and where all of that stands.
import type { Row } from '../answers';

export interface Layer {
  name: string | null; // null: the rest
  rows: number; // that it is made of
  values: number[]; // one for each dump
}

const most_layers = 11;
const most_grown = 5; // of these; the others are the largest
const least_seen = 1 / 500; // of the whole: what is smaller is no line

export const changeOf = (values: number[]): number => (values[values.length - 1] ?? 0) - (values[0] ?? 0);

// From the bottom: the rest, and then what shrank or stayed, and what grew, most of all on top, where it disturbs nothing
// else. The rows that grew most, if that is to be seen, have a layer each, and those that were largest at any time.
export function layersOf(rows: Row[], name: (row: Row) => string, values: (row: Row) => number[], dumps: number): Layer[] {
  const all = rows.map((row) => ({ name: name(row), rows: 1, values: values(row) }));
  const most = (layer: Layer) => layer.values.reduce((best, value) => Math.max(best, value), 0);
  const whole = Math.max(0, ...Array.from({ length: dumps }, (_, dump) => all.reduce((total, layer) => total + (layer.values[dump] ?? 0), 0)));
  const grown = all.filter((layer) => changeOf(layer.values) > whole * least_seen).sort((a, b) => changeOf(b.values) - changeOf(a.values)).slice(0, most_grown);
  const chosen = new Set<Layer>(grown);
  for (const layer of [...all].sort((a, b) => most(b) - most(a))) {
    if (chosen.size >= most_layers) break;
    if (most(layer) > whole * least_seen) chosen.add(layer);
  }
  const rest = all.filter((layer) => !chosen.has(layer));
  const sum = Array.from({ length: dumps }, (_, dump) => rest.reduce((total, layer) => total + (layer.values[dump] ?? 0), 0));
  const out: Layer[] = [...chosen].sort((a, b) => changeOf(a.values) - changeOf(b.values) || most(b) - most(a));
  return rest.length ? [{ name: null, rows: rest.length, values: sum }, ...out] : out;
}

// Where each layer begins at each dump; the last row is the whole.
export function stacked(layers: Layer[], dumps: number): number[][] {
  const out: number[][] = [Array.from({ length: dumps }, () => 0)];
  for (const layer of layers) out.push(out[out.length - 1]!.map((below, dump) => below + (layer.values[dump] ?? 0)));
  return out;
}

// Round numbers for an axis up to `most`: of bytes powers of two, of counts 1, 2 and 5.
export function ticks(most: number, of_bytes: boolean): number[] {
  if (!(most > 0)) return [0];
  let step = 1;
  if (of_bytes) while (most / step > 5) step *= 2;
  else for (let power = 1; most / step > 5; power *= 10) step = [1, 2, 5, 10].map((each) => each * power).find((each) => most / each <= 5) ?? power * 10;
  const out: number[] = [];
  for (let at = 0; at <= most; at += step) out.push(at);
  return out;
}

// From 0 to 1: by time where each dump's is known, else one after the other.
export function placesOf(hours: (number | null)[]): { places: number[]; by_time: boolean } {
  const last = hours[hours.length - 1];
  const by_time = !!last && hours.every((each, index) => each !== null && (index === 0 || each >= hours[index - 1]!));
  if (by_time) return { places: hours.map((each) => each! / last), by_time };
  return { places: hours.map((_, index) => (hours.length > 1 ? index / (hours.length - 1) : 0)), by_time };
}

// "+40 s", "+1.3 min", "+30 min", "+2.5 h", "+3.0 days".
export function later(hours: number): string {
  if (hours <= 0) return '0';
  if (hours < 1 / 60) return `+${Math.round(hours * 3600)} s`;
  if (hours < 1) return `+${(hours * 60).toFixed(hours < 1 / 6 ? 1 : 0)} min`;
  return hours < 48 ? `+${hours.toFixed(1)} h` : `+${(hours / 24).toFixed(1)} days`;
}
