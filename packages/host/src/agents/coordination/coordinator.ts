/**
 * The performer of `cairn.coordinator`: puts the question of a child run to an agent of a run above. Errors
 * and a time limit count as `forward`, so that the question reaches a person.
 */
import { foldEventOf, isJsonObject, type Json, type PayloadOf, parseRunId } from '@cairn/protocol';
import type { CoordinatorOutcome, CoordinatorRequest } from '../../engine/coordination/route-questions.ts';
import { COORDINATOR_PERFORMER } from '../../engine/performer-ids.ts';
import type { AgentDefinition, AgentSource, CallContext, Clock, Performer } from '../../engine/ports.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import type { OnInputRequired } from './input-required.ts';
import { type SideTurnPorts, sideTurn } from './side-turn.ts';

export interface CoordinatorPorts extends Omit<SideTurnPorts, 'log'> {
  readonly log: Pick<EventLog, 'head' | 'read'>;
  readonly clock: Clock;
  readonly agents: Pick<AgentSource, 'definition'>;
  /** The function of an agent of the host's code. */
  readonly hookOf: (agentId: string, definition: AgentDefinition) => OnInputRequired | undefined;
  /** How long an agent may take. 0: people are asked at once. */
  readonly timeoutMs: number;
}

const forward: CoordinatorOutcome = { forward: true };

export const createCoordinatorPerformer = (ports: CoordinatorPorts): Performer<CoordinatorRequest> => ({
  typeId: COORDINATOR_PERFORMER,
  // The agent above sees the references to sensitive values of the run below, not the values.
  keepsSealed: true,
  run: (request, context) => limited(request, context, ports),
});

async function limited(request: CoordinatorRequest, context: CallContext, ports: CoordinatorPorts): Promise<Json> {
  const { clock, timeoutMs } = ports;
  if (timeoutMs === 0) return forward;
  const late = new AbortController();
  const { promise: over, resolve: end } = Promise.withResolvers<CoordinatorOutcome>();
  const stop = () => {
    end(forward);
    late.abort();
  };
  const callOff = clock.wakeAt(clock.now() + timeoutMs, stop);
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const asked = outcomeOf(request, { context, ports, signal: late.signal }).catch(() => forward);
    return await Promise.race([asked, over]);
  } finally {
    callOff();
    context.signal.removeEventListener('abort', stop);
    late.abort();
  }
}

interface Asking {
  readonly context: CallContext;
  readonly ports: CoordinatorPorts;
  readonly signal: AbortSignal;
}

async function outcomeOf(request: CoordinatorRequest, asking: Asking): Promise<CoordinatorOutcome> {
  const { ports, context, signal } = asking;
  const above = await runAbove(request, context, ports);
  const pin = above?.started.agents?.[request.agentId];
  if (above === null || pin === undefined) return forward;
  const definition = await ports.agents.definition(pin.hash);
  const hook = ports.hookOf(request.agentId, definition);
  if (hook !== undefined) return answered(request, await hook(inputOf(request, signal)));
  const { answer, usage } = await sideTurn(ports, { request, context, definition, ...above, signal });
  const paid = usage === null ? {} : { usage };
  return answer === undefined ? { ...forward, ...paid } : { answer: { answers: answer }, ...paid };
}

/** The run above, if it goes on and is of the same tenant. */
async function runAbove(
  { runId: text }: CoordinatorRequest,
  { tenant }: CallContext,
  { log }: CoordinatorPorts,
): Promise<{ readonly head: RunHead; readonly started: PayloadOf<'run.started'> } | null> {
  const runId = parseRunId(text);
  const head = runId === null ? null : await log.head(runId);
  if (runId === null || head === null || head.record.tenant !== tenant || head.record.endedAt !== null) return null;
  const [first] = await log.read({ runId, after: -1, limit: 1 });
  const event = first === undefined ? null : foldEventOf(first);
  return event?.type === 'run.started' ? { head, started: event.payload } : null;
}

const inputOf = ({ inputId, taskId, askedBy, prompt, questions, runId }: CoordinatorRequest, signal: AbortSignal) => ({
  inputId,
  taskId,
  askedBy,
  parentTaskId: runId,
  prompt,
  questions: questions.map(({ id, question, schema }) => ({
    id: String(id),
    question: String(question),
    ...(isJsonObject(schema) && { schema }),
  })),
  signal,
});

/** A single question takes the bare answer, as from the user. */
function answered({ questions }: CoordinatorRequest, verdict: unknown): CoordinatorOutcome {
  if (typeof verdict !== 'object' || verdict === null || !('answer' in verdict)) return forward;
  const answer = verdict.answer as Json;
  if (isJsonObject(answer) && answer.answers !== undefined) return { answer };
  const [only, ...others] = questions;
  return typeof only?.id === 'string' && others.length === 0 ? { answer: { answers: { [only.id]: answer } } } : forward;
}
