/**
 * The runs that `cairn dev` starts in a folder without any, so that Studio has something to show: one that ends, one that
 * goes on for minutes, one that asks. They are real runs of the sample packs; only their models are scripts.
 */
import type { Client } from '@cairn/client';

/** `cairn runs --tag demo` lists them. */
const DEMO_TAG = 'demo';

/** The one that moves is started last: lists begin with the newest. */
const demo = [
  { workflowId: 'research-crew', inputs: { topic: 'Tidal power in the Bay of Fundy' } },
  { workflowId: 'newsroom', inputs: { story: 'The new bridge over the harbour' } },
  { workflowId: 'harbour-watch', metadata: { title: 'A watch over the harbour' } },
] as const;

/** A demo costs nothing, whatever model is configured. Child runs inherit this. */
const configurable = { 'ai.provider': 'scripted' };

/** Returns the ids of the new runs: none in a folder that has runs, so that a later start adds nothing. */
export async function startDemo(client: Client): Promise<readonly string[]> {
  const { runs } = await client.runs.list({ limit: 1 });
  if (runs.length > 0) return [];
  const started: string[] = [];
  for (const run of demo) started.push((await client.runs.create({ ...run, tags: [DEMO_TAG], configurable })).runId);
  return started;
}
