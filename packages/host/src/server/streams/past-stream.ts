/** A stream of the past: the events of a run up to one of them, or the state after it; then it ends. */
import type { StreamMode } from '@cairn/protocol';
import type { FairTurns } from '../../fair-turns.ts';
import { type Form, rendered } from '../../log/feed/lens.ts';
import type { Chunk, Sink, Subscription } from '../../log/feed/sink.ts';
import { type Source, Subscriber } from '../../log/feed/subscriber.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import { renderedInTurns } from '../http/json-pieces.ts';
import type { OpenSnapshots } from '../runs/open-snapshots.ts';
import type { PastRuns } from '../runs/past-runs.ts';
import { stateChunk, stateDocument } from './followed-state.ts';
import { lensOf } from './stream-lens.ts';

export interface PastStreamPorts {
  readonly log: EventLog;
  readonly past: PastRuns;
  readonly openSnapshots: Pick<OpenSnapshots, 'inTurn'>;
  /** Large states are rendered in turns with other work, tenant by tenant. */
  readonly turns: FairTurns;
}

export interface PastRange {
  readonly head: RunHead;
  /** The last event to show. */
  readonly atSeq: number;
  /** The last event that the client has; -1 for none. */
  readonly after: number;
  readonly audience: 'client' | undefined;
  readonly modes: ReadonlySet<StreamMode>;
  readonly form: Form;
}

/** What is read and rendered in one turn of the event loop. */
const PAGE = { limit: 500, maxBytes: 262_144 };

export function subscribePast(range: PastRange, ports: PastStreamPorts, sink: Sink): Subscription {
  const subscriber = new Subscriber(sink);
  subscriber.begin(range.modes.has('values') ? pastState(range, ports) : pastRows(range, ports));
  subscriber.pump();
  return subscriber;
}

/** A source that only reads: nothing new can come. */
const reading = (page: () => Promise<Chunk>): Source => ({ isBehind: true, next: () => null, page });

function pastRows({ head, atSeq, after, audience, modes, form }: PastRange, { log }: PastStreamPorts): Source {
  const { runId } = head.record;
  const lens = lensOf(modes, form);
  let last = after;
  return reading(async () => {
    const limit = Math.min(PAGE.limit, Math.max(0, atSeq - last));
    const page = limit === 0 ? [] : await log.read({ ...PAGE, runId, after: last, limit, audience, isForFrames: true });
    // A page without operator rows may reach beyond the range.
    const rows = page.filter(({ seq }) => seq <= atSeq);
    last = page.at(-1)?.seq ?? atSeq;
    return { ...rendered(rows, lens, ({ seq }) => seq), isLast: last >= atSeq };
  });
}

/** The state of a large run is rendered piece by piece. */
function pastState({ head, atSeq, form }: PastRange, { past, turns, openSnapshots }: PastStreamPorts): Source {
  const { tenant } = head.record;
  return reading(async () => {
    // The text that waits for the client is counted; states that wait to be rendered would not be.
    const parts = await openSnapshots.inTurn(tenant, async () => {
      const { view, snapshot } = await past.at(head, atSeq);
      return renderedInTurns(stateDocument(view, snapshot), { owner: tenant, turns });
    });
    const chunk = stateChunk([{ seq: atSeq, parts, size: 0, urgent: true, isLast: true }], form);
    return chunk ?? { text: '', upTo: atSeq, urgent: true, isLast: true };
  });
}
