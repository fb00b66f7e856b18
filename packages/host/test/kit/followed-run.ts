/** The events of a run that a client follows to its end. */
import type { Client } from '@cairn/client';
import { isJsonObject, type JsonObject, type RunEventDoc } from '@cairn/protocol';

export async function eventsOf(client: Pick<Client, 'follow'>, runId: string): Promise<readonly RunEventDoc[]> {
  const events: RunEventDoc[] = [];
  for await (const event of client.follow(runId)) events.push(event);
  return events;
}

export const payloadsIn = (events: readonly RunEventDoc[], type: string): readonly JsonObject[] =>
  events.filter((event) => event.type === type).map(({ payload }) => (isJsonObject(payload) ? payload : {}));
