/** The open questions of a run, oldest first. */
import type { Client } from '@cairn/client';
import { isCairnError, isJsonObject, type RunSnapshot } from '@cairn/protocol';
import type { Question } from './render/question.ts';

/** The snapshot contains the oldest question. The list of all requires the right to answer. */
export async function openQuestions(client: Client, run: RunSnapshot): Promise<readonly Question[]> {
  if (run.interrupt === undefined) return [];
  const { kind, nodeId, interruptId, payload } = run.interrupt;
  const oldest = { kind, nodeId, interruptId, data: isJsonObject(payload.data) ? payload.data : {} };
  if (run.importedAt !== undefined) return [oldest];
  try {
    return await client.interrupts.ofRun(run.runId);
  } catch (error) {
    if (isCairnError(error, 'forbidden')) return [oldest];
    throw error;
  }
}
