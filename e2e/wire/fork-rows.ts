/** Section 8.1: forks, and retries as their everyday use. */
import type { JsonObject } from '@cairn/protocol';
import { given, type Stage, type WireRow } from './wire-row.ts';

const fork = 'POST /v1/runs/{run}:fork';
const retry = 'POST /v1/runs/{run}:retry';

const purged = async (stage: Stage) => {
  const names = await given.done(stage);
  await stage.told({ to: `DELETE /v1/runs/${names.run}`, as: 'keeper' });
  return names;
};

/** A fork that another principal than the starter of the run has made. */
const forkedByBob = (body: JsonObject) => async (stage: Stage) => {
  const { run } = await given.done(stage);
  const { runId } = await stage.told({ to: `POST /v1/runs/${run}:fork`, as: 'bob', body });
  return { run: run ?? '', fork: String(runId) };
};

const underKey = { 'idempotency-key': 'one-fork-of-this-run' };

const forkedOnce = async (stage: Stage) => {
  const names = await given.done(stage);
  const { runId } = await stage.told({
    to: `POST /v1/runs/${names.run}:fork`,
    body: { mode: 'replay' },
    headers: underKey,
  });
  return { ...names, fork: String(runId) };
};

/** A child that was cancelled because its parent was. */
const outlived = async (stage: Stage) => {
  const run = await stage.child('detached');
  await stage.told({ to: `POST /v1/runs/${run.split('.')[0]}/cancel` });
  await stage.told({ to: `POST /v1/runs/${run}/interrupts/n0`, body: { resumeValue: { action: 'accept' } } });
  await stage.reaches(run, 'completed');
  return { run };
};

const child = async (stage: Stage) => ({ run: await stage.child() });

export const forkRows: readonly WireRow[] = [
  {
    at: '1.3',
    says: 'discovery names the modes of forks, and that a replay takes recorded outcomes',
    ask: { to: 'GET /.well-known/openwop' },
    answer: {
      status: 200,
      body: {
        replay: { supported: true, modes: ['replay', 'branch'], sideEffectSuppression: 'recorded-outcome' },
        multiAgent: {
          executionModel: {
            version: 4,
            crossHostCausation: { supported: true, hostId: 'wire-host' },
            replayDeterminism: {
              supported: true,
              llmCacheKeyRecipe: 'spec-rfc-0041',
              refusalDivergenceEmission: true,
            },
          },
        },
      },
    },
  },
  {
    at: '2.5 row 13',
    says: 'a fork needs a key',
    ask: { to: 'POST /v1/runs/run_unknown:fork', as: 'nobody', body: { mode: 'replay' } },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.5 row 13',
    says: 'a fork needs runs:create',
    given: given.done,
    ask: { to: fork, as: 'reader', body: { mode: 'replay' } },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'runs:create' } },
  },
  {
    at: '2.5 row 13',
    says: 'a fork needs runs:read',
    given: given.done,
    ask: { to: fork, as: 'creator', body: { mode: 'replay' } },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'runs:read' } },
  },
  {
    at: '2.5 row 13',
    says: 'runs:create and runs:read suffice',
    given: given.waiting,
    ask: { to: fork, as: 'starter', body: { mode: 'branch', fromSeq: 1 } },
    answer: { status: 201 },
  },
  {
    at: '2.5 row 17',
    says: 'an answer in a branch needs approvals:respond, as any answer does',
    given: given.waiting,
    ask: {
      to: fork,
      as: 'starter',
      body: {
        mode: 'branch',
        fromSeq: 6,
        cairn: { overlay: { answer: { nodeId: 'n0', value: { action: 'accept' } } } },
      },
    },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'approvals:respond' } },
  },
  {
    at: '2.4',
    says: 'the owner of a replay is that of its source, whoever asked for it',
    given: forkedByBob({ mode: 'replay' }),
    ask: { to: 'GET /v1/runs/{fork}' },
    answer: {
      status: 200,
      body: { owner: { tenant: 'acme', principal: 'ann' }, fork: { sourceRunId: '{run}', fromSeq: 0, mode: 'replay' } },
    },
  },
  {
    at: '2.4',
    says: 'a branch stays with the tenant of its source, and acts for whoever asked for it',
    given: forkedByBob({ mode: 'branch', fromSeq: 1 }),
    ask: { to: 'GET /v1/runs/{fork}' },
    answer: {
      status: 200,
      body: { owner: { tenant: 'acme', principal: 'bob' }, fork: { sourceRunId: '{run}', fromSeq: 1, mode: 'branch' } },
    },
  },
  {
    at: '2.20',
    says: 'a repeated request is answered with the same fork',
    given: forkedOnce,
    ask: { to: fork, body: { mode: 'replay' }, headers: underKey },
    answer: { status: 201, body: { runId: '{fork}' }, headers: { 'openwop-idempotent-replay': 'true' } },
  },
  {
    at: '8.1',
    says: 'an undeclared property is 400',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay', upTo: 3 } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '8.1',
    says: 'a mode that is none is 400',
    given: given.done,
    ask: { to: fork, body: { mode: 'copy', fromSeq: 1 } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '8.1',
    says: 'a position that is no whole number is 400',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay', fromSeq: 1.5 } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '8.1',
    says: 'an empty overlay of a replay changes nothing and is taken',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay', runOptionsOverlay: {} } },
    answer: { status: 201, body: { mode: 'replay' } },
  },
  {
    at: '8.1',
    says: 'a replay may share every event of its source',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay', fromSeq: 6 } },
    answer: {
      status: 201,
      body: { fromSeq: 6, status: 'completed' },
      text: /"eventsUrl":"\/v1\/runs\/run_[^"]+\/events"/,
    },
  },
  {
    at: '8.1',
    says: 'the position after that is beyond the log',
    given: given.done,
    ask: { to: fork, body: { mode: 'replay', fromSeq: 7 } },
    answer: {
      status: 422,
      error: 'invalid_from_seq',
      details: { sourceRunId: '{run}', fromSeq: 7, lastSeq: 5 },
    },
  },
  {
    at: '8.1',
    says: 'the bounds are checked before what is left of the events',
    given: purged,
    ask: { to: fork, body: { mode: 'replay', fromSeq: 7 } },
    answer: { status: 422, error: 'invalid_from_seq', details: { sourceRunId: '{run}', fromSeq: 7 } },
  },
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
    answer: {
      status: 422,
      error: 'replay_memory_snapshot_unavailable',
      details: { sourceRunId: '{run}', fromSeq: 0, reason: 'retention_expired' },
    },
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
    says: 'a child run is forked alone, as any run',
    given: child,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 1 } },
    answer: { status: 201, body: { sourceRunId: '{run}', mode: 'branch', fromSeq: 1 } },
  },
  {
    at: '8.1',
    says: 'a child run is forked with its tree',
    given: child,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 1, cairn: { tree: true } } },
    answer: { status: 201, body: { sourceRunId: '{run}', mode: 'branch', fromSeq: 1 } },
  },
  {
    at: '8.1',
    says: 'a tree cannot be cut where its root had ended',
    given: outlived,
    ask: { to: fork, body: { mode: 'branch', fromSeq: 7, cairn: { tree: true } } },
    answer: { status: 409, error: 'conflict', details: { sourceRunId: '{run}', fromSeq: 7 } },
  },
  {
    at: 'retry',
    says: 'a child run that failed is tried again alone',
    given: async (stage) => ({ run: await stage.child('expires') }),
    ask: { to: retry, body: {} },
    answer: { status: 201, body: { sourceRunId: '{run}', mode: 'branch' } },
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
