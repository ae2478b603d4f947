// Tables of any number of rows, of which only those to be seen are in the page: sorted and filtered here, or by the server,
// which then sends them as one scrolls. Arrow keys go over rows, Enter opens one, the menu key shows what else a row leads to.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from './answers';
import { apart } from './apart';
import { type Choice, openMenu } from './context_menu';
import * as format from './format';
import { Breaks, methodShortened, Name, Short, typeShortened } from './name';
import { Bar, Bytes } from './parts';
import { type Layout, layOut, widthOf } from './table_layout';

export interface Column<R = Row> {
  key: string;
  title: string;
  kind: 'type' | 'text' | 'bytes' | 'count' | 'number' | 'share' | 'bar' | 'address' | 'change';
  value?: (row: R) => any; // for sorting and filtering; else row[key]
  href?: (row: R) => string | null;
  show?: (row: R, letters: number) => ComponentChildren;
  optional?: boolean; // left out where no row has it
  minor?: boolean; // left out where the window is narrow
  grow?: number; // a text's share of the room
  method?: boolean; // of names of methods
  wraps?: boolean; // sentences, which go on below
  bytes?: boolean; // of a change
  help?: string;
}

// Rows that the server sorts, filters and sends: `rows` then has holes.
export interface Remote {
  total: number; // rows that the filter leaves
  all: number | null; // rows of the table; null: nobody counted them
  need: (first: number, last: number) => void;
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
  remote?: Remote;
  menu?: (row: R) => Choice[]; // what else a row leads to
  counts?: boolean; // says how many rows there are, on top, also without a filter
}

const all_at_once = 40;

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

export const is_text = (column: Column<any>) => column.kind === 'type' || column.kind === 'text' || column.kind === 'address';

