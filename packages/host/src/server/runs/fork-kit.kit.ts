/** Short ways to start, fork and read runs in the tests of forks; not shipped. */
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { z } from 'zod';
import type { Step } from '../../engine/ports.ts';
import type { Store } from '../../log/ports/store.ts';
import type { Ask, Reply } from '../ask.kit.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keys, type Served, served } from '../served.kit.ts';

const seenEvent = z.looseObject({
  sequence: z.number(),
  type: z.string(),
  nodeId: z.string().optional(),
  payload: z.record(z.string(), z.json()),
  eventId: z.string(),
});
export type SeenEvent = z.infer<typeof seenEvent>;

/** Starts a run and follows it to its end. Returns its id. */
export async function ranToEnd(host: Served, workflowId: string, inputs: JsonObject = {}): Promise<string> {
  const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId, inputs } });
  await toEnd(host, String(body.runId));
  return String(body.runId);
}

/** Follows a run until its stream closes. */
export const toEnd = (host: Served, runId: string): Promise<Reply> =>
  host.ask('GET', `/v1/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } });

/** All rows of a run, also those for operators. */
export async function rowsOf(host: Served, runId: string): Promise<readonly SeenEvent[]> {
  const { body } = await host.ask('GET', `/v1/runs/${runId}/events`, { key: keys.auditor });
  return z.object({ events: z.array(seenEvent) }).parse(body).events;
}

export const seqOf = (rows: readonly SeenEvent[], type: string, nodeId?: string): number => {
  const found = rows.find((one) => one.type === type && (nodeId === undefined || one.nodeId === nodeId));
  if (found === undefined) throw new Error(`no ${type} of ${nodeId ?? 'the run'}`);
  return found.sequence;
};

export const fork = (host: Served, runId: string, body: JsonObject, ask: Ask = {}): Promise<Reply> =>
  host.ask('POST', `/v1/runs/${runId}:fork`, { body, ...ask });

/** Branches, and follows the branch to its end. */
export async function branchToEnd(host: Served, runId: string, body: JsonObject): Promise<string> {
  const reply = await fork(host, runId, { mode: 'branch', ...body });
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
  await toEnd(host, String(reply.body.runId));
  return String(reply.body.runId);
}

export const snapshotOf = async (host: Served, runId: string): Promise<JsonObject> =>
  (await host.ask('GET', `/v1/runs/${runId}`)).body as JsonObject;

/** Three steps in sequence. Each call is counted, and what it returns names how often it was made. */
export async function counting(
  store?: Store,
): Promise<{ host: Served; calls: Record<string, number>; fails: Set<string> }> {
  const calls: Record<string, number> = {};
  const fails = new Set<string>();
  const step = (typeId: string): Step => ({
    typeId,
    safety: 'write',
    run: async (input) => {
      calls[typeId] = (calls[typeId] ?? 0) + 1;
      if (fails.has(typeId)) throw new Error(`${typeId} is down`);
      return { [typeId]: calls[typeId] ?? 0, who: input.who ?? null };
    },
  });
  const host = await served({
    ...(store === undefined ? {} : { store }),
    steps: ['acme.a', 'acme.b', 'acme.c'].map(step),
  });
  await host.engine.register('t', three);
  await host.engine.register('t', noop);
  await host.engine.register('t', approval);
  return { host, calls, fails };
}

const base = chain('three', { typeId: 'acme.a' }, { typeId: 'acme.b' }, { typeId: 'acme.c' });
const three: WorkflowDefinition = {
  ...base,
  nodes: base.nodes.map((node) => ({
    ...node,
    inputs: { who: { type: 'variable', variableName: 'who', optional: true } },
  })),
  variables: [{ name: 'who', type: 'string', defaultValue: 'nobody' }],
};

/** Follows the states of a run until it has this status. */
export async function fetchUntil(host: Served, runId: string, status: string): Promise<JsonObject> {
  for (;;) {
    // Counted before the look, so that what happens in between is not waited for.
    const last = (await rowsOf(host, runId)).length - 1;
    const snapshot = await snapshotOf(host, runId);
    if (snapshot.status === status) return snapshot;
    const polled = await host.ask('GET', `/v1/runs/${runId}/events/poll?lastSequence=${last}`);
    if (polled.status !== 200) return snapshot;
  }
}
