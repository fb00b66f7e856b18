/** Random histories of agents at work, for the properties of the folds; not shipped. */
import fc from 'fast-check';
import type { FoldEvent } from '../events/event.ts';
import { typedEvent } from '../events/row.ts';
import type { JsonObject } from '../json.ts';
import { someRun } from './legal-history.kit.ts';

interface Choice {
  readonly act: number;
  readonly node: number;
  readonly words: string;
}

/** Two agents in nodes whose names a careless dictionary would lose. */
const nodeNames = ['constructor', '__proto__'];

class Worker {
  readonly nodeId: string;
  agentId = 'core.some.first';
  turn = 0;
  isStreaming = false;
  readonly calls = new Set<string>();

  constructor(nodeId: string) {
    this.nodeId = nodeId;
  }

  get channel(): string {
    return `${this.nodeId}#0.0/m${this.turn}`;
  }
}

class AgentHistory {
  readonly events: FoldEvent[] = [];
  readonly #workers = nodeNames.map((nodeId) => new Worker(nodeId));

  constructor() {
    const ref = (agentId: string) => ({ hash: 'h', ref: { agentId, name: agentId, version: '1.0.0' } });
    const agents = { 'core.some.first': ref('core.some.first'), 'core.some.second': ref('core.some.second') };
    this.#write('run.started', { workflowId: 'wf', inputs: { message: 'Go' }, agents });
    this.#write('cairn.task.status', { status: 'working' });
    for (const worker of this.#workers) {
      const agent = { agentId: worker.agentId };
      this.#of(worker, 'node.started', { typeId: 'cairn.agent', attempt: 0, visit: 0, agent });
    }
  }

  take({ act, node, words }: Choice): void {
    const worker = this.#workers[node % this.#workers.length] as Worker;
    const { agentId } = worker;
    if (act < 5) this.#say(worker, words);
    else if (act === 5) this.#stopSaying(worker, words);
    else if (act === 6) this.#of(worker, 'agent.reasoning.delta', { agentId, delta: words, sequence: 0 });
    else if (act === 7) this.#of(worker, 'agent.reasoned', { agentId, reasoning: words, verbosity: 'summary' });
    else if (act === 8) this.#call(worker);
    else if (act === 9) this.#callAgain(worker);
    else if (act === 10) this.#return(worker);
    else if (act === 11) this.#abandon(worker);
    else if (act === 12) this.#of(worker, 'agent.decided', { agentId, decision: words, confidence: 0.5 });
    else if (act === 13) this.#handOff(worker);
    else this.#of(worker, 'provider.usage', { provider: 'p', model: 'm', inputTokens: 1, outputTokens: 2 });
  }

  end(how: number): void {
    for (const worker of this.#workers) {
      while (worker.calls.size > 0) this.#return(worker);
      this.#of(worker, how % 2 === 0 ? 'node.completed' : 'node.cancelled', {});
    }
    if (how % 2 === 0) this.#write('run.completed', { outputs: { content: 'done' } });
    else this.#write('run.cancelled', { reason: 'enough' });
  }

  #say(worker: Worker, chunk: string): void {
    worker.isStreaming = true;
    this.#of(worker, 'output.chunk', { runId: someRun, chunk, isLast: false, channel: worker.channel });
  }

  #stopSaying(worker: Worker, chunk: string): void {
    const meta = { finishReason: 'stop' };
    this.#of(worker, 'output.chunk', { runId: someRun, chunk, isLast: true, channel: worker.channel, meta });
    worker.isStreaming = false;
    worker.turn += 1;
  }

  /** The attempt is dead, and the next one says the same from its beginning. */
  #abandon(worker: Worker): void {
    this.#of(worker, 'cairn.model.abandoned', { callId: worker.channel, attempt: 1 });
    worker.isStreaming = false;
  }

  #call(worker: Worker): void {
    const callId = `${worker.nodeId}/t${this.events.length}`;
    worker.calls.add(callId);
    this.#of(worker, 'agent.toolCalled', { agentId: worker.agentId, toolName: 't', callId, attempt: 1, inputs: {} });
  }

  #callAgain(worker: Worker): void {
    const [callId] = worker.calls;
    if (callId === undefined) return;
    this.#of(worker, 'agent.toolCalled', { agentId: worker.agentId, toolName: 't', callId, attempt: 2, inputs: {} });
    this.#of(worker, 'cairn.tool.progress', { callId, progress: 0.5 });
  }

  #return(worker: Worker): void {
    const [callId] = worker.calls;
    if (callId === undefined) return;
    worker.calls.delete(callId);
    const result = worker.turn % 2 === 0 ? { outcome: 1, status: 'ok' } : { error: { code: 'c', message: 'm' } };
    this.#of(worker, 'agent.toolReturned', { agentId: worker.agentId, toolName: 't', callId, ...result });
  }

  #handOff(worker: Worker): void {
    const toAgentId = worker.agentId === 'core.some.first' ? 'core.some.second' : 'core.some.first';
    this.#of(worker, 'agent.handoff', { fromAgentId: worker.agentId, toAgentId, reason: 'better suited' });
    worker.agentId = toAgentId;
    this.#of(worker, 'agent.invocation.started', { invocationId: 'i', agentId: toAgentId, source: 'workflow-node' });
  }

  #of({ nodeId }: Worker, type: string, payload: JsonObject): void {
    const named = { nodeId, ...payload };
    this.events.push(typedEvent({ seq: this.events.length, at: 1_700_000_000_000, type, payload: named, nodeId }));
  }

  #write(type: string, payload: JsonObject): void {
    this.events.push(typedEvent({ seq: this.events.length, at: 1_700_000_000_000, type, payload }));
  }
}

const choice = fc.record({ act: fc.nat(14), node: fc.nat(1), words: fc.string({ maxLength: 6 }) });

/** Two agents of one run at once, from `run.started` to the terminal event. */
export const agentHistory: fc.Arbitrary<readonly FoldEvent[]> = fc
  .tuple(fc.array(choice, { maxLength: 80 }), fc.nat(1))
  .map(([choices, how]) => {
    const history = new AgentHistory();
    for (const one of choices) history.take(one);
    history.end(how);
    return history.events;
  });
