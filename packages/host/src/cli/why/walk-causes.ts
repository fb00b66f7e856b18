/** Walks from an event to its cause, the cause of that, and so on: through runs and from host to host. */
import type { Client } from '@cairn/client';
import { causes, eventPlace } from '@cairn/protocol';
import { z } from 'zod';

/** A host to ask, by its id. Null for one that the user named no address and key for. */
export type HostNamed = (hostId: string) => Client | null;

/** As another host may answer: of the right shape, and with fields that a later version adds. */
const answeredPage = z.object({
  ...causes.shape,
  events: z.array(z.object(causes.shape.events.element.shape)),
  parent: z.object(causes.shape.parent.unwrap().shape).nullable(),
});

type CausesPage = z.infer<typeof answeredPage>;

export interface CauseStep {
  readonly hostId: string;
  readonly runId: string;
  readonly event: CausesPage['events'][number];
}

/** An event of a run: by its number, or its last one. */
export type Sequence = number | 'last';

/** How a walk ended: at an event that nothing caused, or before. */
export type WalkEnd = { readonly kind: 'root' } | { readonly kind: 'lost'; readonly why: string };

export interface Walk {
  /** The event, then its cause, and so on. */
  readonly steps: readonly CauseStep[];
  readonly end: WalkEnd;
}

export interface WalkOptions {
  readonly runId: string;
  readonly sequence: Sequence;
  /** Runs that the walk goes through at most. */
  readonly maxRuns: number;
  readonly hostNamed: HostNamed;
}

/** A host may tell of any number of events. */
const MAX_EVENTS = 10_000;

/** The answers of hosts are data: the next host is one that the user named, and no address in an answer is called. */
export async function walkCauses(first: Client, { runId, sequence, maxRuns, hostNamed }: WalkOptions): Promise<Walk> {
  const steps: CauseStep[] = [];
  const seen = new Set<string>();
  let at = { client: first, hostId: null as string | null, runId, sequence };
  for (let runs = 0; ; runs += 1) {
    if (runs === maxRuns) return lost(steps, `it goes through more than ${maxRuns} runs. Pass --max-runs to go on`);
    let parent: CausesPage['parent'];
    try {
      parent = await walkRun(at, steps, seen);
    } catch (error) {
      if (steps.length === 0) throw error;
      return lost(steps, error instanceof Error ? error.message : String(error));
    }
    if (parent === null) return { steps, end: { kind: 'root' } };
    const key = `${parent.hostId} ${parent.eventId}`;
    if (seen.has(key)) return lost(steps, `${parent.eventId} is its own cause: the hosts tell a circle`);
    const place = placeOf(parent);
    if (place === null)
      return lost(steps, `${parent.hostId} calls its event ${parent.eventId}, which names no sequence`);
    const hostId = steps.at(-1)?.hostId;
    const client = parent.hostId === hostId ? at.client : hostNamed(parent.hostId);
    if (client === null) {
      const address =
        parent.wellKnownUrl === undefined ? '' : ` It says of itself that it is at ${parent.wellKnownUrl}.`;
      return lost(steps, `there is no address and key for the host ${parent.hostId} in --hosts.${address}`);
    }
    at = { client, hostId: parent.hostId, ...place };
  }
}

interface Place {
  readonly client: Client;
  /** The id that the host must have; null for the first. */
  readonly hostId: string | null;
  readonly runId: string;
  readonly sequence: Sequence;
}

/** Adds the chain inside one run. */
async function walkRun(place: Place, steps: CauseStep[], seen: Set<string>): Promise<CausesPage['parent']> {
  const { client, runId } = place;
  for (let next: Sequence = place.sequence; ; ) {
    const answer = answeredPage.safeParse(await client.runs.causes(runId, { of: next }));
    if (!answer.success) throw new Error(`its answer is malformed: ${z.prettifyError(answer.error).slice(0, 200)}`);
    const page = answer.data;
    if (place.hostId !== null && page.hostId !== place.hostId)
      throw new Error(`the host at that address is ${page.hostId}, not ${place.hostId}`);
    if (page.runId !== runId) throw new Error(`${page.hostId} answers for the run ${page.runId}, not for ${runId}`);
    const first = page.events[0]?.sequence;
    if (first === undefined || (next !== 'last' && first !== next))
      throw new Error(`${page.hostId} says nothing of event ${next} of ${runId}`);
    if (steps.length + page.events.length > MAX_EVENTS)
      throw new Error(`it goes through more than ${MAX_EVENTS} events, which is the most`);
    for (const event of page.events) {
      seen.add(`${page.hostId} ${event.eventId}`);
      steps.push({ hostId: page.hostId, runId: page.runId, event });
    }
    // A host that goes forward, or nowhere, would keep the walk for ever.
    if (page.next === null) return page.parent;
    if (page.next >= first) throw new Error(`${page.hostId} says that event ${first} is caused by event ${page.next}`);
    next = page.next;
  }
}

/** The run and the sequence of an event, from its id as Cairn hosts write it. */
function placeOf({ eventId, runId }: NonNullable<CausesPage['parent']>): Pick<Place, 'runId' | 'sequence'> | null {
  const place = eventPlace(eventId);
  return place?.runId === runId ? { runId, sequence: place.seq } : null;
}

const lost = (steps: readonly CauseStep[], why: string): Walk => ({ steps, end: { kind: 'lost', why } });
