// Tables of up to some 100,000 rows: sorted, filtered as one types, only what is to be seen is in the page. Arrow keys go
// over rows, Enter opens one.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from './answers';
import * as format from './format';
import { Name } from './name';
import { Bar, Bytes } from './parts';

export interface Column<R = Row> {
  key: string;
  title: string;
  kind: 'type' | 'text' | 'bytes' | 'count' | 'share' | 'address';
  value?: (row: R) => any; // for sorting and filtering; else row[key]
  href?: (row: R) => string | null;
  show?: (row: R, letters: number) => ComponentChildren;
  optional?: boolean; // left out where no row has it
  minor?: boolean; // left out where the window is narrow
  grow?: number; // a text's share of the room
  help?: string;
}

export interface DataTableProps<R> {
  label: string;
  rows: R[];
  columns: Column<R>[];
  href?: (row: R) => string | null; // what Enter opens
  sort?: string; // a column's key, "-" in front: smallest first
  onSort?: (sort: string) => void;
  filter?: string;
  onFilter?: (filter: string) => void;
  filterHint?: string;
  empty?: string;
  tools?: ComponentChildren;
  total?: ComponentChildren;
  high?: boolean; // as high as the window allows
}

const row_height = 28;
const all_at_once = 40;
// Width of a letter of a usual name, in the font that the system has.
const letter = (() => {
  const text = 'System.Collections.Generic.List<Shop.Order>';
  const context = document.createElement('canvas').getContext('2d');
  if (!context) return 7.5;
  context.font = `14px ${getComputedStyle(document.documentElement).fontFamily}`;
  return context.measureText(text).width / text.length;
})();

const widths: Record<Column['kind'], number> = { type: 0, text: 0, bytes: 96, count: 92, share: 112, address: 142 };

function widthOf(column: Column<any>, narrow: boolean): number {
  const wanted = widths[column.kind];
  return wanted && Math.max(Math.round(narrow ? wanted * 0.82 : wanted), Math.min(150, Math.ceil(column.title.length * letter) + 18));
}

const scrolled = new Map<string, number>(); // by address and table: coming back finds the same rows

