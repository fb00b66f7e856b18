/** A client of the cluster: starts runs, follows each through the proxy to its end, and answers what they ask. */
import { isTerminalType, type JsonObject, type RunEventDoc } from '@cairn/protocol';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { Complain } from '../crash/breach.ts';
import type { Wire } from '../crash/wire.ts';

/** A run as its patron saw it. */
export interface Seen {
  readonly runId: string;
  /** The topic of a crew's run; null for a run that only asks. */
  readonly topic: string | null;
  readonly events: RunEventDoc[];
  /** The sequences that the project's client saw on a stream of its own, if there was one. */
  readonly streamed: Promise<readonly number[]> | null;
}

export interface PatronPorts {
  readonly name: string;
  readonly wire: Wire;
  readonly random: Random;
  readonly complain: Complain;
  readonly seen: Seen[];
  readonly isFinishing: () => boolean;
  /** The share of runs with a second stream. */
  readonly streamShare: number;
}

/** Of all runs; the others wait for an approval. */
const CREW_SHARE = 0.35;

export async function patron(ports: PatronPorts): Promise<void> {
  for (let i = 0; !ports.isFinishing(); i += 1) await oneRun(ports, `${ports.name}-${i}`);
}

async function oneRun(ports: PatronPorts, name: string): Promise<void> {
  const { wire, random, complain, seen } = ports;
  const topic = random.chance(CREW_SHARE) ? `topic-${name}` : null;
  const body: JsonObject = topic === null ? { workflowId: 'gate' } : { workflowId: 'research-crew', inputs: { topic } };
  const created = await wire.post({ path: '/v1/runs', body, idempotencyKey: name });
  if (created.status !== 201 && created.status !== 200) {
    complain('a run can be created', { status: created.status, body: created.body });
    return;
  }
  const runId = String(created.body.runId);
  const streamed = random.chance(ports.streamShare) ? wire.clientSequences(runId) : null;
  streamed?.catch(() => undefined);
  const events: RunEventDoc[] = [];
  seen.push({ runId, topic, events, streamed });
  await follow(ports, runId, events);
}

async function follow({ wire, complain }: PatronPorts, runId: string, events: RunEventDoc[]): Promise<void> {
  for (;;) {
    for await (const { data } of wire.stream(runId, events.length - 1)) {
      const event: RunEventDoc = JSON.parse(data);
      events.push(event);
      if (isTerminalType(event.type)) return;
      if (event.type === 'interrupt.requested') await answer(wire, runId, fields(event.payload), complain);
    }
    await wire.rest();
  }
}

/** An approval, or a write of an agent whose result nobody knows, which is made again. */
async function answer(wire: Wire, runId: string, { interruptId, kind }: JsonObject, complain: Complain): Promise<void> {
  const { status, body } = await wire.post({
    path: `/v1/runs/${runId}/interrupts/${String(interruptId)}`,
    body: { resumeValue: { action: kind === 'approval' ? 'accept' : 'retry' } },
    idempotencyKey: `answer-${runId}-${String(interruptId)}`,
  });
  if (status !== 200) complain('a question can be answered at any node', { runId, status, body });
}
