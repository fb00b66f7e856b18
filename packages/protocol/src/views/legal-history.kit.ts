/** Random histories that keep the rules of a run, for the properties of the folds; not shipped. */
import fc from 'fast-check';
import type { FoldEvent } from '../events/event.ts';
import { typedEvent } from '../events/row.ts';
import type { RunId } from '../ids.ts';
import type { Json, JsonObject } from '../json.ts';

export const someRun = 'run_some' as RunId;

type NodePhase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly attempt: number }
  | { readonly kind: 'retrying'; readonly attempt: number }
  | { readonly kind: 'waiting'; readonly attempt: number; readonly interruptId: string };

/** Names that a careless dictionary would lose are names like any other. */
const nodeNames = ['a', 'b', 'gate', 'constructor', '__proto__', '7'];
const interruptData: readonly (readonly [kind: string, data: JsonObject])[] = [
  ['approval', { artifactId: 'n', artifactType: 'approval', title: 'Ship it?', actions: ['accept', 'reject'] }],
  ['clarification', { questions: [{ id: 'q', question: 'Which?' }] }],
  ['external-event', { eventType: 'paid', correlation: {} }],
  ['custom', { customKind: 'c' }],
  ['low-confidence', { agentId: 'core.some.first', threshold: 0.7, observed: 0.4, decision: 'go' }],
];

const slow = { code: 'node_timeout', message: 'slow' };

/** One choice of the generator: what to try, on which node, how much later. */
interface Choice {
  readonly act: number;
  readonly node: number;
  readonly gap: number;
}

class History {
  readonly events: FoldEvent[] = [];
  readonly #nodes = new Map<string, NodePhase>();
  readonly #visits = new Map<string, number>();
  #at = 1_700_000_000_000;
  #interrupts = 0;
  #cancelling = false;
  #isPaused = false;

