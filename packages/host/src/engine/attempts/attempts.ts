/** The attempts of a run's calls that are in progress in this process. */
import type { JsonObject } from '@cairn/protocol';
import { coordinatorInput } from '../coordination/route-questions.ts';
import type { Batch } from '../core/compose.ts';
import { drivenInput } from '../core/driven.ts';
import { callReturned, emitted, type ReusedFrom } from '../core/facts.ts';
import type { OpenCall, RunError, RunState } from '../core/state.ts';
import { type ReusePorts, reuseOf } from '../fork/reuse.ts';
import { stepInput } from '../nodes/step-node.ts';
import type { Performer } from '../ports.ts';
import { sealOutputs } from '../sensitive/seal-outputs.ts';
import type { CallResult } from '../workflow/driven-calls.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { Attempt, type AttemptPorts, refuseInReplay } from './attempt.ts';

export class Attempts {
  readonly #workflow: Workflow;
  readonly #performers: ReadonlyMap<string, Performer>;
  readonly #ports: AttemptPorts & ReusePorts;
  readonly #underWay = new Map<string, Attempt>();

  constructor(workflow: Workflow, performers: ReadonlyMap<string, Performer>, ports: AttemptPorts & ReusePorts) {
    this.#workflow = workflow;
    this.#performers = performers;
    this.#ports = ports;
  }

  isUnderWay(callId: string): boolean {
    return this.#underWay.has(callId);
  }

  /** Cancels the attempt of a call. Resolves to true once it is over; to false if there is none here. */
  async cancel(callId: string, error: RunError): Promise<boolean> {
    const attempt = this.#underWay.get(callId);
    if (attempt === undefined || attempt.isOver) return false;
    await attempt.cancel(error);
    return true;
  }

  /** Starts the calls that a durable batch requests. */
  startOf({ base, rows, effects }: Batch, state: RunState): void {
    const end = base + rows.length;
    for (const { callId } of effects) {
      const call = state.calls.get(callId);
      // After a lost append response the state may include calls that another node requested; that node performs them.
      if (call !== undefined && call.requestedSeq >= base && call.requestedSeq < end) this.start(state, call);
    }
  }

  /** Starts a call once. The row that requests it must be durable. A call under human review does not start. */
  start(state: RunState, call: OpenCall): void {
    const { callId, attempt } = call;
    refuseInReplay(this.#ports, call);
    if (call.asked !== undefined || this.#underWay.has(callId)) return;
    const input = inputOf(state, this.#workflow, call);
    const returned = (result: CallResult, reusedFrom?: ReusedFrom) =>
      this.#returned(call, attempt, { result, reusedFrom });
    const secrets = this.#ports.secretsOf(state, this.#ports.tenant);
    const performer = this.#performers.get(call.step);
    if (performer === undefined) {
      const message = `This host has no step ${call.step}.`;
      returned({ error: { code: 'capability_not_provided', message, retryable: false } });
      return;
    }
    const reuse =
      state.fork === undefined || call.routes !== undefined
        ? null
        : reuseOf(this.#ports, { state, workflow: this.#workflow, call, input });
    const started = new Attempt(call, { ports: this.#ports, secrets, reuse }, returned);
    this.#underWay.set(callId, started);
    const { shares, tenant } = this.#ports;
    if (shares.takeCall(tenant)) {
      started.run(performer, input);
      return;
    }
    shares.waitForCall(tenant, () => {
      if (started.isOver) return false;
      started.run(performer, input);
      return true;
    });
  }

  /** Sealed outputs enter the run in the rows just before the result. */
  #returned(
    { callId, nodeId }: OpenCall,
    attempt: number,
    { result, reusedFrom }: { readonly result: CallResult; readonly reusedFrom: ReusedFrom | undefined },
  ): void {
    const { post, tenant, sealing } = this.#ports;
    const node = this.#workflow.nodes.get(nodeId)?.node;
    const hidden = 'given' in result ? null : sealOutputs(sealing, { node, tenant }, result);
    if (hidden !== null) {
      const rows = [{ type: 'cairn.values.sealed' as const, payload: { values: hidden.sealed } }];
      post(emitted(callId, attempt, rows, () => undefined));
    }
    post(callReturned(callId, attempt, hidden?.result ?? result, reusedFrom));
  }

  /** Aborts every attempt that the run no longer waits for. */
  keepOnly(calls: RunState['calls']): void {
    for (const [callId, attempt] of this.#underWay) {
      const call = calls.get(callId);
      if (call?.attempt === attempt.attempt && call.asked === undefined) continue;
      attempt.abort('The run no longer waits for this step.');
      this.#underWay.delete(callId);
    }
  }

  /** Returns the open calls without an attempt in progress here. */
  unstarted(state: RunState): readonly OpenCall[] {
    const unstarted: OpenCall[] = [];
    if (this.#underWay.size === state.awaitedCalls) return unstarted;
    for (const call of state.calls.values()) {
      if (call.asked === undefined && !this.#underWay.has(call.callId)) unstarted.push(call);
    }
    return unstarted;
  }
}

const inputOf = (state: RunState, workflow: Workflow, call: OpenCall): JsonObject =>
  call.routes === undefined
    ? (drivenInput(state, workflow, call) ?? stepInput(state, workflow, call))
    : coordinatorInput(state, call.routes);