// What a cell says, for its width.
function wordsOf<R>(column: Column<R>, row: R): string {
  const value = valueOf(column, row);
  if (value === null || value === undefined) return '';
  switch (column.kind) {
    case 'bytes': return format.bytes(value);
    case 'count': return format.count(value);
    case 'change': return format.change(value, !!column.bytes);
    default: return String(value);
  }
}

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
    case 'number': return <span class="number">{value ?? '–'}</span>;
    case 'change': return <span class={`number ${value > 0 ? 'grew' : ''}`}>{format.change(value, !!column.bytes)}</span>;
    case 'bar': return <Bar part={value ?? 0} />;
    case 'share': return <span class="share"><Bar part={value ?? 0} /><span class="number">{format.share(value)}</span></span>;
    case 'address': {
      const address = value && column.href?.(row);
      return address ? <a class="address" href={address}>{String(value)}</a> : value ? <span class="address">{String(value)}</span> : <span class="muted">–</span>;
    }
    default: return <Name text={value === null || value === undefined ? null : String(value)} type={column.kind === 'type'} method={column.method} most={letters} href={column.href?.(row)} />;
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
  const is_new = useRef(true);

  const { remote } = props;
  const columns = useMemo(() => props.columns.filter((column) => !(column.minor && width && width < 620)
    && !(column.optional && !rows.some((row) => row !== undefined && (valueOf(column, row) ?? null) !== null))), [props.columns, width, rows]);
  const filter = (props.filter ?? '').toLowerCase();
  const wanted = useMemo(() => {
    if (!filter || remote) return rows;
    const texts = props.columns.filter(is_text);
    return rows.filter((row) => texts.some((column) => String(valueOf(column, row) ?? '').toLowerCase().includes(filter)));
  }, [rows, filter, props.columns, !!remote]);
  const shown = useMemo(() => (remote ? wanted : sorted(wanted, props.columns, sort)), [wanted, sort, props.columns, !!remote]);
  const length = remote ? remote.total : shown.length;

  const virtual = length > all_at_once;
  const sample = useMemo(() => rows.slice(0, 150).filter((row) => row !== undefined), [rows]);
  const texts = useMemo(() => columns.map((column) => sample.map((row) => wordsOf(column, row))), [columns, sample]);
  const layout: Layout = useMemo(() => layOut(columns, texts, width), [columns, texts, width]);
  const { row_height } = layout;
  const folded = layout.lines > 0;
  const height = props.high ? Math.max(320, innerHeight - 300) : Math.min(560, Math.max(300, innerHeight * 0.55));
  const first = virtual ? Math.max(0, Math.floor(top / row_height) - 8) : 0;
  const last = virtual ? Math.min(length, Math.ceil((top + height) / row_height) + 8) : length;
  useEffect(() => { if (remote && last > first) remote.need(first, last); });

  const template = folded ? `repeat(${layout.per_line}, minmax(0, 1fr))` : layout.widths.map((each) => `${each}px`).join(' ');
  const isTwoLines = (column: Column<R>) => !virtual && !folded && (column.kind === 'type' || column.kind === 'text');
  const lettersOf = (index: number) => {
    const column = columns[index]!;
    if (column.wraps && !virtual && !folded) return 4000;
    const room = !folded ? layout.widths[index]! : index === layout.lead ? width - 34 : width / layout.per_line - 20 - widthOf(column.title) * 0.92;
    return Math.max(8, Math.floor((room - 4) / layout.letters[index]!) * (isTwoLines(column) ? 2 : 1));
  };
  const visible = shown.slice(first, last);
  // Names of one column lose what they have alike before they lose what tells them apart.
  const shorts = columns.map((column, index) => {
    if (column.kind !== 'type' && column.kind !== 'text') return null;
    const all = visible.flatMap((row) => { const value = row === undefined ? null : valueOf(column, row); return typeof value === 'string' ? [value] : []; });
    const most = lettersOf(index);
    return all.some((text) => text.length > most) ? apart(all, most - 3, column.kind === 'type' ? typeShortened : column.method ? methodShortened : undefined) : null;
  });
  const place = `${location.hash.split('?')[0]} ${label}`;
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = scrolled.get(place);
    if (element && virtual && before && !filter) element.scrollTop = before;
  }, [place, virtual]);
  useEffect(() => {
    setActive(0);
    if (scroller.current && (filter || !is_new.current)) scroller.current.scrollTop = 0; // another order begins at its top
    is_new.current = false;
  }, [filter, sort]);
  useLayoutEffect(() => {
    if (!focus_wanted.current) return;
    focus_wanted.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)?.focus({ preventScroll: true });
  });

  function move(to: number) {
    const row = Math.max(0, Math.min(length - 1, to));
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
    else if (event.key === 'End') move(length - 1);
    else if (event.key === 'Enter' && (event.target as HTMLElement).dataset.row !== undefined) {
      const row = shown[active];
      const address = row && href?.(row);
      if (address) location.hash = address;
    } else return;
    event.preventDefault();
  }
  function asked(event: MouseEvent, row: R) {
    const choices = props.menu?.(row) ?? [];
    if (choices.length) openMenu(event, choices);
  }
  const all = remote ? remote.all : rows.length;
  const found = filter ? `${format.count(length)} of ${all === null ? 'more rows' : format.counted(all, 'row')}` : all === null ? `More than ${format.counted(length, 'row')}` : format.counted(all, 'row');

  return (
    <div class="table-frame" ref={frame}>
      {(props.onFilter || props.tools || props.counts) && (
        <div class="tools">
          {props.onFilter && (
            <input class="filter" type="search" value={props.filter ?? ''} placeholder={props.filterHint ?? 'Filter'} aria-label={`Filter: ${label}`}
              spellcheck={false} onInput={(event) => props.onFilter!((event.target as HTMLInputElement).value)} />
          )}
          {props.tools}
          <span class="found" role="status">{found}</span>
        </div>
      )}
      {columns.length > 0 && <div class={`grid ${virtual ? 'virtual' : ''} ${folded ? 'folded' : ''}`} role="grid" aria-label={label} aria-rowcount={length + 1} aria-colcount={columns.length} onKeyDown={pressed}>
        <div role="rowgroup" class="grid-head">
          <div role="row" aria-rowindex={1} class="grid-row" style={folded ? undefined : { gridTemplateColumns: template }}>
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
        <div role="rowgroup" class="grid-body" ref={scroller} style={{ height: virtual ? `${height}px` : '' }}
          tabIndex={virtual ? 0 : undefined}
          onScroll={() => {
            const y = scroller.current!.scrollTop;
            scrolled.set(place, y);
            setTop(y);
          }}>
          {virtual && <div class="spacer" role="presentation" style={{ height: `${first * row_height}px` }} />}
          {Array.from({ length: last - first }, (_, offset) => {
            const index = first + offset;
            const row = shown[index];
            return (
              <div key={index} role="row" aria-rowindex={index + 2} class="grid-row" data-row={index} style={{ gridTemplateColumns: template, height: virtual || folded ? `${row_height}px` : undefined }}
                tabIndex={index === active ? 0 : -1}
                onFocus={(event) => { if (event.target === event.currentTarget) setActive(index); }}
                onContextMenu={row === undefined || !props.menu ? undefined : (event) => asked(event, row)}
                onDblClick={() => { const address = row !== undefined && href?.(row); if (address) location.hash = address; }}>
                {row === undefined ? <div role="gridcell" class="cell muted">…</div> : columns.map((column, at) => (
                  <div key={column.key} role="gridcell" class={`cell ${is_text(column) || folded ? '' : 'right'} ${folded && at === layout.lead ? 'lead' : ''} ${isTwoLines(column) ? 'wraps' : ''}`}>
                    {folded && at !== layout.lead && <span class="cell-title" aria-hidden="true">{column.title} </span>}
                    <Short.Provider value={shorts[at] ?? null}><Breaks.Provider value={isTwoLines(column)}><Cell column={column} row={row} letters={lettersOf(at)} /></Breaks.Provider></Short.Provider>
                  </div>
                ))}
              </div>
            );
          })}
          {virtual && <div class="spacer" role="presentation" style={{ height: `${(length - last) * row_height}px` }} />}
        </div>
      </div>}
      {length === 0 && <p class="empty">{filter ? 'Nothing has that in its name.' : props.empty ?? 'There is none.'}</p>}
      {props.total && <p class="total">{props.total}</p>}
    </div>
  );
}
