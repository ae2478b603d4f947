// Any question that dnheap can answer, as its text has it: the same tables, columns and words.
import { baseName, sentence, title } from '../format';
import { type Route } from '../router';
import { useServerState } from '../server_state';
import { ShownAnswer } from '../shown_table';
import { isKept } from '../source';
import { useTables } from '../tables';
import { Inspectors } from './inspectors';
import { Locks } from './locks';

export const verbTitles: Record<string, string> = {
  frag: 'Fragmentation', gc: 'What the GC says of itself', verify: 'Soundness', info: 'The dump', handles: 'GC handles', account: 'Account of the memory', strings: 'Strings', exceptions: 'Exceptions', roots: 'Roots', locks: 'Locks',
};

export function VerbView({ route }: { route: Route }) {
  if (route.subject === 'inspect') return <Inspectors route={route} />;
  if (route.subject === 'locks') return <Locks />;
  return <AnyVerb route={route} />;
}

export function useVerbQuestion(name: string): string {
  const { state } = useServerState();
  return sentence(state?.verbs.find((each) => each.name === name)?.question ?? '');
}

function AnyVerb({ route }: { route: Route }) {
  const name = route.subject;
  const { state } = useServerState();
  const verb = state?.verbs.find((each) => each.name === name);
  const parameters = { subject: route.query.subject, values: !!state?.values && !!verb?.takes.includes('values') };
  const asked = useTables(state ? name : null, parameters);
  const heading = verbTitles[name] ?? title(name);
  const question = useVerbQuestion(name);
  return (
    <>
      <h1 tabIndex={-1}>{heading}</h1>
      {question && <p class="note"><bdi>{question}</bdi></p>}
      {state && !state.values && !isKept() && verb?.takes.includes('values') && <p class="note">Contents are shown by: <code>dnheap explore <bdi>{baseName(state.file)}</bdi> --values</code></p>}
      <ShownAnswer verb={name} parameters={parameters} asked={asked} label={heading} />
    </>
  );
}
