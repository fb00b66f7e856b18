/** Reads the recorded events of a run without waiting for more. */
import type { Client } from '@cairn/client';
import { isTerminalStatus, type RunEventDoc, type RunSnapshot } from '@cairn/protocol';

/** Streams an ended run, however long it is. An active run is read in one request. */
export async function* pastEvents(client: Client, run: RunSnapshot, after = -1): AsyncGenerator<RunEventDoc> {
  if (isTerminalStatus(run.status)) yield* client.follow(run.runId, { after });
  else for (const event of await client.events.all(run.runId)) if (event.sequence > after) yield event;
}
