/** `GET /v1/host/cairn/runs/{runId}/chain`: walks the hash chain of a run, some thousand events a request. */
import { type ChainChecked, chainChecked } from '@cairn/protocol';
import { z } from 'zod';
import { ChainWalk } from '../../log/chain-walk.ts';
import type { EventLog, RunHead } from '../../log/ports/event-log.ts';
import { integerParam, visibleRun } from '../http/params.ts';
import { type Call, queryParam, type Route } from '../http/routes.ts';

/** Events of one request. Each page of them is hashed in a turn of its own. */
const MAX_EVENTS = 4_000;
const PAGE = { limit: 500, maxBytes: 524_288 };
/** Problems that a response names. A damaged run has many. */
const MAX_PROBLEMS = 50;

export const chainCheckRoutes = (log: EventLog): readonly Route[] => [
  {
    method: 'GET',
    path: '/v1/host/cairn/runs/{runId}/chain',
    scope: 'audit:read',
    alsoNeeds: 'runs:read',
    handle: (call) => check(call, log),
    doc: {
      id: 'checkChain',
      summary: 'Check that the events of a run are as they were written',
      query: z.object({
        after: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .describe('Continues after this sequence: `next` of the answer before.'),
      }),
      responses: { 200: { description: 'What was checked, and what is wrong.', shape: chainChecked } },
      errors: ['not_found', 'validation_error'],
    },
  },
];

async function check(call: Call, log: EventLog): Promise<string> {
  const head = await visibleRun(call, log);
  const after = integerParam(queryParam(call, 'after'), { name: 'after', min: 0, max: Number.MAX_SAFE_INTEGER }) ?? -1;
  return JSON.stringify(await walked(head, log, Math.min(after, head.seq)));
}

async function walked(
  { record: { runId, originRunId }, seq }: RunHead,
  log: EventLog,
  after: number,
): Promise<ChainChecked> {
  const before = after < 0 ? undefined : (await log.read({ runId, after: after - 1, limit: 1 }))[0];
  const walk = new ChainWalk(originRunId, before);
  const problems: ChainChecked['problems'][number][] = [];
  let checked = 0;
  let at = after;
  while (at < seq && checked < MAX_EVENTS) {
    const rows = await log.read({ runId, after: at, ...PAGE });
    const last = rows.at(-1);
    if (last === undefined) {
      problems.push({ sequence: at + 1, message: `event ${at + 1} is missing` });
      at = seq;
      break;
    }
    for (const row of rows) {
      const message = walk.add(row);
      if (message !== null && problems.length < MAX_PROBLEMS) problems.push({ sequence: row.seq, message });
    }
    checked += rows.length;
    at = last.seq;
  }
  return { runId, checked, retired: walk.retired, problems, hash: walk.hash, next: at < seq ? at : null };
}
