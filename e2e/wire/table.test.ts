/** Sections 2 and 5.4 to 5.5 of the wire as a table of tests, against a host as its users start it; every refusal must be the closed envelope. */
import { readFile } from 'node:fs/promises';
import { type ErrorCode, errorEnvelope, errorKinds } from '@cairn/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bridgeRows } from './bridge-rows.ts';
import { contextRows } from './context-rows.ts';
import { controlRows } from './control-rows.ts';
import { eventRows } from './event-rows.ts';
import { forkRows } from './fork-rows.ts';
import { generalRows } from './general-rows.ts';
import { interruptRows } from './interrupt-rows.ts';
import { operatorRows } from './operator-rows.ts';
import { packRows } from './pack-rows.ts';
import { retentionRows } from './retention-rows.ts';
import { runRows } from './run-rows.ts';
import { toolRows } from './tool-rows.ts';
import type { Answer, WireRow } from './wire-row.ts';
import { filled, type Reply, WireStage } from './wire-stage.ts';

const rows: readonly WireRow[] = [
  ...generalRows,
  ...runRows,
  ...eventRows,
  ...controlRows,
  ...interruptRows,
  ...packRows,
  ...toolRows,
  ...retentionRows,
  ...operatorRows,
  ...forkRows,
  ...contextRows,
  ...bridgeRows,
];

let stage: WireStage;
beforeAll(async () => {
  stage = await WireStage.open();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

for (const row of rows) {
  test(`${row.at}: ${row.says} (${row.answer.status})`, () => play(row));
}

async function play({ given, ask, answer }: WireRow): Promise<void> {
  const names = (await given?.(stage)) ?? {};
  const reply = await stage.send(ask, names);
  expect([reply.status, reply.status === answer.status ? '' : reply.text]).toEqual([answer.status, '']);
  const expected = JSON.parse(filled(JSON.stringify(answer), names)) as Answer;
  checkBody(reply, expected);
  if (answer.text !== undefined) expect(reply.text).toMatch(answer.text);
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (typeof value === 'string') expect([name, reply.headers.get(name)]).toEqual([name, value]);
    else expect(reply.headers.get(name) ?? '').toMatch(value);
  }
}

function checkBody({ status, text }: Reply, { error, details, body }: Answer): void {
  if (status >= 400) {
    const envelope = errorEnvelope.parse(JSON.parse(text));
    expect(envelope.error).toBe(error);
    expect(errorKinds[envelope.error as ErrorCode].status).toBe(status);
    if (details !== undefined) expect(envelope.details).toMatchObject(details);
  }
  if (body !== undefined) expect(begins(JSON.parse(text), body)).toMatchObject(body);
}

/** Lists may be longer than what a row says about their beginning. */
function begins(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual)) {
    if (!Array.isArray(expected) || expected.length === 0) return actual;
    return expected.map((item, i) => begins(actual[i], item));
  }
  if (typeof actual !== 'object' || actual === null || typeof expected !== 'object' || expected === null) return actual;
  const wanted = expected as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(actual).map(([name, value]) => [name, begins(value, wanted[name])]));
}

