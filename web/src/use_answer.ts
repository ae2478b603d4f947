// An answer for a view. What the server cannot say yet (503) is asked again when it has come further.
import { useEffect, useState } from 'preact/hooks';
import type { Answer } from './answers';
import { useServerState } from './server_state';
import { address, ask, Failure, known, type Parameters } from './source';

export interface Asked<T> {
  data: T | null;
  error: Failure | null;
  loading: boolean;
}

export function useAnswer<T = any>(path: string | null, parameters?: Parameters): Asked<T> {
  const key = path === null ? null : address(path, parameters);
  const stage = useServerState().state?.stage;
  const [held, set] = useState<{ key: string | null; asked: Asked<T> }>({ key: null, asked: { data: null, error: null, loading: true } });
  const early = held.key === key && held.asked.error?.isEarly ? stage : '';
  useEffect(() => {
    if (path === null || key === null) return;
    let wanted = true;
    ask(path, parameters).then(
      (data) => wanted && set({ key, asked: { data, error: null, loading: false } }),
      (error) => wanted && set({ key, asked: { data: null, error: error instanceof Failure ? error : new Failure(500, String(error)), loading: false } }),
    );
    return () => {
      wanted = false;
    };
  }, [key, early]);
  if (path === null) return { data: null, error: null, loading: false };
  if (held.key === key) return held.asked;
  const at_hand = known(path, parameters);
  return { data: at_hand ?? null, error: null, loading: !at_hand };
}

export function useVerb(verb: string | null, parameters?: Parameters): Asked<Answer> {
  return useAnswer<Answer>(verb === null ? null : `api/ask/${verb}`, parameters);
}
