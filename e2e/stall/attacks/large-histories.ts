/** What is derived from the history of a large run: causes, bundles, pages of events, webhooks, forks of its context. */

import type { Attack } from '../attack.ts';
import type { Attacker } from '../attacker.ts';
import { PEERS_ENV } from '../tenants.ts';
import { asked, type LargeRun, parts, times, unread, waiting } from './large-runs.ts';

/** Reads pages of events until the end. */
async function paged(attacker: Attacker, path: string, next: (body: Record<string, unknown>) => unknown) {
  let after: unknown = null;
  do {
    const { body } = await attacker.send(after === null ? path : `${path}&after=${after}`);
    after = next(body) ?? null;
  } while (after !== null);
}

const eventsOf = ({ runId }: LargeRun): string => `/v1/runs/${runId}/events`;
const derived = ({ runId }: LargeRun, what: string): string => `/v1/host/cairn/runs/${runId}/${what}`;

/** The same for runs of large texts and for runs of many parts. */
const both = (name: string, count: number, ask: (attacker: Attacker, run: LargeRun, i: number) => Promise<unknown>) =>
  [{}, { shape: parts }].map(({ shape }) =>
    asked(
      `large-${name}${shape === undefined ? '' : '-of-many-parts'}`,
      { count, ...(shape && { shape }) },
      async (attacker, [run], i) => run && ask(attacker, run, i),
    ),
  );

const webhooks: Attack = asked('large-webhooks', { count: 1, runs: 1 }, async (attacker) => {
  const peers = process.env[PEERS_ENV];
  const events = ['run.started', 'variable.changed', 'node.started', 'node.completed', 'run.completed'];
  for (const kind of ['slow', 'away', 'endless', 'huge', 'cut', 'garbage', 'early', 'liar'])
    for (let i = 0; i < 5; i += 1)
      await attacker.send('/v1/webhooks', { body: { url: `${peers}/a2a/${kind}?${i}`, events } });
  const runs = await Promise.all(times(12, () => attacker.start('large-texts', { text: 'x'.repeat(200_000) })));
  for (const run of runs) await attacker.ended(run);
  await attacker.quiet(5_000);
  const { body } = await attacker.send('/v1/webhooks');
  const registered: unknown = body.webhooks;
  for (const { webhookId } of Array.isArray(registered) ? registered : [])
    await attacker.send(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
});

export const largeHistoryAttacks: readonly Attack[] = [
  ...both('causes', 40, (attacker, run) => paged(attacker, `${derived(run, 'causes')}?`, ({ next }) => next)),
  ...both('cause-chains', 40, (attacker, run) => attacker.send(`${derived(run, 'causes')}?of=last`)),
  ...both('ancestries', 60, (attacker, { runId }) => attacker.send(`/v1/runs/${runId}/ancestry`)),
  ...both('event-pages', 20, (attacker, run, i) => attacker.drain(`${eventsOf(run)}?lastSequence=${i}`)),
  ...both('debug-events', 20, (attacker, run) =>
    attacker.drain(`${eventsOf(run)}?streamMode=debug`, { accept: 'text/event-stream' }),
  ),
  ...both('polls', 40, (attacker, run, i) => attacker.drain(`${eventsOf(run)}/poll?timeout=1&lastSequence=${i}`)),
  ...both('debug-bundles', 20, (attacker, { runId }) => attacker.drain(`/v1/runs/${runId}/debug-bundle`)),
  unread('large-debug-bundles-unread', {}, ([run]) => times(20, () => `/v1/runs/${run?.runId}/debug-bundle`)),
  asked('large-cancels-of-12-runs', { count: 12, runs: 12, shape: waiting }, (attacker, runs, i) =>
    attacker.send(`/v1/runs/${runs[i]?.runId}/cancel`, { body: {} }),
  ),
  asked('large-context-forks', { count: 20 }, async (attacker, [run]) => {
    const later = await attacker.start('large-texts', { text: 'y' }, run?.contextId);
    await attacker.ended(later);
    await attacker.send(`/api/contexts/${run?.contextId}/fork`, { body: { before: later ?? '' } });
  }),
  webhooks,
];
