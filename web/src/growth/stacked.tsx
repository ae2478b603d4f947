// Layers over a series of dumps, one upon the other. Mouse: point at a part, click to see what grew between the two dumps
// beside it. Keys: arrows go over parts, Enter opens. The part that is pointed at stands below in words, and all of them in the table.
import { useMemo, useRef, useState } from 'preact/hooks';
import { bytes, change, count, counted, shortened } from '../format';
import { paint } from '../map/color';
import { Name, typeShortened } from '../name';
import { useWidth } from '../table';
import { useTheme } from '../theme';
import { changeOf, type Layer, later, placesOf, stacked, ticks } from './layers';

export interface Dump {
  name: string;
  hours: number | null;
}

export interface Part {
  layer: number;
  step: number; // between dump `step` and the next
}

export const layerName = (layer: Layer): string => layer.name ?? `the other ${count(layer.rows)}`;

// The colour is the name's own, as on the map.
export const layerFill = (layer: Layer, dark: boolean): string => paint(layer.name === null ? null : { kind: 'object', type: layer.name }, 'type', dark).fill;

export function StackedChart({ layers, dumps, of_bytes, types, label, href }: {
  layers: Layer[]; dumps: Dump[]; of_bytes: boolean; types: boolean; label: string; href: (part: Part) => string;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = width < 600 ? 280 : 340;
  const dark = useTheme().dark;
  const [active, setActive] = useState<Part>({ layer: layers.length - 1, step: 0 });
  const [pointed, point] = useState<Part | null>(null);
  const write = of_bytes ? bytes : count;
  const edges = useMemo(() => stacked(layers, dumps.length), [layers, dumps.length]);
  const { places, by_time } = useMemo(() => placesOf(dumps.map((dump) => dump.hours)), [dumps]);
  const most = Math.max(1, ...edges[edges.length - 1]!);
  const marks = ticks(most, of_bytes);
  const left = 14 + 7.2 * Math.max(...marks.map((mark) => write(mark).length));
  const right = 14, top = 10, bottom = 42;
  const x = (dump: number) => left + places[dump]! * (width - left - right);
  const y = (value: number) => height - bottom - (value / (most * 1.04)) * (height - top - bottom);
  const steps = dumps.length - 1;
  const here: Part = { layer: Math.max(0, Math.min(active.layer, layers.length - 1)), step: Math.max(0, Math.min(active.step, steps - 1)) };

  function pressed(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const moves: Record<string, Partial<Part>> = {
      ArrowLeft: { step: Math.max(0, here.step - 1) }, ArrowRight: { step: Math.min(steps - 1, here.step + 1) },
      ArrowUp: { layer: Math.min(layers.length - 1, here.layer + 1) }, ArrowDown: { layer: Math.max(0, here.layer - 1) },
      Home: { step: 0 }, End: { step: steps - 1 },
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const next = { ...here, ...move };
    setActive(next);
    frame.current?.querySelector<SVGAElement>(`[data-part="${next.layer}-${next.step}"]`)?.focus();
  }
  const words = ({ layer, step }: Part) => {
    const values = layers[layer]!.values.slice(step, step + 2);
    return `${layerName(layers[layer]!)}: ${write(values[0]!)} → ${write(values[1]!)} (${changeOf(values) ? change(changeOf(values), of_bytes) : 'no change'}), from ${dumps[step]!.name} to ${dumps[step + 1]!.name}`;
  };
  const outline = ({ layer, step }: Part) => {
    const below = edges[layer]!, above = edges[layer + 1]!;
    return `M ${x(step)} ${y(below[step]!)} L ${x(step)} ${y(above[step]!)} L ${x(step + 1)} ${y(above[step + 1]!)} L ${x(step + 1)} ${y(below[step + 1]!)} Z`;
  };
  // Labels that would touch are left out, but never the first and the last one.
  const gap = by_time ? 66 : 26;
  const labels: number[] = [];
  dumps.forEach((_, dump) => {
    if (dump === 0 || dump === steps || (x(dump) - x(labels[labels.length - 1]!) >= gap && x(steps) - x(dump) >= gap)) labels.push(dump);
  });
  const shown_part = pointed && pointed.layer < layers.length && pointed.step < steps ? pointed : null;
  return (
    <div ref={frame} class="growth">
      {width > 0 && steps > 0 && (
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group"
          aria-label={`${label}: ${counted(layers.length, 'layer')} over ${counted(dumps.length, 'dump')}. Arrow keys go over them, Enter opens what grew between two dumps. The table below says the same.`} onKeyDown={pressed} onMouseLeave={() => point(null)}>
          {marks.map((mark) => (
            <g key={mark} aria-hidden="true"><line class="growth-grid" x1={left} x2={width - right} y1={y(mark)} y2={y(mark)} /><text class="growth-label" x={left - 7} y={y(mark) + 4} text-anchor="end">{write(mark)}</text></g>
          ))}
          {layers.map((layer, index) => Array.from({ length: steps }, (_, step) => {
            const part = { layer: index, step };
            const is_active = here.layer === index && here.step === step;
            return (
              <a key={`${index}-${step}`} data-part={`${index}-${step}`} class={`growth-part ${shown_part && shown_part.layer !== index ? 'behind' : ''}`} href={href(part)} tabIndex={is_active ? 0 : -1} aria-label={words(part)}
                onMouseEnter={() => point(part)} onFocus={() => { setActive(part); point(part); }} onBlur={() => point(null)}>
                <title>{words(part)}</title>
                <path d={outline(part)} fill={layerFill(layer, dark)} />
              </a>
            );
          }))}
          <g aria-hidden="true">
            {layers.map((layer, index) => {
              const whole = nameIn(layer, types, 60);
              const room = roomOf(edges[index]!.map(y), edges[index + 1]!.map(y), places.map((_, dump) => x(dump)), whole.length * letter_width + 12);
              const letters = Math.floor((room.width - 12) / letter_width);
              return room.height >= 16 && letters >= 8 && <text key={index} class="growth-name" x={room.x} y={room.y + 4} text-anchor="middle">{nameIn(layer, types, letters)}</text>;
            })}
            {dumps.map((_, dump) => <line key={dump} class={`growth-dump ${steps > 15 ? 'dense' : ''}`} x1={x(dump)} x2={x(dump)} y1={top} y2={height - bottom + 4} />)}
            {labels.map((dump) => {
              const anchor = dump === steps ? 'end' : dump === 0 ? 'start' : 'middle';
              return (
                <g key={dump}>
                  <text class="growth-label" x={x(dump)} y={height - bottom + 18} text-anchor={anchor}>{dump + 1}</text>
                  {by_time && <text class="growth-label" x={x(dump)} y={height - bottom + 34} text-anchor={anchor}>{later(dumps[dump]!.hours!)}</text>}
                </g>
              );
            })}
          </g>
        </svg>
      )}
      <p class="readout" aria-hidden="true">
        {shown_part ? (
          <><span class="swatch" style={{ backgroundColor: layerFill(layers[shown_part.layer]!, dark) }} /> <strong><Name text={layerName(layers[shown_part.layer]!)} type={types} most={90} plain /></strong>{words(shown_part).slice(layerName(layers[shown_part.layer]!).length)}</>
        ) : <span class="muted">A click on a part shows what grew between the two dumps beside it.</span>}
      </p>
      <ul class="legend growth-legend" aria-label="Colours">
        {[...layers].reverse().map((layer) => (
          <li key={layer.name ?? ''} onMouseEnter={() => point({ layer: layers.indexOf(layer), step: steps - 1 })} onMouseLeave={() => point(null)}>
            <span class="swatch" style={{ backgroundColor: layerFill(layer, dark) }} aria-hidden="true" /> <bdi title={layerName(layer)}>{types ? typeShortened(layerName(layer), 48) : shortened(layerName(layer), 48)}</bdi> <span class="number">{change(changeOf(layer.values), of_bytes)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const letter_width = 6.8; // of .growth-name, about
const nameIn = (layer: Layer, types: boolean, letters: number) => `\u2068${types ? typeShortened(layerName(layer), letters) : shortened(layerName(layer), letters)}\u2069`;

// Where a layer is thickest over the width that its name wants, or over the most that there is: there the name is written.
function roomOf(lower: number[], upper: number[], at: number[], wanted: number): { x: number; y: number; width: number; height: number } {
  let best = { x: 0, y: 0, width: 0, height: 0 };
  for (let from = 0; from + 1 < at.length; ++from) {
    let floor = lower[from]!, ceiling = upper[from]!;
    for (let until = from + 1; until < at.length; ++until) {
      floor = Math.min(floor, lower[until]!);
      ceiling = Math.max(ceiling, upper[until]!);
      const here = { x: (at[from]! + at[until]!) / 2, y: (floor + ceiling) / 2, width: at[until]! - at[from]!, height: floor - ceiling };
      if (here.height < 16) break;
      if (Math.min(here.width, wanted) > Math.min(best.width, wanted) || (Math.min(here.width, wanted) === Math.min(best.width, wanted) && here.height > best.height)) best = here;
      if (here.width >= wanted) break;
    }
  }
  return best;
}
