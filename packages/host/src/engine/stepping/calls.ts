/** The open calls of one run, and which of them are under way in this process. */
import type { NewRun } from '../../log/ports/event-log.ts';
import type { Batch } from '../core/compose.ts';
import { drivenInput } from '../core/driven.ts';
import { callReturned, type Fact } from '../core/facts.ts';
import type { OpenCall, RunState } from '../core/state.ts';
import { stepInput } from '../nodes/step-node.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { Flights } from './attempts.ts';
import type { MailboxWorld } from './mailbox-ports.ts';

export class Calls {
  readonly #workflow: Workflow;
  readonly #flights: Flights;

  constructor(
    { sha256, performers, redactor }: MailboxWorld,
    run: { readonly runId: RunState['runId']; readonly workflow: Workflow } & Pick<NewRun, 'tenant' | 'contextId'>,
    post: (fact: Fact) => void,
  ) {
    const { workflow, ...ids } = run;
    this.#workflow = workflow;
    this.#flights = new Flights({ ...ids, sha256, redactor, post }, performers, (...call) =>
      post(callReturned(workflow, ...call)),
    );
  }

  isUnderWay(callId: string): boolean {
    return this.#flights.has(callId);
  }

  /** Aborts what the run no longer waits for. */
  keepOnly(calls: RunState['calls']): void {
    this.#flights.keepOnly(calls);
  }

  /** Starts what a batch that is durable asks for. */
  startOf({ base, rows, effects }: Batch, state: RunState): void {
    const end = base + rows.length;
    for (const { callId } of effects) {
      const call = state.calls[callId];
      // After a lost answer the state may hold what another node has asked for since; that is its to perform.
      if (call !== undefined && call.requestedSeq >= base && call.requestedSeq < end) this.start(state, call);
    }
  }

  start(state: RunState, call: OpenCall): void {
    this.#flights.start(call, drivenInput(state, this.#workflow, call) ?? stepInput(state, this.#workflow, call));
  }

  /** Open and not under way here. */
  forgotten(state: RunState): readonly OpenCall[] {
    const forgotten: OpenCall[] = [];
    if (this.#flights.size === state.unsettled) return forgotten;
    for (const callId in state.calls) {
      const call = state.calls[callId] as OpenCall;
      if (call.asked === undefined && !this.#flights.has(callId)) forgotten.push(call);
    }
    return forgotten;
  }
}
