/** Section 8.1: forks, and retries as their everyday use. */
import { given, type Stage, type WireRow } from './wire-row.ts';

const fork = 'POST /v1/runs/{run}:fork';
const retry = 'POST /v1/runs/{run}:retry';

const purged = async (stage: Stage) => {
  const names = await given.done(stage);
  await stage.told({ to: `DELETE /v1/runs/${names.run}`, as: 'keeper' });
  return names;
};

const child = async (stage: Stage) => ({ run: await stage.child() });

export const forkRows: readonly WireRow[] = [
  {
    at: '8.1',
    says: 'the body may name only the mode of a replay',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay' } },
    answer: { status: 201, body: { sourceRunId: '{run}', mode: 'replay', fromSeq: 0 } },
  },
  {
    at: '8.1',
    says: 'a branch begins at an event',
    given: given.done,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 1 } },
    answer: { status: 201, body: { sourceRunId: '{run}', mode: 'branch', fromSeq: 1 } },
  },
  {
    at: '8.1',
    says: 'a negative position is 400',
    given: given.done,
    ask: { to: fork, body: { mode: 'branch', fromSeq: -1 } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '8.1',
    says: 'a branch without a position is 400',
    given: given.done,
    ask: { to: fork, body: { mode: 'branch' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '8.1',
    says: 'a replay with other options is 400',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay', runOptionsOverlay: { tags: ['x'] } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '8.1',
    says: 'an unknown run is 404',
    ask: { to: 'POST /v1/runs/run_unknown:fork', body: { mode: 'replay' } },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '8.1',
    says: "another tenant's run is 404",
    given: given.done,
    ask: { to: fork, as: 'zoe', body: { mode: 'replay' } },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '8.1',
    says: 'a position beyond the log is 422',
    given: given.done,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 999 } },
    answer: { status: 422, error: 'invalid_from_seq' },
  },
  {
    at: '8.1',
    says: 'a run that was imported is 409',
    given: given.imported,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 1 } },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at: '8.6',
    says: 'a run that was purged cannot be forked',
    given: purged,
    ask: { to: fork, body: { mode: 'replay' } },
    answer: { status: 422, error: 'replay_memory_snapshot_unavailable', details: { sourceRunId: '{run}', fromSeq: 0 } },
  },
  {
    at: '8.2',
    says: 'a branch may not ask for a mock provider',
    given: given.done,
    ask: {
      to: fork,
      body: {
        mode: 'branch',
        fromSeq: 1,
        runOptionsOverlay: { configurable: { mockProvider: { id: 'stream-text' } } },
      },
    },
    answer: { status: 403, error: 'mock_provider_forbidden' },
  },
  {
    at: '8.2',
    says: 'a branch may not use a credential that is not there',
    given: given.done,
    ask: {
      to: fork,
      body: {
        mode: 'branch',
        fromSeq: 1,
        runOptionsOverlay: { configurable: { 'ai.credentialRef': 'nobody-has-it' } },
      },
    },
    answer: { status: 403, error: 'credential_forbidden' },
  },
  {
    at: '8.2',
    says: 'an answer to a question that nobody asked is 404',
    given: given.waiting,
    ask: {
      to: fork,
      body: { mode: 'branch', fromSeq: 1, cairn: { overlay: { answer: { interruptId: 'int_none', value: {} } } } },
    },
    answer: { status: 404, error: 'interrupt_not_found' },
  },
  {
    at: '8.2',
    says: 'an answer to a question that has one is 409',
    given: given.answered,
    ask: {
      to: fork,
      body: {
        mode: 'branch',
        fromSeq: 8,
        cairn: { overlay: { answer: { nodeId: 'n0', value: { action: 'accept' } } } },
      },
    },
    answer: { status: 409, error: 'interrupt_already_resolved' },
  },
  {
    at: '8.1',
    says: 'a child run cannot branch alone',
    given: child,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 1 } },
    answer: { status: 501, error: 'capability_not_provided' },
  },
  {
    at: 'retry',
    says: 'a child run cannot be tried again alone',
    given: async (stage) => ({ run: await stage.child('expires') }),
    ask: { to: retry, body: {} },
    answer: { status: 501, error: 'capability_not_provided' },
  },
  {
    at: 'retry',
    says: 'a failed run is tried again',
    given: given.expired,
    ask: { to: retry, body: {} },
    answer: { status: 201, body: { sourceRunId: '{run}', mode: 'branch' } },
  },
  {
    at: 'retry',
    says: 'a run that did not fail is 409',
    given: given.done,
    ask: { to: retry, body: {} },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at: 'retry',
    says: 'an undeclared property is 400',
    given: given.expired,
    ask: { to: retry, body: { why: 'x' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'retry',
    says: 'an unknown run is 404',
    ask: { to: 'POST /v1/runs/run_unknown:retry', body: {} },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'retry',
    says: 'a run that was imported is 409',
    given: given.imported,
    ask: { to: retry, body: {} },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at: 'retry',
    says: 'a retry may not ask for a mock provider',
    given: given.expired,
    ask: { to: retry, body: { runOptionsOverlay: { configurable: { mockProvider: { id: 'stream-text' } } } } },
    answer: { status: 403, error: 'mock_provider_forbidden' },
  },
  {
    at: 'retry',
    says: 'a retry may not use a credential that is not there',
    given: given.expired,
    ask: { to: retry, body: { runOptionsOverlay: { configurable: { 'ai.credentialRef': 'nobody-has-it' } } } },
    answer: { status: 403, error: 'credential_forbidden' },
  },
];
