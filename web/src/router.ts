// Every view has an address behind the #: #/types?sort=retained&filter=Order, #/object/0x7f…. Back and forward are the browser's.
import { useEffect, useState } from 'preact/hooks';

export type Query = Record<string, string>;

export interface Route {
  view: string; // "" is the overview
  subject: string; // what stands behind the view: an address, a verb
  query: Query;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text; // somebody typed a lone %
  }
}

export function parse(hash: string): Route {
  const [path = '', search = ''] = split(hash.replace(/^#\/?/, ''));
  const [view = '', ...rest] = path.split('/');
  const query: Query = {};
  for (const pair of search.split('&')) {
    const [key = '', value = ''] = split(pair, '=');
    if (key) query[decoded(key)] = decoded(value);
  }
  return { view: decoded(view), subject: decoded(rest.join('/')), query };
}

function split(text: string, at = '?'): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

export function href(view: string, subject = '', query: Record<string, string | number | null | undefined | false> = {}): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  return `#/${encodeURIComponent(view)}${subject ? `/${encodeURIComponent(subject)}` : ''}${pairs.length ? `?${pairs.join('&')}` : ''}`;
}

export const to = {
  object: (address: string) => href('object', address),
  type: (name: string) => href('instances', '', { type: name }),
  paths: (subject: string) => href('paths', '', { of: subject }),
  owner: (name: string) => href('owner', '', { name }),
  map: (at: string) => href('map', '', { at: at === 'root' ? '' : at }),
  verb: (name: string, subject?: string) => href('ask', name, { subject }),
};

const listeners = new Set<() => void>();

export function current(): Route {
  return parse(location.hash);
}

// Opens another view; `instead`: back does not return to this one.
export function go(address: string, instead = false): void {
  if (instead) {
    history.replaceState(history.state, '', address);
    for (const each of listeners) each();
  } else {
    location.hash = address;
  }
}

// Changes parts of this view's own address: sorting and filters are no steps to go back over.
export function change(query: Record<string, string | number | null | undefined | false>): void {
  const { view, subject, query: old } = current();
  go(href(view, subject, { ...old, ...query }), true);
}

export function useRoute(): Route {
  const [route, set] = useState(current);
  useEffect(() => {
    const changed = () => set(current());
    addEventListener('hashchange', changed);
    listeners.add(changed);
    return () => {
      removeEventListener('hashchange', changed);
      listeners.delete(changed);
    };
  }, []);
  return route;
}
