/** Sections 2.1 to 2.5 and 2.21: general rules, and the routes that are not about one run. */
import type { Json } from '@cairn/protocol';
import { definition as definitionOf, given, type Stage, type WireRow } from './wire-row.ts';

const definition = (id: string, typeId: string) => definitionOf(id, typeId, {}) as Record<string, Json>;

export const generalRows: readonly WireRow[] = [
  {
    at: '2.1',
    says: 'a tenant sees its limits and what it uses of them',
    ask: { to: 'GET /v1/host/cairn/limits' },
    answer: { status: 200, body: { limits: { openCalls: { used: 0, waiting: 0 } } } },
  },
  {
    at: '2.1',
    says: 'a path without a version is a bad request',
    ask: { to: 'GET /runs' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.1',
    says: 'a missing key is 401, and the answer says what to send',
    ask: { to: 'GET /v1/runs', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated', headers: { 'www-authenticate': 'Bearer' } },
  },
  {
    at: '2.1',
    says: 'an unknown key is 401',
    ask: { to: 'GET /v1/runs', as: 'unknown' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.1',
    says: 'a malformed credential is 401',
    ask: { to: 'GET /v1/runs', as: 'nobody', headers: { authorization: 'Basic YTpi' } },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.1',
    says: 'the key is checked before existence',
    ask: { to: 'GET /v1/runs/run_unknown', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.1',
    says: 'a missing scope is 403 and is named in the details',
    ask: { to: 'POST /v1/runs', as: 'reader', body: { workflowId: 'done' } },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'runs:create' } },
  },
  {
    at: '2.1',
    says: 'bodies are application/json',
    ask: { to: 'POST /v1/runs', raw: 'workflowId=done', headers: { 'content-type': 'text/plain' } },
    answer: { status: 415, error: 'unsupported_media_type' },
  },
  {
    at: '2.2',
    says: 'what is not served is 404 in the envelope',
    ask: { to: 'GET /v1/nothing' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.1, 2.16',
    says: 'an artifact is 401 to a caller without a key, before any 404',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/artifacts/a1', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.16',
    says: 'an artifact that nobody wrote is 404',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/artifacts/a1' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.16',
    says: 'a version of an artifact is a number from 1',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}/artifacts/a1?version=0' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.16',
    says: 'an artifact is only read',
    given: given.done,
    ask: { to: 'PUT /v1/runs/{run}/artifacts/a1', body: {} },
    answer: { status: 405, error: 'method_not_allowed', headers: { allow: 'GET, HEAD' } },
  },
  {
    at: '2.2',
    says: 'a wrong method is 405 and tells the right ones',
    ask: { to: 'PUT /v1/workflows', body: {} },
    answer: { status: 405, error: 'method_not_allowed', headers: { allow: 'POST, GET, HEAD' } },
  },
  {
    at: '2.4',
    says: 'a tenantId in the body does not make a run of another tenant',
    given: async (stage) => {
      const { runId } = await stage.told({ to: 'POST /v1/runs', body: { workflowId: 'done', tenantId: 'globex' } });
      return { run: String(runId) };
    },
    ask: { to: 'GET /v1/runs/{run}' },
    answer: { status: 200, body: { owner: { tenant: 'acme', principal: 'ann' } } },
  },
  {
    at: '2.4',
    says: 'a run of another tenant is not found',
    given: given.done,
    ask: { to: 'GET /v1/runs/{run}', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.5 row 1',
    says: 'discovery needs no key',
    ask: { to: 'GET /.well-known/openwop', as: 'nobody' },
    answer: {
      status: 200,
      body: { protocolVersion: '1.0' },
      headers: { 'content-type': /^application\/json/, 'cache-control': 'public, max-age=300', etag: /^"/ },
    },
  },
  {
    at: '2.5 row 1',
    says: 'discovery that the caller has is 304',
    given: async () => ({}),
    ask: { to: 'GET /.well-known/openwop', as: 'nobody', headers: { 'if-none-match': '*' } },
    answer: { status: 304 },
  },
  {
    at: '2.5 row 2',
    says: 'the OpenAPI document needs no key',
    ask: { to: 'GET /v1/openapi.json', as: 'nobody' },
    answer: { status: 200, text: /"openapi":"3\.1\.\d+"/ },
  },
  {
    at: '2.5 row 2',
    says: 'an OpenAPI document that the caller has is 304',
    ask: { to: 'GET /v1/openapi.json', as: 'nobody', headers: { 'if-none-match': '*' } },
    answer: { status: 304 },
  },
  {
    at: '2.5 row 7, 11.3',
    says: 'runs are listed by filter, a page at a time',
    given: given.done,
    ask: { to: 'GET /v1/runs?status=completed&workflowId=done&limit=1' },
    answer: { status: 200, body: { runs: [{ workflowId: 'done', status: 'completed' }] } },
  },
  {
    at: '11.3',
    says: 'a status that is none is refused',
    ask: { to: 'GET /v1/runs?status=sleeping' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'a limit out of range is refused',
    ask: { to: 'GET /v1/runs?limit=0' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'a cursor that nobody gave is refused',
    ask: { to: 'GET /v1/runs?cursor=%00' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'the runs that no run started are listed',
    ask: { to: 'GET /v1/runs?parentRunId=none&limit=1' },
    answer: { status: 200, body: {} },
  },
  {
    at: '11.3',
    says: 'a parent and another filter cannot be combined',
    ask: { to: 'GET /v1/runs?parentRunId=none&tag=x' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'the runs of an unknown parent are 404',
    ask: { to: 'GET /v1/runs?parentRunId=run_nobody' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '11.3',
    says: 'the contexts that have artifacts are listed',
    ask: { to: 'GET /v1/host/cairn/artifacts' },
    answer: { status: 200, body: { contexts: [] } },
  },
  {
    at: '11.3',
    says: 'more contexts with artifacts than a page holds are refused',
    ask: { to: 'GET /v1/host/cairn/artifacts?limit=51' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'what changed in the run list is asked for from the position of now',
    ask: { to: 'GET /v1/host/cairn/run-changes' },
    answer: { status: 200, body: { runs: [] } },
  },
  {
    at: '11.3',
    says: 'a position that this host did not give is 400',
    ask: { to: 'GET /v1/host/cairn/run-changes?after=%00' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.15',
    says: 'a workflow is read by its id',
    ask: { to: 'GET /v1/workflows/done' },
    answer: { status: 200, body: { id: 'done', nodes: [{ id: 'n0' }] } },
  },
  {
    at: '2.15',
    says: 'an unknown workflow is 404',
    ask: { to: 'GET /v1/workflows/nothing' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.15',
    says: 'workflows are listed',
    ask: { to: 'GET /v1/workflows' },
    answer: { status: 200 },
  },
  {
    at: '3.6',
    says: 'node types need the scope to read what there is',
    ask: { to: 'GET /v1/node-types', as: 'reader' },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'manifest:read' } },
  },
  {
    at: '3.6',
    says: 'node types are listed by id, with the schema of their config',
    ask: { to: 'GET /v1/node-types' },
    answer: { status: 200, body: { nodeTypes: [{ typeId: 'cairn.agent', configSchema: { type: 'object' } }] } },
  },
  {
    at: '2.15, 11.3',
    says: 'a workflow is registered',
    ask: { to: 'POST /v1/workflows', body: definition('registered', 'core.noop') },
    answer: { status: 201, body: { workflowId: 'registered', version: '1' } },
  },
  {
    at: '2.15, 11.3',
    says: 'the same id and version with another body is 409',
    ask: { to: 'POST /v1/workflows', body: { ...definition('done', 'core.noop'), name: 'another' } },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at: '2.15, 1.6',
    says: 'a definition that needs what is not offered is refused at registration, and the capability named',
    ask: {
      to: 'POST /v1/workflows',
      body: { ...definition('gated', 'core.noop'), channels: { pin: { reducer: 'replace', sensitive: true } } },
    },
    answer: {
      status: 400,
      error: 'capability_required',
      details: { requiredCapability: 'secrets' },
    },
  },
  {
    at: '2.15',
    says: 'a definition that does not fit its schema is refused at registration',
    ask: { to: 'POST /v1/workflows', body: { id: 'empty', name: 'Empty', version: '1' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.15',
    says: 'a definition that is too large is refused at registration, with its size and the limit',
    ask: { to: 'POST /v1/workflows', body: { ...definition('large', 'core.noop'), edges: Array(10_001).fill({}) } },
    answer: { status: 413, error: 'definition_too_large', details: { count: 10_001, limit: 10_000 } },
  },
  {
    at: '1.1',
    says: 'the documentation needs no key',
    ask: { to: 'GET /v1/docs', as: 'nobody' },
    answer: { status: 200, headers: { 'content-type': /^text\/html/ } },
  },
  {
    at: '1.1',
    says: 'documentation that the caller has is 304',
    ask: { to: 'GET /v1/docs', as: 'nobody', headers: { 'if-none-match': '*' } },
    answer: { status: 304 },
  },
  {
    at: 'ours',
    says: 'whoever asks learns that the host is alive',
    ask: { to: 'GET /healthz', as: 'nobody' },
    answer: { status: 200 },
  },
  {
    at: 'ours',
    says: 'whoever asks learns that the host is ready',
    ask: { to: 'GET /readyz', as: 'nobody' },
    answer: { status: 200 },
  },
  {
    at: 'ours',
    says: 'figures of the whole host are not for ordinary keys',
    ask: { to: 'GET /metrics' },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'metrics:read' } },
  },
  {
    at: 'ours',
    says: 'figures of the whole host are for keys of its operator',
    ask: { to: 'GET /metrics', as: 'operator' },
    answer: { status: 200, headers: { 'content-type': /^text\/plain/ } },
  },
  {
    at: 'ours',
    says: 'a session is opened with a key',
    ask: { to: 'POST /v1/host/cairn/session' },
    answer: { status: 200, headers: { 'set-cookie': /HttpOnly; SameSite=Strict/, 'cache-control': 'no-store' } },
  },
  {
    at: 'ours',
    says: 'opening a session takes no body',
    ask: { to: 'POST /v1/host/cairn/session', body: { life: 'long' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'ours',
    says: 'a caller learns who it is',
    ask: { to: 'GET /v1/host/cairn/session' },
    answer: { status: 200, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: 'ours',
    says: 'a sign-in link holds a code, and no key',
    ask: { to: 'POST /v1/host/cairn/sign-in-links' },
    answer: { status: 201, text: /\/sign-in#[\w-]{43}"/, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: 'ours',
    says: 'making a sign-in link takes no body',
    ask: { to: 'POST /v1/host/cairn/sign-in-links', body: { life: 'long' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'ours',
    says: 'the code of a sign-in link opens a session without a key',
    given: signInCode,
    ask: { to: 'POST /v1/host/cairn/sign-in-links/{code}', as: 'nobody' },
    answer: { status: 200, headers: { 'set-cookie': /HttpOnly; SameSite=Strict/, 'cache-control': 'no-store' } },
  },
  {
    at: 'ours',
    says: 'a code that no link has opens nothing',
    ask: { to: 'POST /v1/host/cairn/sign-in-links/no-such-code', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: 'ours',
    says: 'opening a session by a link takes no body',
    given: signInCode,
    ask: { to: 'POST /v1/host/cairn/sign-in-links/{code}', as: 'nobody', body: {} },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'ours',
    says: 'a session is ended without a key',
    ask: { to: 'DELETE /v1/host/cairn/session', as: 'nobody' },
    answer: { status: 204, headers: { 'set-cookie': /Max-Age=0/ } },
  },
  {
    at: 'ours',
    says: 'ending a session takes no body',
    ask: { to: 'DELETE /v1/host/cairn/session', as: 'nobody', body: {} },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.21',
    says: 'a body above limits.maxRequestBodyBytes is 413 and names the limit',
    ask: { to: 'POST /v1/workflows', raw: `{"id":"${'x'.repeat(800_000)}"}` },
    answer: { status: 413, error: 'payload_too_large', details: { maxRequestBodyBytes: 700_000 } },
  },
  {
    at: '2.21',
    says: 'an id of 129 characters is no run',
    ask: { to: `GET /v1/runs/${'r'.repeat(129)}` },
    answer: { status: 404, error: 'not_found' },
  },
];

async function signInCode(stage: Stage): Promise<{ readonly code: string }> {
  const { url } = await stage.told({ to: 'POST /v1/host/cairn/sign-in-links' });
  return { code: String(url).split('#')[1] ?? '' };
}
