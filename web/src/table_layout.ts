// Where a table's columns stand: as wide as what is in them; names give way where the window is narrow, the widest first;
// where even that is not enough, a row becomes several lines. No column ever stands off the screen.
import type { Column } from './table';

// Widths of texts, in the font that the system has.
const pen = document.createElement('canvas').getContext('2d');
if (pen) pen.font = `14px ${getComputedStyle(document.documentElement).fontFamily}`;
const usual = 'System.Collections.Generic.List<Shop.Order>';
export const widthOf = (text: string): number => (pen ? pen.measureText(text).width : text.length * 7.5);
export const letter = widthOf(usual) / usual.length;

export const column_gap = 14;
const edges = 22; // of a row, and the line of a scroll bar
const fold_line = 26;

export interface Layout {
  widths: number[]; // of columns; empty: folded
  letters: number[]; // of each column: how wide one is
  lines: number; // of a folded row, besides its first
  per_line: number;
  lead: number; // the column on the first line of a folded row
  row_height: number;
}

export const plain_height = 28;
const is_name = (column: Column<any>) => column.kind === 'type' || column.kind === 'text';

interface Measured {
  width: number; // of the longest text
  letter: number;
}

// Only the longest texts are drawn; others are no wider.
function measured(texts: string[]): Measured {
  const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
  let width = 0;
  let wide = 0;
  for (const text of new Set(texts)) {
    if (text.length < longest * 0.75) continue;
    const each = widthOf(text.length > 400 ? text.slice(0, 400) : text);
    width = Math.max(width, each);
    wide = Math.max(wide, each / Math.max(1, Math.min(400, text.length)));
  }
  return { width, letter: wide || letter };
}

function wanted(column: Column<any>, { width }: Measured, narrow: boolean): number {
  const head = Math.ceil(widthOf(column.title)) + 20;
  switch (column.kind) {
    case 'share': return Math.max(narrow ? 92 : 112, Math.min(head, 150));
    case 'bar': return narrow ? 60 : 120;
    case 'address': return Math.max(Math.ceil(width * 0.96) + 12, head);
    case 'type': case 'text': return Math.max(Math.min(Math.ceil(width) + 8, column.wraps ? 900 : 560), Math.min(head, 190), column.show && !width ? 90 : 0);
    default: return Math.max(Math.ceil(width) + 8, head);
  }
}

function least(column: Column<any>, want: number, few: boolean): number {
  if (!is_name(column)) return want;
  return Math.min(want, Math.max(few ? 90 : column.wraps ? 230 : 140, Math.min(150, widthOf(column.title) + 20)));
}

// `texts`: of each column, what its cells say.
export function layOut(columns: Column<any>[], texts: string[][], width: number): Layout {
  const narrow = width > 0 && width < 620;
  const measures = columns.map((_, index) => measured(texts[index] ?? []));
  const letters = measures.map((each) => each.letter);
  const wants = columns.map((column, index) => wanted(column, measures[index]!, narrow));
  const leasts = columns.map((column, index) => least(column, wants[index]!, columns.length < 4));
  const room = width - edges - (columns.length - 1) * column_gap;
  const sum = (all: number[]) => all.reduce((total, each) => total + each, 0);
  if (width > 0 && sum(leasts) > room && columns.length > 1) {
    const per_line = Math.max(1, Math.min(columns.length - 1, Math.floor((width - edges) / 176)));
    const lines = Math.ceil((columns.length - 1) / per_line);
    return { widths: [], letters, lines, per_line, lead: Math.max(0, columns.findIndex(is_name)), row_height: plain_height + lines * fold_line + 4 };
  }
  let over = sum(wants) - room;
  while (width > 0 && over > 0.5) {
    const widest = wants.reduce((best, each, index) => (each > leasts[index]! && (best < 0 || each > wants[best]!) ? index : best), -1);
    if (widest < 0) break;
    const next = Math.max(leasts[widest]!, ...wants.filter((each, index) => index !== widest && each < wants[widest]! && each > leasts[index]!), wants[widest]! - over);
    const cut = Math.max(1, Math.min(over, wants[widest]! - next, 24));
    wants[widest]! -= cut;
    over -= cut;
  }
  // What is left over goes to the names that share it by their `grow`.
  const grows = columns.map((column) => (is_name(column) && column.grow ? column.grow : 0));
  const all = sum(grows);
  if (over < 0 && all > 0) grows.forEach((each, index) => { wants[index]! += (-over * each) / all; });
  return { widths: wants.map((each) => Math.floor(each)), letters, lines: 0, per_line: 0, lead: 0, row_height: plain_height };
}
