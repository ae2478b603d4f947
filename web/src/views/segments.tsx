// Segments: a map of the heap's memory: each region with its objects, its holes, what is committed behind them, and pins.
import { useMemo } from 'preact/hooks';
import type { Row } from '../answers';
import { bytes, counted, generationName } from '../format';
import { Panel, Waiting } from '../parts';
import { to } from '../router';
import { Gaps, ShownRows, tableTitle } from '../shown_table';
import { useTables } from '../tables';
import { useVerb } from '../use_answer';
import { generations } from './types';

const most_drawn = 400;

function number(address: string | null | undefined): number {
  return address ? Number(BigInt(address) & 0xffffffffffffn) : 0;
}

export function Segments() {
  const asked = useVerb('segments', { top: 0 });
  const shown = useTables('segments');
  const holes = useVerb('frag', { top: 20000, table: 'largest' });
  const handles = useVerb('handles', { top: 0, table: 'handles' });
  const rows = useMemo(() => [...(asked.data?.tables.segments ?? [])].sort((a, b) => number(a.start) - number(b.start)), [asked.data]);
  const pins = useMemo(() => (handles.data?.tables.handles ?? []).filter((row) => /pinned/.test(row.kind) && row.object), [handles.data]);
  const drawn = rows.slice(0, most_drawn);
  const largest = Math.max(1, ...drawn.map((row) => number(row.committed_end) - number(row.start)));
  return (
    <>
      <h1 tabIndex={-1}>Segments</h1>
      {!asked.data ? <Waiting asked={asked} /> : (
        <>
          <Panel title="Map of memory" note="Every region in address order, as long as what is committed of it. The darker, the more of it are holes. Marks above a region are pinned objects.">
            <ul class="legend" aria-label="Colours">
              {generations.map((name) => <li key={name}><span class={`swatch ${name}`} aria-hidden="true" /> {generationName(name)}</li>)}
              <li><span class="swatch hole" aria-hidden="true" /> Hole</li><li><span class="swatch committed" aria-hidden="true" /> Committed, empty</li><li><span class="swatch pin" aria-hidden="true" /> Pinned</li>
            </ul>
            <ul class="regions">{drawn.map((row) => <Region key={row.start} row={row} largest={largest} holes={holes.data?.tables.largest ?? []} pins={pins} />)}</ul>
            {rows.length > most_drawn && <p class="note">{counted(rows.length - most_drawn, 'more region')}: in the table below.</p>}
          </Panel>
          {(shown.data?.tables ?? []).map((table, index) => {
            const title = tableTitle(table, index === 0 ? 'Segments' : table.name);
            return <Panel key={table.name} id={`table-${table.name}`} title={title}><ShownRows verb="segments" table={table} label={title} /></Panel>;
          })}
          {shown.data && <Gaps shown={shown.data} />}
        </>
      )}
      <p class="links"><a class="button" href={to.verb('frag')}>What lies beside the holes</a> <a class="button" href={to.verb('gc')}>What the GC says of itself</a></p>
    </>
  );
}

const bins = 500; // of the longest region

// How much of each part of a region holes take.
function shares(holes: Row[], start: number, largest: number): number[] {
  const each = largest / bins;
  const out: number[] = [];
  for (const hole of holes) {
    let at = number(hole.address) - start;
    for (let left = hole.bytes; left > 0;) {
      const bin = Math.floor(at / each);
      const here = Math.min(left, (bin + 1) * each - at);
      out[bin] = (out[bin] ?? 0) + here / each;
      at += Math.max(here, 1);
      left -= Math.max(here, 1);
    }
  }
  return Array.from(out, (part) => part ?? 0);
}

function Region({ row, largest, holes, pins }: { row: Row; largest: number; holes: Row[]; pins: Row[] }) {
  const start = number(row.start);
  const end = number(row.end);
  const committed = Math.max(number(row.committed_end), end);
  const inside = (address: string) => number(address) >= start && number(address) < end;
  const dark = shares(holes.filter((hole) => inside(hole.address)), start, largest);
  const pinned = pins.filter((pin) => inside(pin.object));
  const x = (at: number) => ((at - start) / largest) * 1000;
  const says = [
    `${generationName(row.generation)}, ${counted(row.objects, 'object')}, ${bytes(row.bytes)}`,
    row.free_objects > 0 && `${counted(row.free_objects, 'hole')}, ${bytes(row.free_bytes)}`,
    pinned.length > 0 && counted(pinned.length, 'pinned object'),
    committed - end >= 4096 && `${bytes(committed - end)} empty`,
  ].filter(Boolean).join('; ');
  return (
    <li>
      <span class="address">{row.start}</span>
      <svg class="region" viewBox="0 0 1000 22" preserveAspectRatio="none" aria-hidden="true">
        <rect class="committed" x="0" y="6" width={Math.max(1, x(committed))} height="16" />
        <rect class={row.generation} x="0" y="6" width={Math.max(1, x(end))} height="16" />
        {dark.map((part, index) => part > 0.004 && <rect key={index} class="hole" x={(index * 1000) / bins} y="6" width={1000 / bins + 0.05} height="16" fill-opacity={Math.min(1, part).toFixed(2)} />)}
        {pinned.map((pin) => <rect key={pin.handle} class="pin" x={x(number(pin.object))} y="0" width="2" height="6" />)}
      </svg>
      <span class="region-says">{says}</span>
    </li>
  );
}
