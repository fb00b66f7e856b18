/** The artifacts of a tenant in one answer: the contexts of its latest root runs that have any. */
import { type ArtifactOverview, artifactOverview, isoTime } from '@cairn/protocol';
import { z } from 'zod';
import type { FairTurns } from '../../fair-turns.ts';
import type { ListedRun } from '../../log/ports/run-index.ts';
import type { Store } from '../../log/ports/store.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import { integerParam } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import { entryOf } from './artifact-entry.ts';

type ContextArtifacts = ArtifactOverview['contexts'][number];

export interface OverviewPorts {
  readonly store: Pick<Store, 'artifacts' | 'runIndex' | 'contexts'>;
  readonly cursors: PageCursors;
  /** Shares the event loop fairly between tenants, by characters rendered. */
  readonly turns: FairTurns;
}

/** Maximum number of contexts in a response. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 50;
/** Artifacts of one context. The context itself lists all of them. */
const PER_CONTEXT = 50;
/** Root runs to inspect for a response: a tenant whose runs write no artifacts gets a short page and a cursor. */
const MAX_RUNS = 200;
const RUNS_AT_ONCE = 50;
/** The cost of inspecting a context, and a page of runs, as the number of characters rendered in the same time. */
const LOOK_COST = 16_384;

export const artifactOverviewRoute = (ports: OverviewPorts): Route => ({
  method: 'GET',
  path: '/v1/host/cairn/artifacts',
  scope: 'runs:read',
  handle: (call) => overview(call, ports),
  doc: {
    id: 'listArtifactContexts',
    summary: "List the tenant's contexts that have artifacts, with these, newest first",
    query: z.object({ limit: z.coerce.number().int().min(1).max(MAX_LIMIT).optional(), cursor: z.string().optional() }),
    responses: {
      200: {
        description: 'Contexts with artifacts. May hold none although more follow. A context may occur on two pages.',
        shape: artifactOverview,
      },
    },
    errors: ['validation_error'],
  },
});

async function overview(call: Call, { store, cursors, turns }: OverviewPorts): Promise<string> {
  const { tenant } = call.caller;
  const inTurn = async <Found>(look: () => Promise<Found>): Promise<Found> =>
    turns.take(tenant, () => {
      turns.charge(LOOK_COST);
      return look();
    });
  const limit = integerParam(queryParam(call, 'limit'), { name: 'limit', min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT;
  const contexts = new Map<string, ContextArtifacts | null>();
  let cursor = cursors.placeOf(tenant, queryParam(call, 'cursor')) ?? null;
  let found = 0;
  for (let looked = 0; looked < MAX_RUNS && found < limit; ) {
    const asked = {
      tenant,
      parentRunId: null,
      // A page never finds more contexts than it has runs.
      limit: Math.min(RUNS_AT_ONCE, limit - found),
      cursor: cursor ?? undefined,
    };
    const page = await inTurn(() => store.runIndex.list(asked));
    for (const run of page.runs) {
      const known = contexts.get(run.contextId);
      if (known === undefined) {
        const one = await inTurn(() => contextOf(run, store));
        contexts.set(run.contextId, one);
        if (one !== null) found += 1;
      } else if (known !== null) contexts.set(run.contextId, { ...known, ...rootOf(run) });
    }
    looked += page.runs.length;
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  const answer: ArtifactOverview = {
    contexts: [...contexts.values()].filter((context) => context !== null),
    nextCursor: cursors.shown(tenant, cursor),
  };
  return JSON.stringify(answer);
}

async function contextOf(
  run: ListedRun,
  { artifacts, contexts }: OverviewPorts['store'],
): Promise<ContextArtifacts | null> {
  const { contextId } = run;
  const found = await artifacts.list(contextId, { limit: PER_CONTEXT + 1 });
  if (found.length === 0) return null;
  return {
    contextId,
    ...rootOf(run),
    open: (await contexts.oldestOpen(contextId)) !== null,
    artifacts: found.slice(0, PER_CONTEXT).map(entryOf),
    more: found.length > PER_CONTEXT,
  };
}

/** The run that stands for a context: the oldest of its runs that was read. */
const rootOf = ({ runId, workflowId, createdAt, summary: { title } }: ListedRun) => ({
  runId,
  workflowId,
  ...(title === null ? {} : { title }),
  startedAt: isoTime(createdAt),
});
