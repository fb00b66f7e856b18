/** One agent run in the measured host. The log itself reports when each row became durable. */
import type { RunId } from '@cairn/protocol';
import type { Engine } from '../packages/host/src/engine/engine.ts';
import type { Commit } from '../packages/host/src/log/ports/event-log.ts';
import type { MeasuredStore } from './measured-store.ts';
import { machineMs } from './stream-pace.ts';

export interface AgentTimes {
  readonly events: number;
  /** Events visible to an ordinary client. */
  readonly clientEvents: number;
  /** Machine-clock time at which the first deltas were durable, and the number of events at that time. */
  readonly firstDeltasAt: number;
  readonly eventsThen: number;
  /** Time from the durable row that requests a turn to the durable rows that its result produces. */
  readonly turnMs: readonly number[];
  /** Time from the durable row that calls a tool to its durable result. */
  readonly toolMs: readonly number[];
}

/** Starts a run. Returns its id immediately, and its times once the run ends. */
export async function startAgentRun(
  engine: Engine,
  { log }: MeasuredStore,
  tenant: string,
  workflowId: string,
): Promise<{ readonly runId: RunId; readonly times: Promise<AgentTimes> }> {
  const watch = new Watch();
  const stop = log.follow((commit) => watch.take(commit));
  const { runId } = await engine.start({ tenant, workflowId, inputs: {}, options: {} });
  const times = watch.ended.promise.finally(stop);
  times.catch(() => undefined);
  return { runId, times };
}

/** The host runs nothing else during the watch, so every commit belongs to the run. */
class Watch {
  readonly ended = Promise.withResolvers<AgentTimes>();
  #events = 0;
  #clientEvents = 0;
  #firstDeltasAt = Number.NaN;
  #eventsThen = 0;
  #askedAt = Number.NaN;
  #calledAt = Number.NaN;
  readonly #turnMs: number[] = [];
  readonly #toolMs: number[] = [];

  take({ rows }: Commit): void {
    const now = machineMs();
    for (const { type, audience, payload } of rows) {
      this.#events += 1;
      if (audience === 'client') this.#clientEvents += 1;
      if (type !== 'output.chunk') this.#note(type, payload, now);
    }
    if (this.#eventsThen > 0 || !rows.some(({ type }) => type === 'output.chunk')) return;
    this.#firstDeltasAt = now;
    this.#eventsThen = this.#events;
  }

  #note(type: string, payload: string, now: number): void {
    if (type === 'cairn.model.requested') this.#askedAt = now;
    else if (type === 'cairn.model.returned') this.#turnMs.push(now - this.#askedAt);
    else if (type === 'agent.toolCalled') this.#calledAt = now;
    else if (type === 'agent.toolReturned') this.#toolMs.push(now - this.#calledAt);
    else if (type === 'run.completed') this.ended.resolve(this.#times());
    else if (type === 'run.failed') this.ended.reject(new Error(payload));
  }

  #times(): AgentTimes {
    return {
      events: this.#events,
      clientEvents: this.#clientEvents,
      firstDeltasAt: this.#firstDeltasAt,
      eventsThen: this.#eventsThen,
      turnMs: this.#turnMs,
      toolMs: this.#toolMs,
    };
  }
}
