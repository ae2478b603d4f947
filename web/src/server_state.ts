// How far the server has come: asked twice a second until everything is there.
import { useEffect, useState } from 'preact/hooks';
import { type ServerState, type Stage, stages } from './answers';
import { askAfresh, Failure } from './source';

let latest: ServerState | null = null;
let gone: Failure | null = null;
const listeners = new Set<() => void>();

function tell(): void {
  for (const each of [...listeners]) each();
}

export async function watchState(): Promise<void> {
  for (;;) {
    try {
      latest = await askAfresh('api/state');
      gone = null;
    } catch (error) {
      gone = error instanceof Failure ? error : new Failure(0, String(error));
    }
    tell();
    if (latest && !gone && (latest.stage === 'ready' || latest.stage === 'failed')) return;
    await new Promise((resolve) => setTimeout(resolve, gone ? 2000 : 500));
  }
}

export function reached(stage: Stage, wanted: Stage): boolean {
  return stages.indexOf(stage as any) >= stages.indexOf(wanted as any);
}

export function useServerState(): { state: ServerState | null; gone: Failure | null } {
  const [, again] = useState(0);
  useEffect(() => {
    const changed = () => again((n) => n + 1);
    listeners.add(changed);
    changed();
    return () => void listeners.delete(changed);
  }, []);
  return { state: latest, gone };
}