export function useWidth(ref: { current: HTMLElement | null }): number {
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    set(element.clientWidth);
    const observer = new ResizeObserver(() => set(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

function valueOf<R>(column: Column<R>, row: R): any {
  return column.value ? column.value(row) : (row as any)[column.key];
}

const is_text = (column: Column<any>) => column.kind === 'type' || column.kind === 'text' || column.kind === 'address';

const collator = new Intl.Collator('en');

export function sorted<R>(rows: R[], columns: Column<R>[], sort: string | undefined): R[] {
  const up = sort?.startsWith('-');
  const column = columns.find((each) => each.key === (up ? sort!.slice(1) : sort));
  if (!column) return rows;
  const text = is_text(column);
  const keys = rows.map((row, index) => ({ row, index, key: valueOf(column, row) }));
  const sign = up !== text ? 1 : -1; // texts from A, numbers from the largest
  keys.sort((a, b) => {
    if (a.key === null || a.key === undefined || b.key === null || b.key === undefined)
      return (a.key ?? null) === (b.key ?? null) ? a.index - b.index : (a.key ?? null) === null ? 1 : -1;
    const order = text ? collator.compare(String(a.key), String(b.key)) : a.key - b.key;
    return order ? sign * order : a.index - b.index;
  });
  return keys.map((each) => each.row);
}

function Cell<R>({ column, row, letters }: { column: Column<R>; row: R; letters: number }) {
  if (column.show) return <>{column.show(row, letters)}</>;
  const value = valueOf(column, row);
  switch (column.kind) {
    case 'bytes': return <Bytes n={value} />;
    case 'count': return <span class="number">{format.count(value)}</span>;
    case 'share': return <span class="share"><Bar part={value ?? 0} /><span class="number">{format.share(value)}</span></span>;
    case 'address': {
      const address = value && column.href?.(row);
      return address ? <a class="address" href={address}>{String(value)}</a> : value ? <span class="address">{String(value)}</span> : <span class="muted">–</span>;
    }
    default: return <Name text={value === null || value === undefined ? null : String(value)} type={column.kind === 'type'} most={letters} href={column.href?.(row)} />;
  }
}

export function DataTable<R>(props: DataTableProps<R>) {
  const { label, rows, href } = props;
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [own_sort, setOwnSort] = useState('');
  const sort = props.onSort ? props.sort : own_sort || props.sort;
  const onSort = props.onSort ?? setOwnSort;
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const focus_wanted = useRef(false);

  const columns = useMemo(() => props.columns.filter((column) => !(column.minor && width && width < 620)
    && !(column.optional && !rows.some((row) => (valueOf(column, row) ?? null) !== null))), [props.columns, width, rows]);
  const filter = (props.filter ?? '').toLowerCase();
  const wanted = useMemo(() => {
    if (!filter) return rows;
    const texts = props.columns.filter(is_text);
    return rows.filter((row) => texts.some((column) => String(valueOf(column, row) ?? '').toLowerCase().includes(filter)));
  }, [rows, filter, props.columns]);
  const shown = useMemo(() => sorted(wanted, props.columns, sort), [wanted, sort, props.columns]);

  const virtual = shown.length > all_at_once;
  const height = props.high ? Math.max(320, innerHeight - 300) : Math.min(560, Math.max(300, innerHeight * 0.55));
  const first = virtual ? Math.max(0, Math.floor(top / row_height) - 8) : 0;
  const last = virtual ? Math.min(shown.length, Math.ceil((top + height) / row_height) + 8) : shown.length;

  const narrow = width > 0 && width < 620;
  const fixed = columns.reduce((sum, column) => sum + widthOf(column, narrow), 0);
  const grows = columns.reduce((sum, column) => sum + (widths[column.kind] ? 0 : column.grow ?? 1), 0) || 1;
  const room = Math.max(width - fixed - columns.length * 14 - 20, 150);
  const template = columns
    .map((column) => (widths[column.kind] ? `${widthOf(column, narrow)}px` : `minmax(${narrow ? 110 : 140}px, ${column.grow ?? 1}fr)`))
    .join(' ');
  const letters = (column: Column<R>) => Math.max(10, Math.floor((room * (column.grow ?? 1)) / grows / letter) - 5);

  const least = columns.reduce((sum, column) => sum + (widthOf(column, narrow) || (narrow ? 110 : 140)), 0) + (columns.length - 1) * 14 + 20;
  const wide = { minWidth: `${Math.round(least)}px` }; // where the window has less, the table scrolls
  const place = `${location.hash.split('?')[0]} ${label}`;
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = scrolled.get(place);
    if (element && virtual && before && !filter) element.scrollTop = before;
  }, [place, virtual]);
  useEffect(() => {
    setActive(0);
    if (scroller.current && filter) scroller.current.scrollTop = 0;
  }, [filter, sort]);
  useLayoutEffect(() => {
    if (!focus_wanted.current) return;
    focus_wanted.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)?.focus({ preventScroll: true });
  });

  function move(to: number) {
    const row = Math.max(0, Math.min(shown.length - 1, to));
    const element = scroller.current;
    if (virtual && element) {
      const y = row * row_height;
      if (y < element.scrollTop) element.scrollTop = y;
      else if (y + row_height > element.scrollTop + element.clientHeight - row_height) element.scrollTop = y + 2 * row_height - element.clientHeight;
      setTop(element.scrollTop);
    }
    focus_wanted.current = true;
    setActive(row);
  }
  function pressed(event: KeyboardEvent) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.floor(height / row_height) - 2;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step !== undefined) move(active + step);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(shown.length - 1);
    else if (event.key === 'Enter' && (event.target as HTMLElement).dataset.row !== undefined) {
      const row = shown[active];
      const address = row && href?.(row);
      if (address) location.hash = address;
    } else return;
    event.preventDefault();
  }

  return (
    <div class="table-frame" ref={frame}>
      {(props.onFilter || props.tools) && (
        <div class="tools">
          {props.onFilter && (
            <input class="filter" type="search" value={props.filter ?? ''} placeholder={props.filterHint ?? 'Filter'} aria-label={`Filter: ${label}`}
              spellcheck={false} onInput={(event) => props.onFilter!((event.target as HTMLInputElement).value)} />
          )}
          {props.tools}
          <span class="found" role="status">{filter ? `${format.count(shown.length)} of ${format.counted(rows.length, 'row')}` : format.counted(rows.length, 'row')}</span>
        </div>
      )}
      {columns.length > 0 && <div class={`grid ${virtual ? 'virtual' : ''}`} role="grid" aria-label={label} aria-rowcount={shown.length + 1} aria-colcount={columns.length} onKeyDown={pressed}>
        <div role="rowgroup" class="grid-head" style={wide}>
          <div role="row" aria-rowindex={1} class="grid-row" style={{ gridTemplateColumns: template }}>
            {columns.map((column) => {
              const is_sorted = sort === column.key || sort === `-${column.key}`;
              const ascends = is_text(column) !== sort?.startsWith('-');
              return (
                <div key={column.key} role="columnheader" class={`head ${is_text(column) ? '' : 'right'}`} title={column.help}
                  aria-sort={is_sorted ? (ascends ? 'ascending' : 'descending') : undefined}>
                  <button type="button" onClick={() => onSort(sort === column.key ? `-${column.key}` : column.key)}>
                    {column.title}<span class="arrow" aria-hidden="true">{is_sorted ? (ascends ? ' ▲' : ' ▼') : ''}</span>
                  </button>
                </div>
              );
            })}
          </div>
        </div>
        <div role="rowgroup" class="grid-body" ref={scroller} style={{ ...wide, height: virtual ? `${height}px` : '' }}
          tabIndex={virtual ? 0 : undefined}
          onScroll={() => {
            const y = scroller.current!.scrollTop;
            scrolled.set(place, y);
            setTop(y);
          }}>
          {virtual && <div class="spacer" role="presentation" style={{ height: `${first * row_height}px` }} />}
          {shown.slice(first, last).map((row, offset) => {
            const index = first + offset;
            return (
              <div key={index} role="row" aria-rowindex={index + 2} class="grid-row" data-row={index} style={{ gridTemplateColumns: template }}
                tabIndex={index === active ? 0 : -1}
                onFocus={(event) => { if (event.target === event.currentTarget) setActive(index); }}
                onDblClick={() => { const address = href?.(row); if (address) location.hash = address; }}>
                {columns.map((column) => (
                  <div key={column.key} role="gridcell" class={is_text(column) ? 'cell' : 'cell right'}><Cell column={column} row={row} letters={letters(column)} /></div>
                ))}
              </div>
            );
          })}
          {virtual && <div class="spacer" role="presentation" style={{ height: `${(shown.length - last) * row_height}px` }} />}
        </div>
      </div>}
      {shown.length === 0 && <p class="empty">{filter ? 'Nothing has that in its name.' : props.empty ?? 'There is none.'}</p>}
      {props.total && <p class="total">{props.total}</p>}
    </div>
  );
}
