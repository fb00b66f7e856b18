/** The events a run has so far, without waiting for more. */
import type { Client } from '@cairn/client';
import { isTerminalStatus, type RunEventDoc, type RunSnapshot } from '@cairn/protocol';

/** A run that is over is read as a stream, however long it is; of one that is not, what is there is taken at once. */
export async function* pastEvents(client: Client, run: RunSnapshot, after = -1): AsyncGenerator<RunEventDoc> {
  if (isTerminalStatus(run.status)) yield* client.follow(run.runId, { after });
  else for (const event of await client.events.all(run.runId)) if (event.sequence > after) yield event;
}
