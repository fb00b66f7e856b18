/** Sections 2.6, 2.7, 2.13 and 2.20: creating and reading runs, and idempotency. */
import { given, type WireRow } from './wire-row.ts';

const create = 'POST /v1/runs';
const done = { workflowId: 'done' };

export const runRows: readonly WireRow[] = [
  {
    at: '2.6',
    says: 'a run is created and tells where it is',
    ask: { to: create, body: { ...done, inputs: { a: 1 }, tags: ['x'], metadata: { who: 'me' } } },
    answer: { status: 201, body: { workflowId: 'done' } },
  },
  {
    at: '2.6',
    says: 'malformed JSON is 400',
    ask: { to: create, raw: '{"workflowId":' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6',
    says: 'an undeclared property is 400',
    ask: { to: create, body: { ...done, colour: 'red' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6',
    says: 'neither workflow nor agent is 400',
    ask: { to: create, body: { inputs: {} } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6, 5.6',
    says: 'an agent that the tenant does not have is 404',
    ask: { to: create, body: { agentId: 'vendor.wire.none.agent' } },
    answer: { status: 404, error: 'not_found', details: { agentId: 'vendor.wire.none.agent' } },
  },
  {
    at: '2.6, 5.6',
    says: 'a workflow and an agent together are 400',
    ask: { to: create, body: { ...done, agentId: 'vendor.wire.none.agent' } },
    answer: { status: 400, error: 'validation_error', details: { field: 'agentId' } },
  },
  {
    at: '3.3',
    says: 'a context that the tenant does not have is 404',
    ask: { to: create, body: { ...done, configurable: { 'cairn.contextId': 'ctx_none' } } },
    answer: { status: 404, error: 'not_found', details: { contextId: 'ctx_none' } },
  },
  {
    at: '2.6',
    says: 'a recursionLimit out of range is 400 at create',
    ask: { to: create, body: { ...done, configurable: { recursionLimit: 0 } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6',
    says: 'a runTimeoutMs out of range is 400 at create',
    ask: { to: create, body: { ...done, configurable: { runTimeoutMs: -1 } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6, 2.21',
    says: '101 tags are 400',
    ask: { to: create, body: { ...done, tags: Array.from({ length: 101 }, (_, i) => `t${i}`) } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6, 2.21',
    says: 'a tag of 257 characters is 400',
    ask: { to: create, body: { ...done, tags: ['x'.repeat(257)] } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.6, 2.21',
    says: 'metadata above its size is 400',
    ask: { to: create, body: { ...done, metadata: { a: 'x'.repeat(9_000) } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '3.3, 12.8',
    says: 'an option that nobody declares is 400',
    ask: { to: create, body: { ...done, configurable: { recursionLimits: 5 } } },
    answer: { status: 400, error: 'validation_error', details: { workflowId: 'done' } },
  },
  {
    at: '3.3, 12.8',
    says: 'a nested option that nobody declares is 400, too',
    ask: { to: create, body: { ...done, configurable: { ai: { modle: 'x' } } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '3.3, 12.8',
    says: 'a nested option is the flat one: both at once must agree',
    ask: { to: create, body: { ...done, configurable: { ai: { model: 'x' }, 'ai.model': 'y' } } },
    answer: { status: 400, error: 'validation_error', details: { field: 'configurable' } },
  },
  {
    at: '3.3, 12.8, 12.9',
    says: 'a nested credential that is not there is 403, and is not echoed',
    ask: { to: create, body: { ...done, configurable: { ai: { credentialRef: 'sk-ant-looks-like-a-key' } } } },
    answer: { status: 403, error: 'credential_forbidden' },
  },
  {
    at: '5.2',
    says: "metadata that says where an agent comes from is the host's to write",
    ask: { to: create, body: { ...done, metadata: { 'vendor.openwop.did': 'did:web:acme.example' } } },
    answer: { status: 400, error: 'validation_error', details: { field: 'metadata' } },
  },
  {
    at: '5.2',
    says: 'the same metadata, nested, is refused too',
    ask: { to: create, body: { ...done, metadata: { vendor: { openwop: { a2a: { agentCardUrl: 'x' } } } } } },
    answer: { status: 400, error: 'validation_error', details: { field: 'metadata' } },
  },
  {
    at: '5.2',
    says: 'an id of another system is no agentId',
    ask: { to: create, body: { agentId: 'did:web:acme.example' } },
    answer: { status: 400, error: 'validation_error', details: { field: 'agentId' } },
  },
  {
    at: '2.6, 11.2 row 18',
    says: 'an unknown workflow is 404 and is named in the details',
    ask: { to: create, body: { workflowId: 'nothing' } },
    answer: { status: 404, error: 'not_found', details: { workflowId: 'nothing' } },
  },
  {
    at: '2.6',
    says: 'a residency that is not offered is refused, not ignored',
    ask: { to: create, body: { ...done, residency: { region: 'eu' } } },
    answer: { status: 400, error: 'capability_required', details: { requiredCapability: 'dataResidency' } },
  },
  {
    at: '2.6',
    says: 'evaluations that are not offered are 501',
    ask: { to: create, body: { mode: 'eval' } },
    answer: { status: 501, error: 'capability_not_provided' },
  },
  {
    at: '2.6, 2.21',
    says: 'inputs that no event can hold are 413',
    ask: { to: create, body: { ...done, inputs: { text: 'x'.repeat(600_000) } } },
    answer: { status: 413, error: 'payload_too_large', details: { maxRequestBodyBytes: 491_520 } },
  },
  {
    at: '2.6',
    says: 'a live key may not ask for a mock provider',
    ask: { to: create, body: { ...done, configurable: { mockProvider: { id: 'stream-text' } } } },
    answer: { status: 403, error: 'mock_provider_forbidden' },
  },
  {
    at: '3.3',
    says: "somebody else's credential, or one that there is none of, is refused",
    ask: { to: create, body: { ...done, configurable: { 'ai.credentialRef': 'nobody-has-it' } } },
    answer: { status: 403, error: 'credential_forbidden' },
  },
  {
    at: '2.6',
    says: 'a live key may not choose the version of the engine',
    ask: { to: create, body: done, headers: { 'x-force-engine-version': '1' } },
    answer: { status: 403, error: 'force_engine_version_forbidden' },
  },
  {
    at: '2.6',
    says: 'a second run of a scope with X-Dedup is 409, with the active run and when to come back',
    given: async (stage) => {
      const { runId } = await stage.told({
        to: create,
        body: { workflowId: 'asks', scopeId: 'order-1' },
        headers: { 'x-dedup': 'enforce' },
      });
      return { active: String(runId) };
    },
    ask: { to: create, body: { workflowId: 'asks', scopeId: 'order-1' }, headers: { 'x-dedup': 'enforce' } },
    answer: {
      status: 409,
      error: 'run_already_active',
      details: { activeRunId: '{active}', activeHost: 'wire-host' },
      headers: { 'retry-after': /^\d+$/ },
    },
  },
  {
    at: '2.20',
    says: 'the same request with the same key is answered again, and says so',
    given: async (stage) => {
      const { runId } = await stage.told({ to: create, body: done, headers: { 'idempotency-key': 'again' } });
      return { first: String(runId) };
    },
    ask: { to: create, body: done, headers: { 'idempotency-key': 'again' } },
    answer: { status: 201, body: { runId: '{first}' }, headers: { 'openwop-idempotent-replay': 'true' } },
  },
  {
    at: '2.20',
    says: 'another request with the same key is 409, never the recorded answer',
    given: async (stage) => {
      await stage.told({ to: create, body: done, headers: { 'idempotency-key': 'other' } });
      return {};
    },
    ask: { to: create, body: { ...done, tags: ['x'] }, headers: { 'idempotency-key': 'other' } },
    answer: { status: 409, error: 'idempotency_key_mismatch' },
  },
  {
    at: '2.20',
    says: 'keys of another tenant are other keys',
    given: async (stage) => {
      await stage.told({ to: create, body: done, headers: { 'idempotency-key': 'shared' } });
      return {};
    },
    ask: { to: create, as: 'zoe', body: done, headers: { 'idempotency-key': 'shared' } },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.20',
    says: 'a key of 256 characters is 400',
    ask: { to: create, body: done, headers: { 'idempotency-key': 'k'.repeat(256) } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.20',
    says: 'GET does not look at the key',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}', headers: { 'idempotency-key': 'k'.repeat(256) } },
    answer: { status: 200 },
  },
  {
    at: '2.7',
    says: 'a run is read, with a strong ETag',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}' },
    answer: { status: 200, body: { runId: '{run}', status: 'completed' }, headers: { etag: /^"[^"]+"$/ } },
  },
  {
    at: '2.7',
    says: 'a run that the caller has is 304 and empty',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}', headers: { 'if-none-match': '*' } },
    answer: { status: 304, text: /^$/ },
  },
  {
    at: '2.7',
    says: 'an unknown run is 404',
    ask: { to: 'GET /v1/runs/run_unknown' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.7',
    says: 'a run is read as it was after one of its events',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}?atSeq=0' },
    answer: { status: 200, body: { atSeq: 0, status: 'running' }, headers: { etag: /^"/ } },
  },
  {
    at: '2.7',
    says: 'an event that the run does not have is 400',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}?atSeq=99' },
    answer: { status: 400, error: 'validation_error', details: { parameter: 'atSeq' } },
  },
  {
    at: '2.7',
    says: 'a negative position is 400',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}?atSeq=-1' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.11',
    says: 'equal logs have no divergence',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}:diff?against={run}' },
    answer: { status: 200, body: { divergedAtSeq: null, eventDiffs: [] } },
  },
  {
    at: '2.11',
    says: 'an unchanged diff is 304',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}:diff?against={run}', headers: { 'if-none-match': '*' } },
    answer: { status: 304 },
  },
  {
    at: '2.13',
    says: 'a debug bundle at a position that is no number is 400',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/debug-bundle?atSeq=x' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.14',
    says: 'interrupts at an event that the run does not have are 400',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/interrupts?atSeq=99' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.11',
    says: 'a diff against an active run is of a prefix',
    given: given.waiting,
    ask: { to: 'GET /v1/runs/{run}:diff?against={run}' },
    answer: { status: 200, body: { divergedAtSeq: null, truncated: true } },
  },
  {
    at: '2.11',
    says: 'a diff without the other run is 400',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}:diff' },
    answer: { status: 400, error: 'validation_error', details: { parameter: 'against' } },
  },
  {
    at: '2.11',
    says: 'a diff against a malformed id is 400',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}:diff?against=%2F' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.11',
    says: 'a diff against an unknown run is 404',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}:diff?against=run_unknown' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.11, 2.4',
    says: 'a diff of another tenant is 404',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}:diff?against={run}', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.13',
    says: 'a debug bundle is read and not kept by caches',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/debug-bundle' },
    answer: { status: 200, body: { bundleVersion: '1.0' }, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: '11.3',
    says: 'a read token of a run is minted',
    given: given.done,
    ask: { to: 'POST /v1/runs/{run}/tokens', body: {} },
    answer: { status: 201, body: { of: 'run' }, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: '11.3',
    says: 'a read token of a run of another tenant is 404',
    given: given.done,
    ask: { to: 'POST /v1/runs/{run}/tokens', body: {}, as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '11.3',
    says: 'a read token lives a day at most',
    given: given.done,
    ask: { to: 'POST /v1/runs/{run}/tokens', body: { expiresInSeconds: 86_401 } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'a read token of a run of another tenant cannot be revoked',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}/tokens/gone', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '11.3',
    says: 'revoking a read token takes no body',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}/tokens/gone', body: { now: true } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'a read token is revoked, also one that has ended by itself',
    given: given.done,
    ask: { to: 'DELETE /v1/runs/{run}/tokens/gone' },
    answer: { status: 204 },
  },
  {
    at: '2.13',
    says: 'a debug bundle of another tenant is 404',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/debug-bundle', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
];
