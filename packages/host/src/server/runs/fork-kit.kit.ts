/** Short ways to start, fork and read runs in the tests of forks; not shipped. */
import type { JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import type { Ask, Reply } from '../ask.kit.ts';
import { keys, type Served } from '../served.kit.ts';

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
