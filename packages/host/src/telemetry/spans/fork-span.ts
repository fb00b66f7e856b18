/** The run span of a fork: its attributes, and the link to the run span of its source. */
import type { RunRecord } from '../../log/ports/run-index.ts';
import { derivedTraceId, spanIdOf } from '../trace-context.ts';
import type { Attributes, SpanLink } from './span-model.ts';

/** What a run's record says of its fork. */
export type Lineage = Pick<RunRecord, 'fork' | 'originRunId' | 'createdAt'>;

export interface ForkSpan {
  readonly link: SpanLink;
  readonly attributes: Attributes;
  /** Its span begins no earlier. The rows that a branch shares are older; a replay has the recorded times. */
  readonly notBefore: number;
}

/** Null for a run that is no fork. `traceId` is the trace that the shared first row names. */
export function forkSpan({ fork, originRunId, createdAt }: Lineage, traceId: string | undefined): ForkSpan | null {
  if (fork === null) return null;
  const { sourceRunId, fromSeq, mode } = fork;
  // A source that is itself a fork has a trace of its own.
  const ofSource = (originRunId === sourceRunId ? traceId : undefined) ?? derivedTraceId(sourceRunId);
  return {
    link: { traceId: ofSource, spanId: spanIdOf(sourceRunId, 0, 'main') },
    attributes: {
      'openwop.replay.source_run_id': sourceRunId,
      'openwop.replay.from_seq': fromSeq,
      'openwop.replay.mode': mode,
    },
    notBefore: mode === 'replay' ? 0 : createdAt,
  };
}
