/** Sections 2.9 and 2.10: cancel, bulk cancel, pause, resume. */
import { given, type Stage, type WireRow } from './wire-row.ts';

const pauseWithKey = async (stage: Stage) => {
  const names = await given.sleeping(stage);
  await stage.told({
    to: `POST /v1/runs/${names.run}:pause`,
    body: { drainPolicy: 'immediate' },
    headers: { 'idempotency-key': 'pause-it' },
  });
  await stage.reaches(names.run ?? '', 'paused');
  return names;
};

export const controlRows: readonly WireRow[] = [
  {
    at: '2.9',
    says: 'a run is cancelled',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/cancel', body: { reason: 'no longer needed' } },
    answer: { status: 200, body: { runId: '{run}' } },
  },
  {
    at: '2.9, 11.2 row 20',
    says: 'the other spelling does the same, and the body may be left out',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}:cancel' },
    answer: { status: 200, body: { runId: '{run}' } },
  },
  {
    at: '2.9',
    says: 'cancelling a finished run changes nothing',
    given: given.done,
    ask: { to: 'POST /v1/runs/{run}/cancel' },
    answer: { status: 200, body: { runId: '{run}', status: 'completed' } },
  },
  {
    at: '2.9',
    says: 'a reason of 513 characters is 400',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/cancel', body: { reason: 'x'.repeat(513) } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.9',
    says: 'an undeclared property is 400 under the other spelling',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}:cancel', body: { why: 'x' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.9',
    says: 'an unknown run is 404',
    ask: { to: 'POST /v1/runs/run_unknown/cancel' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.9',
    says: 'an unknown run is 404 under the other spelling',
    ask: { to: 'POST /v1/runs/run_unknown:cancel' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.9',
    says: 'a bulk cancel has a row for each id, in the order asked, whatever becomes of them',
    given: async (stage) => {
      const [waiting, done, cancelled] = [
        await given.waiting(stage),
        await given.done(stage),
        await given.cancelled(stage),
      ];
      return { waiting: waiting.run ?? '', done: done.run ?? '', cancelled: cancelled.run ?? '' };
    },
    ask: {
      to: 'POST /v1/runs:bulk-cancel',
      body: { runIds: ['{done}', '{waiting}', 'run_unknown', '{cancelled}'], reason: 'all of them' },
    },
    answer: {
      status: 200,
      body: {
        results: [
          { runId: '{done}', ok: false, error: { error: 'run_terminal' } },
          { runId: '{waiting}', ok: true },
          { runId: 'run_unknown', ok: false, error: { error: 'not_found' } },
          { runId: '{cancelled}', ok: true, status: 'cancelled' },
        ],
      },
    },
  },
  {
    at: '2.9',
    says: 'a bulk cancel of nothing is 400 and names the most',
    ask: { to: 'POST /v1/runs:bulk-cancel', body: { runIds: [] } },
    answer: { status: 400, error: 'validation_error', details: { maxRunIds: 100 } },
  },
  {
    at: '2.9, 2.21',
    says: 'a bulk cancel of 101 is 400 and names the most',
    ask: { to: 'POST /v1/runs:bulk-cancel', body: { runIds: Array.from({ length: 101 }, (_, i) => `run_${i}`) } },
    answer: { status: 400, error: 'validation_error', details: { maxRunIds: 100 } },
  },
  {
    at: '2.9',
    says: 'ids that are no text are 400',
    ask: { to: 'POST /v1/runs:bulk-cancel', body: { runIds: [7] } },
    answer: { status: 400, error: 'validation_error', details: { maxRunIds: 100 } },
  },
  {
    at: '2.10',
    says: 'a run is paused',
    given: given.sleeping,
    ask: { to: 'POST /v1/runs/{run}:pause', body: { drainPolicy: 'immediate', reason: 'lunch' } },
    answer: { status: 202, body: { runId: '{run}', status: 'paused' } },
  },
  {
    at: '2.10',
    says: 'a second pause with the same key is the first answer again',
    given: pauseWithKey,
    ask: {
      to: 'POST /v1/runs/{run}:pause',
      body: { drainPolicy: 'immediate' },
      headers: { 'idempotency-key': 'pause-it' },
    },
    answer: { status: 202, headers: { 'openwop-idempotent-replay': 'true' } },
  },
  {
    at: '2.10',
    says: 'a second pause with another key or none is 409 and tells the state',
    given: given.paused,
    ask: { to: 'POST /v1/runs/{run}:pause' },
    answer: { status: 409, error: 'conflict', details: { runStatus: 'paused' } },
  },
  {
    at: '2.10',
    says: 'pausing a finished run is 409 run_terminal',
    given: given.done,
    ask: { to: 'POST /v1/runs/{run}:pause' },
    answer: { status: 409, error: 'run_terminal', details: { runStatus: 'completed' } },
  },
  {
    at: '2.10',
    says: 'pausing a run that waits for a person is 409 and leaves it waiting',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}:pause' },
    answer: { status: 409, error: 'conflict', details: { runStatus: 'waiting-approval' } },
  },
  {
    at: '2.10',
    says: 'a policy that is none is 400',
    given: given.sleeping,
    ask: { to: 'POST /v1/runs/{run}:pause', body: { drainPolicy: 'someday' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.10',
    says: 'pausing an unknown run is 404',
    ask: { to: 'POST /v1/runs/run_unknown:pause' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.10',
    says: 'a paused run goes on',
    given: given.paused,
    ask: { to: 'POST /v1/runs/{run}:resume', body: { reason: 'back' } },
    answer: { status: 202, body: { runId: '{run}', status: 'running' } },
  },
  {
    at: '2.10',
    says: 'resuming a run that is not paused is 409 and tells the state',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}:resume' },
    answer: { status: 409, error: 'conflict', details: { runStatus: 'waiting-approval' } },
  },
  {
    at: '2.10',
    says: 'resuming a finished run is 409 run_terminal',
    given: given.done,
    ask: { to: 'POST /v1/runs/{run}:resume' },
    answer: { status: 409, error: 'run_terminal', details: { runStatus: 'completed' } },
  },
  {
    at: '2.10',
    says: 'an undeclared property of a resume is 400',
    given: given.paused,
    ask: { to: 'POST /v1/runs/{run}:resume', body: { drainPolicy: 'immediate' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.10',
    says: 'resuming an unknown run is 404',
    ask: { to: 'POST /v1/runs/run_unknown:resume' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'ours',
    says: 'cancelling a run that came out of a bundle is 409',
    given: given.imported,
    ask: { to: 'POST /v1/runs/{run}/cancel' },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at: 'ours',
    says: 'cancelling, spelt otherwise, a run that came out of a bundle is 409',
    given: given.imported,
    ask: { to: 'POST /v1/runs/{run}:cancel' },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at: 'ours',
    says: 'pausing a run that came out of a bundle is 409',
    given: given.imported,
    ask: { to: 'POST /v1/runs/{run}:pause' },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at: 'ours',
    says: 'resuming a run that came out of a bundle is 409',
    given: given.imported,
    ask: { to: 'POST /v1/runs/{run}:resume' },
    answer: { status: 409, error: 'run_imported' },
  },
];
