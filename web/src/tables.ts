// Answers as the program's text has them: columns, headings and words come from the server, rows as they are to be seen.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Row } from './answers';
import { ask, isKept, type Parameters } from './source';
import { useServerState } from './server_state';
import { type Asked, useAnswer } from './use_answer';

export interface ShownColumn {
  key: string;
  title: string;
  kind: 'count' | 'bytes' | 'address' | 'text' | 'percent' | 'number' | 'boolean' | 'nested' | 'bytes_change' | 'count_change' | 'bar' | 'real';
  shown: 'everywhere' | 'in_text' | 'in_data';
  wraps: boolean;
}

export interface ShownTable {
  name: string;
  title: string;
  columns: ShownColumn[];
  count: number | null; // null: nobody counted them
  kept: number; // so many can be looked at
  notes: string[];
  total: (string | null)[] | null;
  rows: any[][];
}

export interface Shown {
  command: string;
  headline: string;
  lead: string[];
  next: string;
  complete: boolean;
  notes: string[];
  gaps: { start: string; bytes: number; reason: string }[];
  tables: ShownTable[];
}

export const page_rows = 200;

export function useTables(verb: string | null, parameters: Parameters = {}): Asked<Shown> {
  return useAnswer<Shown>(verb === null ? null : `api/tables/${verb}`, { ...parameters, count: page_rows });
}

export function rowOf(columns: ShownColumn[], cells: any[]): Row {
  const row: Row = {};
  columns.forEach((column, index) => { row[column.key] = cells[index]; });
  return row;
}

// All rows of a table, page by page. What is here whole is sorted and filtered here; `remote` is null then.
export function useRows(verb: string, parameters: Parameters, table: ShownTable, sort: string, filter: string) {
  const whole = table.rows.length >= table.kept || isKept();
  const own = useMemo(() => table.rows.map((cells) => rowOf(table.columns, cells)), [table]);
  const stage = useServerState().state?.stage; // an answer may be given up for another and be asked again
  const key = JSON.stringify([verb, parameters, table.name, sort, filter]);
  const latest = useRef(key);
  latest.current = key;
  const pages = useRef(new Map<number, 'asked' | 'here'>());
  const [held, set] = useState<{ key: string; total: number; rows: Row[] }>({ key: '', total: table.kept, rows: own });
  const plain = !sort && !filter;
  useEffect(() => {
    pages.current = new Map(plain ? [[0, 'here']] : []);
    if (plain) set({ key, total: table.kept, rows: own });
    else if (!whole) load(0);
  }, [key, own, stage]);
  function load(page: number) {
    if (pages.current.has(page)) return;
    pages.current.set(page, 'asked');
    const of = key;
    ask(`api/tables/${verb}`, { ...parameters, rows: table.name, order: sort, containing: filter, from: page * page_rows, count: page_rows }).then(
      (answer: { total: number; rows: any[][] }) => {
        if (latest.current !== of) return;
        pages.current.set(page, 'here');
        set((before) => {
          const rows = before.key === of ? before.rows.slice() : [];
          answer.rows.forEach((cells, index) => { rows[page * page_rows + index] = rowOf(table.columns, cells); });
          return { key: of, total: answer.total, rows };
        });
      },
      () => pages.current.delete(page),
    );
  }
  if (whole) return { rows: own, remote: undefined };
  const need = (first: number, last: number) => {
    if (held.key !== key) return;
    for (let page = Math.floor(first / page_rows); page <= Math.floor((last - 1) / page_rows); ++page) load(page);
  };
  return { rows: held.rows, remote: { total: held.total, all: table.count, need } };
}
