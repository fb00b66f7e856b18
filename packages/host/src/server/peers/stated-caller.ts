/** Reads a caller's statement of the run that causes its call. It counts only for the host that the caller's key is for. */
import { type CallBudget, type Causation, callBudget, causation, parseShape, type RemoteCause } from '@cairn/protocol';
import type { RemoteCaller } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import type { Caller } from '../access/auth.ts';

export interface Statement {
  /** As it came, of any shape; undefined when the caller made none. */
  readonly stated: unknown;
  readonly cause: RemoteCause;
}

/** What the caller lets the run of its call use; any caller may limit a run of its own. Throws `validation_error` as below. */
export const statedBudget = (stated: unknown): CallBudget | undefined =>
  stated === undefined ? undefined : parseShape(callBudget, stated, 'The budget');

/** Undefined for a call that nothing on another host causes. Throws `validation_error` for a malformed statement. */
export function statedCaller(
  { tenant, principal, peer }: Pick<Caller, 'tenant' | 'principal' | 'peer'>,
  { stated, cause }: Statement,
  report: Report,
): RemoteCaller | undefined {
  if (stated === undefined) return undefined;
  const statement = parseShape(causation, stated, 'The causation');
  if (statement.hostId !== peer) {
    report({ level: 'warn', event: 'causation.ignored', facts: { tenant, principal, hostId: statement.hostId } });
    return undefined;
  }
  return remoteCaller(statement, cause);
}

const remoteCaller = (
  { runId, hostId, eventId, wellKnownUrl, agentId, depth = 1 }: Causation,
  cause: RemoteCause,
): RemoteCaller => ({
  parent: { runId, hostId, wellKnownUrl, cause, ...(agentId === undefined ? {} : { agentId }) },
  eventId,
  depth,
});
