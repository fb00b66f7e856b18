/** Sections 2.14 and 2.19: answers, tokens, and webhooks. */
import { given, type Stage, type WireRow } from './wire-row.ts';

const accept = { resumeValue: { action: 'accept' } };
/** Below the request size limit, above the event size limit. */
const huge = { resumeValue: { action: 'accept', feedback: 'x'.repeat(600_000) } };
const hook = { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] };

const usedToken = async (stage: Stage) => {
  const names = await given.token('resolve')(stage);
  await stage.told({ to: `POST /v1/interrupts/${names.token}`, as: 'nobody', body: accept });
  return names;
};

export const interruptRows: readonly WireRow[] = [
  {
    at: '2.14',
    says: 'an answer counts',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: accept },
    answer: { status: 200, body: { runId: '{run}', nodeId: 'n0' } },
  },
  {
    at: '2.14',
    says: 'an action that is not offered is 400, and the question stays open',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: { resumeValue: { action: 'dance' } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.14',
    says: 'a body without resumeValue is 400',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: {} },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.14',
    says: 'a node that never asked is 404',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/interrupts/nobody', body: accept },
    answer: { status: 404, error: 'interrupt_not_found' },
  },
  {
    at: '2.14',
    says: 'an unknown run is 404',
    ask: { to: 'POST /v1/runs/run_unknown/interrupts/n0', body: accept },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.14, 2.21',
    says: 'an answer that no event can hold is 413',
    given: given.waiting,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: huge },
    answer: { status: 413, error: 'event_too_large' },
  },
  {
    at: '2.14',
    says: 'a second answer is 409',
    given: given.answered,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: accept },
    answer: { status: 409, error: 'interrupt_already_resolved' },
  },
  {
    at: '2.14',
    says: 'an answer to a cancelled run is 422',
    given: given.cancelled,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: accept },
    answer: { status: 422, error: 'interrupt_cancelled' },
  },
  {
    at: 'ours',
    says: 'an answer to a run that came out of a bundle is 409',
    given: given.imported,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: accept },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at: '2.14',
    says: 'an answer after the time of the question is 410',
    given: given.expired,
    ask: { to: 'POST /v1/runs/{run}/interrupts/n0', body: accept },
    answer: { status: 410, error: 'interrupt_expired' },
  },
  {
    at: '2.14',
    says: 'an intent that is none is 400',
    given: given.waiting,
    ask: { to: 'POST /v1/host/cairn/runs/{run}/interrupts/n0/token', body: { intent: 'wish' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'the open questions of a run are listed',
    given: given.waiting,
    ask: { to: 'GET /v1/runs/{run}/interrupts' },
    answer: { status: 200, body: { interrupts: [{ nodeId: 'n0', kind: 'approval' }] } },
  },
  {
    at: '11.3',
    says: 'the open questions of an unknown run are 404',
    ask: { to: 'GET /v1/runs/run_unknown/interrupts' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '11.3',
    says: 'the open questions of all runs are listed',
    given: given.waiting,
    ask: { to: 'GET /v1/host/cairn/interrupts?limit=1' },
    answer: { status: 200, body: { interrupts: [{ kind: 'approval' }] } },
  },
  {
    at: '11.3',
    says: 'a limit out of range is 400',
    ask: { to: 'GET /v1/host/cairn/interrupts?limit=0' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '11.3',
    says: 'the inbox has the open questions of all runs with the way down to each',
    given: given.waiting,
    ask: { to: 'GET /v1/host/cairn/inbox?limit=1' },
    answer: { status: 200, body: { entries: [{ kind: 'approval', path: [{ nodeId: 'n0' }] }] } },
  },
  {
    at: '11.3',
    says: 'a place in the inbox that was not given out is 400',
    ask: { to: 'GET /v1/host/cairn/inbox?cursor=17' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '5.8',
    says: 'stated confidence against verdicts is there, empty where nobody stated any',
    ask: { to: 'GET /v1/host/cairn/calibration' },
    answer: { status: 200, body: { agents: [], complete: true } },
  },
  {
    at: '2.14',
    says: 'a token is minted for who may answer',
    given: given.waiting,
    ask: { to: 'POST /v1/host/cairn/runs/{run}/interrupts/n0/token' },
    answer: { status: 201, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: '2.14',
    says: 'no token for a node that never asked',
    given: given.waiting,
    ask: { to: 'POST /v1/host/cairn/runs/{run}/interrupts/nobody/token' },
    answer: { status: 404, error: 'interrupt_not_found' },
  },
  {
    at: '2.14',
    says: 'no token for an unknown run',
    ask: { to: 'POST /v1/host/cairn/runs/run_unknown/interrupts/n0/token' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.14',
    says: 'no token for a question that was answered',
    given: given.answered,
    ask: { to: 'POST /v1/host/cairn/runs/{run}/interrupts/n0/token' },
    answer: { status: 409, error: 'interrupt_already_resolved' },
  },
  {
    at: '2.14',
    says: 'the token is the credential: it shows the question',
    given: given.token('inspect'),
    ask: { to: 'GET /v1/interrupts/{token}', as: 'nobody' },
    answer: { status: 200, body: { kind: 'approval' } },
  },
  {
    at: '2.14',
    says: 'a token answers',
    given: given.token('resolve'),
    ask: { to: 'POST /v1/interrupts/{token}', as: 'nobody', body: accept },
    answer: { status: 200 },
  },
  {
    at: '2.14',
    says: 'a token to look does not answer',
    given: given.token('inspect'),
    ask: { to: 'POST /v1/interrupts/{token}', as: 'nobody', body: accept },
    answer: { status: 403, error: 'forbidden' },
  },
  {
    at: '2.14',
    says: 'a forged token is 401 for who looks',
    given: given.token('resolve'),
    ask: { to: 'GET /v1/interrupts/{token}x', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.14',
    says: 'a forged token is 401 for who answers',
    given: given.token('resolve'),
    ask: { to: 'POST /v1/interrupts/{token}x', as: 'nobody', body: accept },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.14',
    says: 'an action that is not offered is 400 by token, too',
    given: given.token('resolve'),
    ask: { to: 'POST /v1/interrupts/{token}', as: 'nobody', body: { resumeValue: { action: 'dance' } } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.14, 2.21',
    says: 'an answer that no event can hold is 413 by token, too',
    given: given.token('resolve'),
    ask: { to: 'POST /v1/interrupts/{token}', as: 'nobody', body: huge },
    answer: { status: 413, error: 'event_too_large' },
  },
  {
    at: '2.14',
    says: 'a token of a question that was answered shows nothing any more',
    given: usedToken,
    ask: { to: 'GET /v1/interrupts/{token}', as: 'nobody' },
    answer: { status: 409, error: 'interrupt_already_resolved' },
  },
  {
    at: '2.14',
    says: 'a token of a question that was answered is 409',
    given: usedToken,
    ask: { to: 'POST /v1/interrupts/{token}', as: 'nobody', body: accept },
    answer: { status: 409, error: 'interrupt_already_resolved' },
  },
  {
    at: '2.19',
    says: 'a webhook is registered, and its secret shown this once',
    ask: { to: 'POST /v1/webhooks', body: hook },
    answer: { status: 201, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: '2.19',
    says: 'an undeclared property is 400',
    ask: { to: 'POST /v1/webhooks', body: { ...hook, colour: 'red' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.19',
    says: 'no events are 400',
    ask: { to: 'POST /v1/webhooks', body: { ...hook, events: [] } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.19',
    says: 'an address in a private network is 400',
    ask: { to: 'POST /v1/webhooks', body: { ...hook, url: 'https://169.254.169.254/latest' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.19',
    says: 'an address without https is 400',
    ask: { to: 'POST /v1/webhooks', body: { ...hook, url: 'http://example.com/hook' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.19',
    says: 'webhooks are listed without their secrets',
    given: async (stage) => {
      await stage.told({ to: 'POST /v1/webhooks', body: hook });
      return {};
    },
    ask: { to: 'GET /v1/webhooks' },
    answer: { status: 200, text: /^(?!.*"secret":)/ },
  },
  {
    at: '2.19',
    says: 'a webhook is deleted',
    given: async (stage) => {
      const { webhookId } = await stage.told({ to: 'POST /v1/webhooks', body: hook });
      return { webhook: String(webhookId) };
    },
    ask: { to: 'DELETE /v1/webhooks/{webhook}' },
    answer: { status: 204, text: /^$/ },
  },
  {
    at: '2.19',
    says: 'deleting a webhook takes no body',
    ask: { to: 'DELETE /v1/webhooks/wh_unknown', body: { now: true } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'ours',
    says: 'what callbacks are signed with is told to who may manage webhooks',
    ask: { to: 'GET /v1/host/cairn/callback-secret' },
    answer: { status: 200, headers: { 'cache-control': 'no-store' } },
  },
  {
    at: '2.19',
    says: 'an unknown webhook is 404',
    ask: { to: 'DELETE /v1/webhooks/wh_unknown' },
    answer: { status: 404, error: 'not_found' },
  },
];
