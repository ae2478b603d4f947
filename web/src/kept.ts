// The one-file page's answers: a dictionary from address to JSON, deflated, in base64. What was asked with another number of
// rows is found as well, and nodes of the tree wherever a kept map has them.
import type { HeapNode, MapNode } from './answers';
import { address, Failure, type Parameters, type Source } from './source';

export const not_kept = 'This is not kept in this file; open the dump with: dnheap explore';

// How much is asked for, as opposed to what.
const amounts = new Set(['top', 'levels', 'least', 'count', 'from', 'values']);

function what(key: string): string {
  const [path = '', search = ''] = key.split('?');
  const pairs = search.split('&').filter((pair) => pair && !amounts.has(pair.split('=')[0] as string));
  return pairs.length ? `${path}?${pairs.join('&')}` : path;
}

function without(parameters: Parameters, name: string): Parameters {
  const { [name]: _, ...rest } = parameters;
  return rest;
}

async function inflated(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

// Of rows that were kept those that are asked for; the page lists no more than were kept.
function page(kept: any, parameters: Parameters): any {
  const from = Number(parameters.from ?? 0);
  return { ...kept, listed: kept.rows.length, rows: kept.rows.slice(from, from + Number(parameters.count)) };
}

function plain(node: MapNode): HeapNode {
  const { parts: _, rest: __, ...rest } = node;
  return rest;
}

export class Kept implements Source {
  readonly isKept = true;
  private readonly similar = new Map<string, any>();
  private readonly nodes = new Map<string, { node: MapNode; above: HeapNode[] }>();

  private constructor(private readonly answers: Record<string, any>) {
    for (const [key, answer] of Object.entries(answers)) {
      this.similar.set(what(key), answer);
      if (key.startsWith('api/map')) this.collect(answer, []);
    }
  }

  static async open(base64: string): Promise<Kept> {
    return new Kept(JSON.parse(await inflated(base64)));
  }

  private collect(node: MapNode, above: HeapNode[]): void {
    const known = this.nodes.get(node.at);
    if (!known || (node.parts && !known.node.parts)) this.nodes.set(node.at, { node, above });
    const here = [...above, plain(node)];
    for (const part of node.parts ?? []) this.collect(part, here);
  }

  async get(path: string, parameters: Parameters = {}): Promise<any> {
    const exact = this.answers[address(path, parameters)] ?? this.similar.get(what(address(path, parameters)));
    if (exact !== undefined) return path.startsWith('api/ask/') || !Array.isArray(exact.rows) || parameters.count === undefined ? exact : page(exact, parameters);
    if (path.startsWith('api/ask/') && parameters.table) {
      const all = this.similar.get(what(address(path, without(parameters, 'table'))));
      if (all?.tables?.[String(parameters.table)]) return all;
    }
    if (path.startsWith('api/tables/') && parameters.table) {
      const all = this.similar.get(what(address(path, without(parameters, 'table'))));
      const tables = (all?.tables ?? []).filter((table: { name: string }) => table.name === parameters.table);
      if (tables.length) return { ...all, tables };
    }
    const found = this.nodes.get(String(parameters.at ?? 'root'));
    if (found && path === 'api/map' && found.node.parts) return found.node;
    if (found && path === 'api/above') return { rows: [...found.above, plain(found.node)] };
    if (found && path === 'api/object' && found.node.kind === 'object')
      return { ...plain(found.node), size: found.node.self, delegate: null, elements: null, entries: null, capacity: null, references: null, referrers: null, value: null };
    if (found && path === 'api/children' && found.node.parts) {
      const from = Number(parameters.from ?? 0);
      const rows = found.node.parts.map(plain);
      return { total: rows.length, rows: rows.slice(from, from + Number(parameters.count ?? 100)), left_out: found.node.rest?.count ?? 0 };
    }
    if (path === 'api/find') return this.find(String(parameters.text ?? ''));
    throw new Failure(410, not_kept);
  }

  private find(text: string): any {
    const wanted = text.toLowerCase();
    const rows: any[] = (this.similar.get('api/ask/stat') ?? this.similar.get('api/ask/stat?by=retained'))?.tables?.types ?? [];
    const types = rows
      .filter((row) => row.type.toLowerCase().includes(wanted))
      .slice(0, 50)
      .map((row) => ({ name: row.type, objects: row.count, bytes: row.aligned_bytes }));
    const found = this.nodes.get(wanted.startsWith('0x') ? wanted : `0x${wanted}`);
    return { types, objects: found ? [plain(found.node)] : [] };
  }
}
