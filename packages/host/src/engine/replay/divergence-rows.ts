/** The rows by which a replay says that it has left the record. */
import { eventId, eventOf, type Json, type RunId, row } from '@cairn/protocol';
import type { Draft, RunError } from '../core/state.ts';
import { recordedBy } from '../fork/recorded-by.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { type Divergence, payloadOf, recordedEvent } from './recorded-row.ts';

/** A model's turn as the record and the present code read it: as an answer or as a refusal. */
export interface RefusalFlip {
  readonly original: 'valid' | 'refusal';
  readonly replay: 'valid' | 'refusal';
}

/** Returns null unless exactly one side ends the work of a node because the model refused. */
export function refusalFlip({ recorded, present }: Divergence, workflow: Workflow): RefusalFlip | null {
  if (recorded === null || present === null || recorded.nodeId !== (present.nodeId ?? null)) return null;
  const calls = recordedBy(workflow, recorded.nodeId);
  if (calls === undefined) return null;
  const original = calls.isRefusal(recordedEvent(recorded, payloadOf(recorded)));
  const replay = calls.isRefusal(eventOf(present, recorded.seq, recorded.at));
  if (original === replay) return null;
  return { original: original ? 'refusal' : 'valid', replay: replay ? 'refusal' : 'valid' };
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/** Holds nothing of the fork itself: all replays of a run say the same. */
export function divergedRow(sourceRunId: RunId, { seq, kind, recorded, present }: Divergence): Draft {
  const point = recorded?.type ?? present?.type;
  const payload = {
    sourceRunId,
    atSequence: seq,
    ...(recorded === null ? {} : { originalEventId: eventId(sourceRunId, seq) }),
    divergenceKind: kind,
    ...(point === undefined ? {} : { divergencePoint: point }),
  };
  return row('replay.diverged', payload, { cause: seq === 0 ? undefined : seq - 1 });
}

export function divergedAtRefusalRow(
  sourceRunId: RunId,
  { seq, recorded, present }: Divergence,
  { original, replay }: RefusalFlip,
): Draft {
  const nodeId = recorded?.nodeId ?? undefined;
  const reason = messageOf(original === 'refusal' ? recorded && payloadOf(recorded) : present?.payload);
  const payload = {
    sourceRunId,
    atSequence: seq,
    originalEnvelopeKind: original,
    replayEnvelopeKind: replay,
    ...(nodeId === undefined ? {} : { nodeId }),
    originalEventId: eventId(sourceRunId, seq),
    ...(reason === null ? {} : { refusalReason: reason }),
  };
  return row('replay.divergedAtRefusal', payload, { nodeId, cause: seq === 0 ? undefined : seq - 1 });
}

function messageOf(payload: object | null | undefined): string | null {
  const message = fieldOf(fieldOf(payload, 'error'), 'message');
  return typeof message === 'string' ? message : null;
}

export function refusalError({ seq, recorded }: Divergence, { original, replay }: RefusalFlip): RunError {
  const nodeId = recorded?.nodeId ?? null;
  const details: Record<string, Json> = {
    atSequence: seq,
    ...(nodeId === null ? {} : { nodeId }),
    originalEnvelopeKind: original,
    replayEnvelopeKind: replay,
  };
  const message = `Event ${seq} of the record is ${original === 'refusal' ? 'a refusal' : 'valid'}, and the present code makes it ${replay === 'refusal' ? 'a refusal' : 'valid'}.`;
  return { code: 'replay_diverged_at_refusal', message, retryable: false, details };
}
