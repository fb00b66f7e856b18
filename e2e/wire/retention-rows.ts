/** Host extension: what is kept, and what is purged. */
import { given, type Stage, type WireRow } from './wire-row.ts';

const purged = async (stage: Stage) => {
  const names = await given.done(stage);
  await stage.told({ to: `DELETE /v1/runs/${names.run}`, as: 'keeper' });
  return names;
};

export const retentionRows: readonly WireRow[] = [
  {
    at: 'retention',
    says: 'an ended run is purged',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}', as: 'keeper' },
    answer: { status: 200, body: { runId: '{run}', purged: true, runs: 1 } },
  },
  {
    at: 'retention',
    says: 'a dry run purges nothing',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}?dryRun=true', as: 'keeper' },
    answer: { status: 200, body: { runId: '{run}', purged: false, runs: 1 } },
  },
  {
    at: 'retention',
    says: 'a purged run is gone',
    given: purged,
    ask: { to: 'GET /v1/runs/{run}' },
    answer: { status: 410, error: 'run_purged', details: { runId: '{run}' } },
  },
  {
    at: 'retention',
    says: 'an active run is not purged',
    given: given.waiting,
    ask: { to: 'DELETE /v1/runs/{run}', as: 'keeper' },
    answer: { status: 409, error: 'conflict', details: { runStatus: 'waiting-approval' } },
  },
  {
    at: 'retention',
    says: 'a switch that is neither true nor false is 400',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}?dryRun=perhaps', as: 'keeper' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'retention',
    says: 'an unknown run is 404',
    ask: { to: 'DELETE /v1/runs/run_unknown', as: 'keeper' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'retention',
    says: 'a key without the scope purges nothing',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}', as: 'reader' },
    answer: { status: 403, error: 'forbidden' },
  },
  {
    at: 'retention',
    says: 'the rules and what they would purge',
    ask: { to: 'GET /v1/host/cairn/retention', as: 'keeper' },
    answer: { status: 200, body: { rules: [], runs: [], truncated: false } },
  },
];
