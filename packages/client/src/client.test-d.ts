/** The types that a program meets, checked by the compiler alone. */
import { type Client, type EventDocOf, type RunSnapshot, type RunStatus, verifyWebhook } from './index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_Claim extends true>(): void => undefined;

export async function followed(client: Client): Promise<void> {
  for await (const event of client.follow('run_1')) {
    if (event.type === 'agent.toolCalled') {
      holds<Same<typeof event, EventDocOf<'agent.toolCalled'>>>();
      holds<Same<typeof event.payload.callId, string>>();
    }
    if (event.type === 'run.failed') holds<Same<typeof event.payload.error.message, string>>();
    // @ts-expect-error: a payload has the fields of its own type only
    if (event.type === 'run.completed') event.payload.error;
    // @ts-expect-error: no such type
    if (event.type === 'run.finished') return;
    const type: string = event.type;
    if (type === 'acme.order.paid') return;
  }
}

export async function polled(client: Client): Promise<void> {
  for (const event of await client.events.all('run_1')) {
    if (event.type === 'node.failed') holds<Same<typeof event.payload.nodeId, string>>();
  }
  const { events } = await client.events.poll('run_1');
  for (const event of events) if (event.type === 'node.failed') event.payload.error.message;
}

export async function received(request: Request): Promise<void> {
  const { event } = await verifyWebhook({ secret: 's', headers: request.headers, body: await request.text() });
  if (event.type === 'run.failed') event.payload.error.message;
}

export async function called(client: Client): Promise<void> {
  const run = await client.runs.get('run_1');
  holds<Same<typeof run, RunSnapshot>>();
  holds<Same<typeof run.status, RunStatus>>();
  // @ts-expect-error: a run is of a workflow or of an agent
  await client.runs.create({ inputs: {} });
  // @ts-expect-error: a typo
  await client.runs.create({ workflowId: 'hello', input: {} });
  // @ts-expect-error: an unknown status
  await client.runs.list({ status: 'done' });
}
