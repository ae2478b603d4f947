// What the server says, as far as the views look at it. Rows of tables are read by key: keys are only ever added.
export type Cell = string | number | boolean | null | undefined | object;
export type Row = Record<string, any>;

export interface Answer {
  command: string;
  target: Row;
  completeness: { objects: number; bytes: number; complete: boolean; notes: string[]; gaps: Row[] };
  tables: Record<string, Row[]>;
  left_out?: Record<string, number | null>; // rows that were not asked for, by table; null: nobody counted them
}

export interface VerbInfo {
  name: string;
  question: string;
  subject: string | null;
  subjects?: string[]; // all there are; none: any in the dump
  takes: string[];
  tables: string[];
}

export const stages = ['opening', 'counts', 'graph', 'tree', 'ways', 'dumps', 'ready'] as const;
export type Stage = (typeof stages)[number] | 'failed';

export interface ServerState {
  file: string;
  pid: number | null;
  runtime: string | null;
  values: boolean;
  stage: Stage;
  error: string | null;
  pass: { name: string; done: number; total: number } | null;
  objects: number | null;
  bytes: number | null;
  dumps?: number; // this one and those it is compared with
  verbs: VerbInfo[];
}

// A node of the dominator tree.
export interface HeapNode {
  at: string;
  kind: 'root' | 'owner' | 'object';
  name: string;
  type: string | null;
  owner_kind: string | null;
  rank: string | null;
  generation: string | null;
  self: number;
  retained: number;
  objects: number;
  children: number | null;
}

// Children that are too small for the map, as one; and, where the server says so, what they are.
export interface Rest {
  count: number;
  objects: number;
  bytes: number;
  kinds?: { type: string; count: number; objects: number; bytes: number }[];
}

export interface MapNode extends HeapNode {
  parts?: MapNode[];
  rest?: Rest | null;
}

export interface HeapObject extends HeapNode {
  size: number;
  delegate: string | null;
  elements: number | null; // of an array
  entries: number | null; // of a collection
  capacity: number | null;
  root_count?: number;
  roots?: { kind: string; name: string | null }[]; // that name this very object
  references: number;
  referrers: number;
  value: string | null;
}

// From the root down to a node. Of a long list's nodes the server leaves out those in the middle.
export interface Above {
  rows: HeapNode[];
  left_out?: number;
}

export interface Page<T> {
  total: number;
  listed?: number; // how many of them can be asked for; else all
  rows: T[];
}

export interface Edge {
  field: string;
  node: HeapNode;
}

export interface Way {
  owner: { name: string; kind: string; rank: string | null };
  steps: { field: string | null; node: HeapNode }[];
}

export interface Found {
  types: { name: string; objects: number; bytes: number }[];
  fields?: { type: string; field: string }[];
  objects: HeapNode[];
}
