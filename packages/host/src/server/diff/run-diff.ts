/** The route that compares two runs. */
import { type OwnIds, parseRunId, quoted, type RunDiff, runDiff, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { RunHead } from '../../log/ports/event-log.ts';
import { TenantSlots } from '../../tenant-slots.ts';
import { etagMatches } from '../http/etag.ts';
import { jsonPieces } from '../http/json-pieces.ts';
import { answerInPieces, type ResponsePorts } from '../http/large-response.ts';
import { integerParam, runNamed, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';
import type { ContentPorts } from './artifact-content.ts';
import { buildDiff } from './build-diff.ts';
import { type DiffRun, readSide } from './read-sides.ts';
import { lastSharedSeq } from './shared-rows.ts';

export interface RunDiffPorts extends ContentPorts {
  readonly loadView: LoadView;
  readonly responses: ResponsePorts;
}

/** Diffs of one tenant at the same time. Each holds two states, which may be 100 MB of small values. */
const DIFFS_AT_ONCE = 1;

const LIMIT = { min: 1, max: 200, usual: 50 };

/** Bump when a diff of the same events may read differently. */
const DIFF_VERSION = 3;

export function runDiffRoutes(ports: RunDiffPorts): readonly Route[] {
  const slots = new TenantSlots(DIFFS_AT_ONCE);
  return [
    {
      method: 'GET',
      path: '/v1/runs/{runId}:diff',
      scope: 'runs:read',
      handle: (call) => diff(call, ports, slots),
      doc: {
        id: 'diffRuns',
        summary: 'Compare two runs: the first divergence, and what each did differently',
        query: z.object({
          against: z.string().describe('The run to compare with: `b` in the answer.'),
          limit: z.coerce
            .number()
            .int()
            .min(LIMIT.min)
            .max(LIMIT.max)
            .optional()
            .describe(`Entries of each list. Default ${LIMIT.usual}.`),
        }),
        responses: {
          200: { description: 'What differs.', shape: runDiff },
          304: { description: 'Neither run has changed since the diff that If-None-Match names.' },
        },
        errors: ['validation_error', 'not_found'],
      },
    },
  ];
}

async function diff(call: Call, ports: RunDiffPorts, slots: TenantSlots): Promise<string | undefined> {
  const limit = integerParam(queryParam(call, 'limit'), { name: 'limit', ...LIMIT }) ?? LIMIT.usual;
  const against = queryParam(call, 'against');
  if (against === undefined || parseRunId(against) === null) throw withoutOther(against);
  const heads = [
    await visibleRun(call, ports.store.log),
    await runNamed(against, call.caller, ports.store.log),
  ] as const;
  const { audience } = call.caller;
  // A diff follows from the two logs, as far as the caller may see them.
  const etag = `"d${DIFF_VERSION}-${audience ?? 'all'}-${heads[0].seq}-${heads[1].seq}"`;
  call.reply.header('etag', etag).header('cache-control', 'private, no-cache');
  if (etagMatches(call.request.headers['if-none-match'], etag)) {
    call.reply.code(304).send();
    return undefined;
  }
  const release = await slots.take(call.caller.tenant);
  try {
    const answer = await diffOf(heads, { audience, limit }, ports);
    return await answerInPieces(call, jsonPieces(answer), { ...ports.responses, stalled: release });
  } finally {
    release();
  }
}

async function diffOf(
  heads: readonly [RunHead, RunHead],
  { audience, limit }: { readonly audience: 'client' | undefined; readonly limit: number },
  ports: RunDiffPorts,
): Promise<RunDiff> {
  const sharedUpTo = await lastSharedSeq(ports.store.log, ...heads);
  const runs = [await loaded(heads[0], ports), await loaded(heads[1], ports)] as const;
  const ids = idsOf(runs);
  const visits = await visitsAt(heads[0], sharedUpTo, ports);
  const asked = { sharedUpTo, ids, visits, audience };
  const sides = [
    await readSide({ run: runs[0], ...asked }, ports),
    await readSide({ run: runs[1], ...asked }, ports),
  ] as const;
  return buildDiff({ runs, sides, sharedUpTo, ids, audience, limit }, ports);
}

const loaded = async (head: RunHead, { loadView }: RunDiffPorts): Promise<DiffRun> => ({
  head,
  view: await loadView(head.record.runId, head.seq),
});

/** The visits of nodes where the runs part, so that keys name the same visits as the rest of the host. */
async function visitsAt({ record: { runId } }: RunHead, seq: number, { loadView }: RunDiffPorts) {
  if (seq < 0) return {};
  const { nodeStates } = await loadView(runId, seq);
  return Object.fromEntries(Object.entries(nodeStates).map(([nodeId, { visit }]) => [nodeId, Math.max(0, visit)]));
}

/**
 * The ids of both runs and the tokens in the ids of their payloads, longest first: the id of a child begins with that of
 * its parent.
 */
function idsOf(runs: readonly DiffRun[]): OwnIds {
  const ids = new Map<string, string>();
  for (const { head, view } of runs) {
    const { runId, originRunId, contextId } = head.record;
    ids.set(runId, '{run}').set(originRunId, '{run}').set(contextId, '{context}');
    if (view.idToken !== null) ids.set(view.idToken, '{token}');
  }
  return [...ids].sort(([one], [other]) => other.length - one.length);
}

const withoutOther = (against: string | undefined): TerminalError =>
  new TerminalError('validation_error', {
    message:
      against === undefined
        ? 'The request does not say which run to compare with.'
        : `against must be the id of a run, not ${quoted(against, 60)}.`,
    hint: 'Name it: GET /v1/runs/{runId}:diff?against={runId}.',
    details: { parameter: 'against' },
  });