  constructor() {
    this.#write('run.started', {
      workflowId: 'wf',
      inputs: { x: 1 },
      variables: { x: 1, y: 2 },
      owner: { tenant: 't', principal: 'p' },
      channels: {
        log: { reducer: 'append', ttlMs: 40 },
        votes: { reducer: 'votes', maxSize: 2 },
        talk: { reducer: 'message', default: [{ messageId: 'm0' }] },
      },
    });
    this.#write('cairn.task.status', { status: 'working' });
  }

  take({ act, node, gap }: Choice): void {
    this.#at += gap;
    const nodeId = nodeNames[node % nodeNames.length] as string;
    const phase = this.#nodes.get(nodeId) ?? { kind: 'idle' };
    if (act >= 8) this.#beside(act, nodeId);
    else if (phase.kind === 'idle') this.#fromIdle(act, nodeId);
    else if (phase.kind === 'running') this.#fromRunning(act, nodeId, phase.attempt);
    else if (phase.kind === 'retrying') this.#start(nodeId, phase.attempt);
    else if (phase.kind === 'waiting') this.#fromWaiting(act, nodeId, phase);
  }

  end(how: number): void {
    const isSuccess = how % 3 === 0;
    for (const [nodeId, phase] of this.#nodes) {
      if (phase.kind === 'idle') continue;
      const type = isSuccess && phase.kind === 'running' ? 'node.completed' : 'node.cancelled';
      this.#write(type, { nodeId, reason: 'over' }, nodeId);
    }
    if (isSuccess) {
      this.#write('cairn.task.status', { status: 'completed' });
      this.#write('run.completed', { outputs: { content: 'done' } });
    } else if (how % 3 === 1) {
      this.#write('run.failed', { error: { code: 'run_timeout', message: 'too long' } });
    } else {
      this.#write('run.cancelled', { reason: 'enough' });
    }
  }

  #fromIdle(act: number, nodeId: string): void {
    if (act === 0) this.#write('node.skipped', { nodeId }, nodeId);
    else if (act === 1)
      this.#write('node.failed', { nodeId, error: { code: 'capability_not_provided', message: 'm' } }, nodeId);
    else this.#start(nodeId, 0);
  }

  #start(nodeId: string, attempt: number): void {
    const visit = (this.#visits.get(nodeId) ?? -1) + (attempt === 0 ? 1 : 0);
    this.#visits.set(nodeId, visit);
    this.#nodes.set(nodeId, { kind: 'running', attempt });
    this.#write('node.started', { nodeId, typeId: 'core.noop', attempt, visit, inputs: { n: attempt } }, nodeId);
  }

  #fromRunning(act: number, nodeId: string, attempt: number): void {
    if (act < 3) this.#finish('node.completed', nodeId, { outputs: { ok: act } });
    else if (act === 3) this.#finish('node.failed', nodeId, { error: slow });
    else if (act === 4) this.#retry(nodeId, attempt + 1);
    else this.#ask(nodeId, attempt);
  }

  #retry(nodeId: string, attempt: number): void {
    this.#nodes.set(nodeId, { kind: 'retrying', attempt });
    this.#write('node.retried', { nodeId, attempt, delayMs: 5, lastError: slow }, nodeId);
  }

  #ask(nodeId: string, attempt: number): void {
    const interruptId = `int_${this.#interrupts}`;
    const [kind, data] = interruptData[this.#interrupts % interruptData.length] as (typeof interruptData)[number];
    this.#interrupts += 1;
    this.#nodes.set(nodeId, { kind: 'waiting', attempt, interruptId });
    const asked = { nodeId, interruptId, kind, key: `k:${interruptId}`, data, timeoutMs: 90 };
    this.#write('interrupt.requested', asked, nodeId);
    this.#write('node.suspended', { nodeId, interruptId, kind }, nodeId);
  }

  #fromWaiting(act: number, nodeId: string, { attempt, interruptId }: { attempt: number; interruptId: string }): void {
    if (act === 0) {
      this.#finish('node.failed', nodeId, { error: slow });
    } else if (act === 1) {
      this.#write('approval.received', { nodeId, action: 'accept', decidedBy: 'someone' }, nodeId);
    } else {
      const answer = { resolvedBy: 'p', resumeValue: { action: 'accept' } };
      const timeout = { outcome: 'rejected', reason: 'timeout' };
      this.#write('interrupt.resolved', { nodeId, interruptId, ...(act === 2 ? timeout : answer) }, nodeId);
      this.#write('node.resumed', { nodeId, interruptId }, nodeId);
      this.#nodes.set(nodeId, { kind: 'running', attempt });
    }
  }

  #finish(type: string, nodeId: string, result: JsonObject): void {
    this.#nodes.set(nodeId, { kind: 'idle' });
    this.#write(type, { nodeId, ...result }, nodeId);
  }

  /** What happens to a run beside its nodes' lives. */
  #beside(act: number, name: string): void {
    if (act === 8) this.#write('variable.changed', { name, next: act });
    else if (act === 9) this.#channel('log', 'append', name);
    else if (act === 10) this.#channel('votes', 'votes', { voter: name });
    else if (act === 11) this.#channel('talk', 'message', { messageId: name });
    else if (act === 12) this.#channel(name, 'merge', { [name]: 1 });
    else if (act === 13) this.#write('provider.usage', { provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4 });
    else if (act === 14) this.#write('later.version.said', { anything: [1, null] });
    else if (!this.#cancelling) this.#control(act);
  }

  #control(act: number): void {
    if (act === 15) {
      this.#cancel();
      return;
    }
    this.#isPaused = !this.#isPaused;
    this.#write(this.#isPaused ? 'run.paused' : 'run.resumed', { drainPolicy: 'immediate' });
  }

  #cancel(): void {
    this.#cancelling = true;
    this.#write('cairn.cancel.requested', { reason: 'enough' });
  }

  #channel(channel: string, reducer: string, value: Json): void {
    this.#write('channel.written', { channel, reducer, value, writtenAt: new Date(this.#at).toISOString() });
  }

  #write(type: string, payload: JsonObject, nodeId?: string): void {
    this.events.push(typedEvent({ seq: this.events.length, at: this.#at, type, payload, nodeId }));
  }
}

const choice = fc.record({ act: fc.integer({ min: 0, max: 17 }), node: fc.nat(5), gap: fc.nat(30) });

/** Whole histories, from `run.started` to the terminal event. */
export const legalHistory: fc.Arbitrary<readonly FoldEvent[]> = fc
  .tuple(fc.array(choice, { maxLength: 60 }), fc.nat(2))
  .map(([choices, how]) => {
    const history = new History();
    for (const one of choices) history.take(one);
    history.end(how);
    return history.events;
  });
