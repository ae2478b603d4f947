// Where answers come from: the dnheap that served this page, or what the page itself holds (dnheap report --html).
import { Kept } from './kept';

export type Parameters = Record<string, string | number | boolean | null | undefined>;

export class Failure extends Error {
  constructor(
    readonly status: number, // of HTTP; 0: nobody answered
    message: string,
  ) {
    super(message);
  }
  get isEarly() { return this.status === 503; }
  get isGone() { return this.status === 0; }
  get isNotKept() { return this.status === 410; }
}

export interface Source {
  readonly isKept: boolean;
  get(path: string, parameters?: Parameters): Promise<any>;
}

// "api/ask/stat?by=retained&top=0": parameters by name, so that a question has one spelling.
export function address(path: string, parameters: Parameters = {}): string {
  const pairs = Object.entries(parameters)
    .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value === true ? '1' : String(value))}`);
  return pairs.length ? `${path}?${pairs.join('&')}` : path;
}

class Live implements Source {
  readonly isKept = false;
  async get(path: string, parameters?: Parameters): Promise<any> {
    let response: Response;
    try {
      response = await fetch(address(path, parameters), { credentials: 'same-origin', redirect: 'error' });
    } catch {
      throw new Failure(0, 'dnheap does not answer: it has ended, or was stopped.');
    }
    let body: any = null;
    try {
      body = await response.json();
    } catch {
      if (response.ok) throw new Failure(500, 'the answer was cut off');
    }
    if (!response.ok) throw new Failure(response.status, body?.error ?? `HTTP ${response.status}`);
    return body;
  }
}

const remembered = new Map<string, any>(); // answers, latest last: going back is instant
const under_way = new Map<string, Promise<any>>();
const most_remembered = 80;

let source: Source = new Live();

export async function openSource(): Promise<Source> {
  const element = document.getElementById('kept');
  if (element) source = await Kept.open(element.textContent ?? '');
  return source;
}

export function isKept(): boolean {
  return source.isKept;
}

// Answers do not change: neither does a dump.
export function ask(path: string, parameters?: Parameters): Promise<any> {
  const key = address(path, parameters);
  const running = under_way.get(key);
  if (running) return running;
  const promise = source.get(path, parameters).then(
    (answer) => {
      under_way.delete(key);
      remembered.set(key, answer);
      if (remembered.size > most_remembered) remembered.delete(remembered.keys().next().value as string);
      return answer;
    },
    (error) => {
      under_way.delete(key);
      throw error;
    },
  );
  under_way.set(key, promise);
  return promise;
}

export function known(path: string, parameters?: Parameters): any {
  return remembered.get(address(path, parameters));
}

export function askAfresh(path: string): Promise<any> {
  return source.get(path);
}
