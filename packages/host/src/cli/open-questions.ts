/** The questions a run waits for an answer to, oldest first. */
import type { Client } from '@cairn/client';
import { isCairnError, type JsonObject, type RunSnapshot } from '@cairn/protocol';
import type { Question } from './render/question.ts';

/** The snapshot shows the oldest; the others are listed only to who may answer them. */
export async function openQuestions(client: Client, run: RunSnapshot): Promise<readonly Question[]> {
  if (run.interrupt === undefined) return [];
  const { kind, nodeId, interruptId, payload } = run.interrupt;
  const oldest = { kind, nodeId, interruptId, data: (payload.data ?? {}) as JsonObject };
  if (run.importedAt !== undefined) return [oldest];
  try {
    return (await client.interrupts.ofRun(run.runId)) as readonly Question[];
  } catch (error) {
    if (isCairnError(error, 'forbidden')) return [oldest];
    throw error;
  }
}