interface Described {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** Codes that every route of its kind has; they are tested over the route table. */
const everywhere = [
  'unauthenticated',
  'forbidden',
  'unsupported_media_type',
  'payload_too_large',
  'rate_limited',
  'internal_error',
  'service_unavailable',
  'idempotency_key_mismatch',
  'idempotency_in_flight',
  'run_purged',
];

/** What no single request brings about, and the tests that do. */
const elsewhere: Readonly<Record<string, string>> = {
  'answerInterrupt conflict': 'packages/host/src/engine/core/answers/answers.test.ts',
  'mintInterruptToken interrupt_expired': 'packages/host/src/server/inbox/token-interrupts.test.ts',
  'inspectInterrupt interrupt_not_found': 'packages/host/src/server/inbox/token-interrupts.test.ts',
  'inspectInterrupt interrupt_expired': 'packages/host/src/server/inbox/token-interrupts.test.ts',
  'resolveInterrupt interrupt_not_found': 'packages/host/src/server/inbox/token-interrupts.test.ts',
  'resolveInterrupt interrupt_expired': 'packages/host/src/server/inbox/token-interrupts.test.ts',
  'resolveInterrupt conflict': 'packages/host/src/server/inbox/token-interrupts.test.ts',
  'installPack unsupported_model_class': 'packages/host/src/agents/packs/check-pack.test.ts',
  // Stand-ins for models are for hosts in conformance mode.
  'createRun unsupported_mock_provider': 'e2e/openwop/prompt-scenarios.ts',
  'registerWorkflow quota_exceeded': 'packages/host/src/engine/workflow/version-quota.test.ts',
  'createRun run_state_too_large': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'createRun quota_exceeded': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'answerInterrupt run_state_too_large': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'answerInterrupt quota_exceeded': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'resolveInterrupt run_state_too_large': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'resolveInterrupt quota_exceeded': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'createRun event_too_large': 'packages/host/src/server/http/body-limit.test.ts',
  'answerInterrupt event_too_large': 'packages/host/src/server/http/body-limit.test.ts',
  'resolveInterrupt event_too_large': 'packages/host/src/server/http/body-limit.test.ts',
  'getRun conflict': 'packages/host/src/server/runs/past-runs.test.ts',
  'getEvents conflict': 'packages/host/src/server/runs/past-runs.test.ts',
  'listRunInterrupts conflict': 'packages/host/src/server/runs/past-runs.test.ts',
  'getDebugBundle conflict': 'packages/host/src/server/runs/past-runs.test.ts',
  'forkRun unsupported_mock_provider': 'packages/host/src/server/runs/forks.test.ts',
  'retryRun unsupported_mock_provider': 'packages/host/src/server/runs/forks.test.ts',
  'getRunArtifact 200': 'packages/host/src/server/artifacts/run-artifact.test.ts',
  'getRunArtifact 304': 'packages/host/src/server/artifacts/run-artifact.test.ts',
  'saveArtifact upload_stalled': 'packages/host/src/server/artifacts/steady-body.test.ts',
  'deleteRun 202': 'packages/host/src/server/retention/purge-routes.test.ts',
  ...Object.fromEntries(
    [
      'listArtifacts 200',
      'listArtifacts validation_error',
      'listArtifacts not_found',
      'getArtifact 200',
      'getArtifact 206',
      'getArtifact 304',
    ]
      .concat('getArtifact validation_error', 'getArtifact not_found')
      .map((answer) => [answer, 'packages/host/src/server/artifacts/artifacts.test.ts']),
  ),
  ...Object.fromEntries(
    ['200', '201', 'not_found', 'validation_error', 'artifact_version_conflict', 'precondition_required']
      .concat('artifact_too_large', 'quota_exceeded')
      .map((answer) => [`saveArtifact ${answer}`, 'packages/host/src/server/artifacts/save-artifact.test.ts']),
  ),
  ...Object.fromEntries(
    ['202', 'validation_error', 'not_found', 'auth_expired', 'interrupt_already_resolved', 'input_invalid']
      .map((answer) => `completeAuth ${answer}`)
      .concat(
        ['302', 'not_found', 'auth_expired', 'interrupt_already_resolved', 'input_invalid'].map(
          (answer) => `authorizeAuth ${answer}`,
        ),
      )
      .concat(
        [
          '200',
          'validation_error',
          'forbidden',
          'auth_expired',
          'auth_denied',
          'interrupt_already_resolved',
          'http_network_error',
        ].map((answer) => `signInCallback ${answer}`),
      )
      .concat(
        'listCredentials 200',
        'deleteCredential 204',
        'deleteCredential validation_error',
        'deleteCredential not_found',
      )
      .map((answer) => [answer, 'packages/host/src/server/sign-ins/sign-ins.test.ts']),
  ),
  ...Object.fromEntries(
    ['sendAiSdkChat 200', 'sendAiSdkChat not_found', 'sendAiSdkChat conflict', 'sendAiSdkChat input_invalid']
      .concat(
        'sendAiSdkChat validation_error',
        'resumeAiSdkChat 200',
        'resumeAiSdkChat 204',
        'resumeAiSdkChat not_found',
      )
      .map((answer) => [answer, 'packages/host/src/server/ai-sdk/requests.test.ts']),
  ),
  ...Object.fromEntries(
    ['capability_required', 'event_too_large', 'quota_exceeded'].map((code) => [
      `sendAiSdkChat ${code}`,
      'packages/host/src/server/contexts/refusals.test.ts',
    ]),
  ),
  'sendAiSdkChat run_state_too_large': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'cancelToolCall 202': 'packages/host/src/server/contexts/tool-cancels.test.ts',
  'streamContext 200': 'packages/host/src/server/contexts/context-events.test.ts',
  ...Object.fromEntries(
    ['callMcp 200', 'callMcp 202', 'callMcp validation_error']
      .concat('resumeMcp 200', 'resumeMcp not_found', 'resumeMcp method_not_allowed')
      .map((answer) => [answer, 'packages/host/src/server/mcp/bad-input.test.ts']),
  ),
  ...Object.fromEntries(
    ['callA2a 200', 'callA2aSkill 200', 'callA2a validation_error', 'callA2aSkill validation_error']
      .concat('getAgentCard 200', 'getA2aCard 200', 'getA2aSkillCard 200', 'getA2aSkillCard not_found')
      .map((answer) => [answer, 'packages/host/src/server/a2a/bad-input.test.ts']),
  ),
  ...Object.fromEntries(
    ['sendMessage', 'sendContextMessage'].flatMap((operation) =>
      ['capability_required', 'event_too_large', 'quota_exceeded'].map((code) => [
        `${operation} ${code}`,
        'packages/host/src/server/contexts/refusals.test.ts',
      ]),
    ),
  ),
  ...Object.fromEntries(
    ['capability_required', 'event_too_large', 'quota_exceeded'].map((code) => [
      `runAgui ${code}`,
      'packages/host/src/server/contexts/refusals.test.ts',
    ]),
  ),
  'answerInput event_too_large': 'packages/host/src/server/contexts/refusals.test.ts',
  'answerInput quota_exceeded': 'packages/host/src/server/contexts/refusals.test.ts',
  'runAgui run_state_too_large': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'answerInput run_state_too_large': 'packages/host/src/engine/stepping/size-limits.test.ts',
  'signInCallback http_timeout': 'packages/host/src/server/egress/egress.test.ts',
  'signInCallback http_url_rejected': 'packages/host/src/server/egress/egress.test.ts',
  'getCauses 200': 'packages/host/src/server/peers/causes.test.ts',
  'getCauses not_found': 'packages/host/src/server/peers/causes.test.ts',
  'getCauses validation_error': 'packages/host/src/server/peers/causes.test.ts',
  'getAncestry 200': 'packages/host/src/server/peers/peers.test.ts',
  'getAncestry not_found': 'packages/host/src/server/peers/peers.test.ts',
  'registerWebhook conflict': 'packages/host/src/server/webhooks/webhooks.test.ts',
};

/** Comes only after half a minute, for an edit whose task does not get its turn. No test waits so long. */
const late = ['saveArtifact 202'];

test('what has no row here is in the test that is named for it', async () => {
  const root = new URL('../../', import.meta.url);
  for (const [name, file] of Object.entries(elsewhere)) {
    const source = await readFile(new URL(file, root), 'utf8');
    const [, code = ''] = name.split(' ');
    const status = code in errorKinds ? String(errorKinds[code as ErrorCode].status) : code;
    expect([name, source.includes(code) || source.includes(status)]).toEqual([name, true]);
  }
});

test('every answer that the host describes has a row here', async () => {
  const { text } = await stage.send({ to: 'GET /v1/openapi.json', as: 'nobody' });
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Described>> };
  const missing: string[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/:]+')}(\\?.*)?$`);
    for (const [method, { operationId, responses }] of Object.entries(operations)) {
      const own = rows.filter(({ ask }) => {
        const [verb = '', target = ''] = ask.to.split(' ');
        return verb.toLowerCase() === method && pattern.test(target);
      });
      for (const [status, { description }] of Object.entries(responses)) {
        const codes =
          Number(status) < 400 ? [status] : [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
        for (const code of codes.filter(
          (one) =>
            !everywhere.includes(one) &&
            !late.includes(`${operationId} ${one}`) &&
            elsewhere[`${operationId} ${one}`] === undefined,
        )) {
          const shown = own.some(({ answer }) => (answer.error ?? String(answer.status)) === code);
          if (!shown) missing.push(`${operationId} ${code}`);
        }
      }
    }
  }
  expect(missing).toEqual([]);
});
