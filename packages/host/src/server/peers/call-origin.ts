/** What the host says to other hosts about the run that causes a call. */
import { type Causation, eventId, type RunId } from '@cairn/protocol';

/** What the host knows of itself and of the call in progress. */
export interface CallOrigin {
  readonly hostId: string;
  /** Null before the host serves, and without HTTP: there is then no address to find the cause at. */
  readonly baseUrl: () => string | null;
  /** How many runs are above a run, here and on other hosts. */
  readonly depthOf: (runId: RunId) => Promise<number>;
  readonly traceHeaders: () => Promise<Readonly<Record<string, string>>>;
  /** Whether one of the hosts that the configuration knows is at the address. Only those hear of budgets. */
  readonly isKnownHost: (url: string) => boolean;
}

/** The call, by the row that requested it. */
export interface CallCause {
  readonly runId: RunId;
  readonly requestedSeq: number;
  readonly agentId: string;
}

export async function causeOf(
  { runId, requestedSeq, agentId }: CallCause,
  { hostId, baseUrl, depthOf }: Pick<CallOrigin, 'hostId' | 'baseUrl' | 'depthOf'>,
): Promise<Causation | null> {
  const base = baseUrl();
  if (base === null) return null;
  const wellKnownUrl = `${base}/.well-known/openwop`;
  const depth = (await depthOf(runId)) + 1;
  return { runId, hostId, eventId: eventId(runId, requestedSeq), wellKnownUrl, agentId, depth };
}
