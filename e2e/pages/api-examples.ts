/**
 * Makes the examples of the API description: sends every operation to a real host and keeps what it answers, with ids,
 * secrets and times replaced by fixed ones.
 */
import { z } from 'zod';
import { defineAgent } from '../../packages/host/src/agents/define-agent.ts';
import { makeTarball } from '../../packages/host/src/agents/packs/tarball.ts';
import { defineTool } from '../../packages/host/src/agents/tools/define-tool.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { scopes } from '../../packages/host/src/server/access/auth.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import type { ApiExample } from '../../packages/host/src/server/openapi/api-examples.ts';
import { samplePack } from '../../packages/host/test/kit/sample-pack.ts';
import { clientTools, guide } from './client-tool-examples.ts';
import { field, type Request, type Sent, until, type Value } from './example-story.ts';
import { fixedNames } from './fixed-names.ts';
import { frontEnds, peers } from './protocol-examples.ts';
import { signIns, signingAgents, signingTools } from './sign-in-examples.ts';

const KEY = 'a-key-for-the-examples';
const HOOKS = 'https://hooks.example.org';
/** A host that the host of the examples knows. */
const BETA = 'hosts.example.org/beta';

const release = {
  id: 'release',
  name: 'Release',
  version: '1.0.0',
  nodes: [
    {
      id: 'approve',
      typeId: 'core.approvalGate',
      name: 'Approve',
      position: { x: 0, y: 0 },
      config: { title: 'Release it?' },
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [{ name: 'build', type: 'string' }],
  metadata: {},
  settings: {},
};

const broken = {
  ...release,
  id: 'broken',
  name: 'Broken',
  nodes: [
    {
      ...release.nodes[0],
      id: 'divide',
      typeId: 'core.setVariable',
      name: 'Divide',
      config: { name: 'x', expression: '1 / 0' },
    },
  ],
  variables: [{ name: 'x', type: 'number' }],
};

const count = defineTool({
  id: 'acme.shop:count',
  description: 'Counts the orders.',
  input: z.object({}),
  safety: 'idempotent',
  run: async (_, { data }) => ({ ...(await data('totals', { orders: 42 })) }),
});

const clerk = defineAgent({
  id: 'host:clerk',
  persona: 'Clerk',
  instructions: 'Count the orders.',
  tools: [count],
  rehearsal: { turns: [[{ call: { tool: 'acme.shop:count', input: {} } }], [{ say: 'Counted.' }]] },
});

const nightly = {
  ...release,
  id: 'nightly',
  name: 'Nightly',
  nodes: [{ ...release.nodes[0], id: 'wait', typeId: 'core.delay', name: 'Wait', config: { delayMs: 3_600_000 } }],
  variables: [],
};

/** Every operation, in an order in which each finds what it needs. */
async function story(send: Sent): Promise<void> {
  const get = (id: string, request: Request = {}) => send({ id, request });
  const created = async (body: Value, isSilent?: true): Promise<string> => {
    const headers = isSilent ? {} : { 'X-Dedup': 'enforce' };
    const run = await send({ id: 'createRun', request: { body, headers }, ...(isSilent ? { isSilent } : {}) });
    return field(run, 'runId');
  };
  await get('registerWorkflow', { body: release });
  await send({ id: 'registerWorkflow', request: { body: nightly }, isSilent: true });
  await get('listWorkflows');
  await get('getWorkflow', { path: { workflowId: 'release' }, query: { version: '1.0.0' } });
  await get('listNodeTypes');

  const body = { workflowId: 'release', inputs: { build: '2026.11' }, tags: ['nightly'], scopeId: 'build-2026.11' };
  const runId = await created(body);
  await until(send, runId, 'waiting-approval');
  const path = { runId };
  await get('getRun', { path });
  await get('listRuns', { query: { status: 'waiting-approval', limit: 20 } });
  await get('listRunChanges');
  await send({ id: 'getEvents', request: { path, query: { streamMode: 'updates' } }, hasStream: true });
  await get('pollEvents', { path, query: { lastSequence: 1, timeout: 1 } });
  await get('listRunInterrupts', { path });
  await get('listPendingInterrupts', { query: { limit: 20 } });
  await send({ id: 'getInbox', request: { query: { limit: 20 } }, hasStream: true });
  const minting = { path: { runId, nodeId: 'approve' }, body: { intent: 'resolve', expiresInSeconds: 600 } };
  const token = field(await get('mintInterruptToken', minting), 'token');
  await get('inspectInterrupt', { path: { token } });
  const reading = await get('mintReadToken', { path, body: { of: 'run', expiresInSeconds: 3_600 } });
  await get('revokeReadToken', { path: { ...path, tokenId: field(reading, 'tokenId') } });
  await get('resolveInterrupt', { path: { token }, body: { resumeValue: { action: 'accept' } } });
  await until(send, runId, 'completed');
  await get('getDebugBundle', { path });
  await get('forkRun', {
    path,
    body: { mode: 'branch', fromSeq: 2, cairn: { rules: [{ calls: 'step:*', use: 'reuse' }] } },
  });
  await send({ id: 'registerWorkflow', request: { body: broken }, isSilent: true });
  const failed = await created({ workflowId: 'broken' }, true);
  await until(send, failed, 'failed');
  await get('retryRun', { path: { runId: failed }, body: { runOptionsOverlay: { tags: ['again'] } } });

  const other = await created({ workflowId: 'release' }, true);
  await until(send, other, 'waiting-approval');
  await get('answerInterrupt', {
    path: { runId: other, nodeId: 'approve' },
    body: { resumeValue: { action: 'accept' } },
  });
  await until(send, other, 'completed');
  await get('getAncestry', { path });
  await get('getCauses', { path, query: { of: 3 } });
  await get('checkChain', { path });
  await get('listPeers');
  await get('checkPeer', { body: { hostId: BETA } });
  await get('diffRuns', { path, query: { against: other, limit: 3 } });

  await stops(send, (workflowId) => created({ workflowId }, true));
  await get('getRetention');
  await artifacts(send);
  await conversation(send);
  await signIns(send);
  await catalogue(send);
}

/** Runs that are paused, cancelled and deleted. */
async function stops(send: Sent, begun: (workflowId: string) => Promise<string>): Promise<void> {
  const get = (id: string, request: Request = {}) => send({ id, request });
  const slow = await begun('nightly');
  await get('pauseRun', { path: { runId: slow }, body: { reason: 'maintenance', drainPolicy: 'immediate' } });
  await get('resumeRun', { path: { runId: slow }, body: { reason: 'maintenance is over' } });
  await get('cancelRun', { path: { runId: slow }, body: { reason: 'no longer needed' } });
  const second = await begun('nightly');
  await get('cancelRunAlias', { path: { runId: second }, body: { reason: 'no longer needed' } });
  const third = await begun('nightly');
  await get('cancelRuns', { body: { runIds: [third], reason: 'no longer needed' } });
  await get('deleteRun', { path: { runId: third } });
}

/** A clerk that writes a record. */
async function artifacts(send: Sent): Promise<void> {
  const body = { agentId: 'host:clerk', inputs: { message: 'Count the orders.' } };
  const run = await send({ id: 'createRun', request: { body }, isSilent: true });
  await until(send, field(run, 'runId'), 'completed');
  const contextId = field(run, 'contextId');
  await send({ id: 'listArtifactContexts', request: { query: { limit: 20 } } });
  await send({ id: 'listArtifacts', request: { path: { contextId }, query: { limit: 20 } } });
  await send({ id: 'getArtifact', request: { path: { contextId, artifactId: 'totals' }, query: { version: 1 } } });
  const runId = field(run, 'runId');
  await send({ id: 'getRunArtifact', request: { path: { runId, artifactId: 'totals' }, query: { version: 1 } } });
  await send({
    id: 'saveArtifact',
    request: {
      path: { contextId, artifactId: 'totals' },
      headers: { 'if-match': '"1"' },
      body: { data: { orders: 43 } },
    },
  });
}

/** A context, its tasks, and what they ask. */
async function conversation(send: Sent): Promise<void> {
  const get = (id: string, request: Request = {}) => send({ id, request });
  const created = async (workflowId: string) => {
    const run = await send({ id: 'createRun', request: { body: { workflowId } }, isSilent: true });
    return { taskId: field(run, 'runId'), contextId: field(run, 'contextId') };
  };
  const { taskId, contextId } = await created('release');
  await until(send, taskId, 'waiting-approval');
  const path = { contextId };
  await get('listContextTasks', { path, query: { limit: 20 } });
  const task = await get('getContextTask', { path: { contextId, taskId } });
  const inputId = /"id":"([^"]+)"/.exec(JSON.stringify(task))?.[1] ?? '';
  await send({ id: 'streamContext', request: { path, query: { after: '0' } }, hasStream: true, isEndless: true });
  await get('listContextEvents', { path, query: { after: 0, limit: 20, kinds: 'input-required' } });
  await get('answerInput', { path: { contextId, inputId }, body: { value: true } });
  const other = await created('nightly');
  await get('cancelContextTask', { path: other, body: { reason: 'no longer needed' } });
  await clientTools(send);
}

async function catalogue(send: Sent): Promise<void> {
  const get = (id: string, request: Request = {}) => send({ id, request });
  const hook = { url: `${HOOKS}/cairn`, events: ['run.completed', 'run.failed'] };
  const webhookId = field(await get('registerWebhook', { body: hook }), 'webhookId');
  await get('listWebhooks');
  await get('deleteWebhook', { path: { webhookId } });
  await get('getCallbackSecret');

  await get('installPack', { body: { tarball: makeTarball(samplePack()).toString('base64') } });
  await get('listPacks');
  await get('listAgents');
  await get('getAgent', { path: { agentId: 'vendor.acme.desk.triage' } });
  const headers = { Prefer: 'respond-async' };
  const message = { role: 'user', content: 'My parcel is late.' };
  const first = await get('sendMessage', { body: { message, agentId: 'vendor.acme.desk.triage' }, headers });
  await until(send, field(first, 'taskId'), 'completed', 'failed');
  const context = { contextId: field(first, 'contextId') };
  const second = await get('sendContextMessage', {
    path: context,
    body: { message: { role: 'user', content: 'Order 17.' } },
    headers,
  });
  await until(send, field(second, 'taskId'), 'completed', 'failed');
  await get('forkContext', { path: context, body: { before: field(second, 'taskId') } });
  await frontEnds(send, { agentId: 'vendor.acme.desk.triage' });
  await peers(send, { taskId: field(first, 'taskId'), agentId: 'vendor.acme.desk.triage' });
  await get('removePack', { path: { packName: 'vendor.acme.desk' } });
  await get('listTools', { query: { view: 'compact' } });
  await get('getTool', { path: { toolId: 'openwop:time' } });

  for (const id of ['getCalibration', 'getLimits', 'openSession', 'getSession']) await get(id);
  const code = field(await get('createSignInLink'), 'url').split('#')[1] ?? '';
  await get('redeemSignInLink', { path: { code } });
  await get('endSession');
  for (const id of [
    'getDiscovery',
    'getAgentCard',
    'getA2aCard',
    'getOpenApi',
    'getDocs',
    'health',
    'readiness',
    'metrics',
  ])
    await get(id);
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

interface Operation {
  readonly method: string;
  readonly path: string;
}

/** Sends the story to a host of its own. Also returns the API description of that host. */
export async function collectExamples(): Promise<{ examples: Record<string, ApiExample>; api: object }> {
  await using beta = await createHostOver(inMemoryStore(), {
    config: { port: 0, hostId: BETA, keys: [{ key: KEY, tenant: 'acme' }] },
    report: () => undefined,
  });
  await using host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      hostId: 'cairn.example.org',
      peers: [{ hostId: BETA, url: `${beta.url}` }],
      keys: [{ key: KEY, tenant: 'acme', principal: 'ann', scopes: [...scopes], toolScopes: ['tool:*'] }],
      egress: { allow: [HOOKS] },
      signIns: {
        ledger: { kind: 'api-key' },
        forge: {
          kind: 'oauth2',
          authorizationEndpoint: `${HOOKS}/authorize`,
          tokenEndpoint: `${HOOKS}/token`,
          clientId: 'cairn',
        },
      },
    },
    allowUnsignedPacks: true,
    tools: [count, ...signingTools],
    agents: [clerk, guide, ...signingAgents],
    report: () => undefined,
  });
  const api: Api = await (await fetch(`${host.url}/v1/openapi.json`)).json();
  const operations = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      operations.set(operationId, { method: method.toUpperCase(), path });
    }
  }
  const examples: Record<string, ApiExample> = {};
  const fixed = fixedNames(`${host.url}`, `${beta.url}`);
  await story(async (step) => {
    const operation = operations.get(step.id);
    if (operation === undefined) throw new Error(`This host has no operation ${step.id}.`);
    const { status, answer, way } = step.isEndless
      ? { status: 200, answer: undefined, way: null }
      : await asked(`${host.url}`, operation, step.request ?? {});
    if (status >= 400) throw new Error(`${step.id} was answered ${status}: ${JSON.stringify(answer)}`);
    if (step.isSilent) return answer ?? null;
    const stream = step.hasStream ? { stream: await firstFrames(`${host.url}`, operation, step.request ?? {}) } : {};
    const response = answer === undefined ? {} : { response: shortened(step.id, answer) };
    examples[step.id] = fixed({ ...step.request, status, ...response, ...stream });
    return answer ?? way;
  });
  return { examples, api };
}

function urlOf(base: string, { path }: Operation, request: Request): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(request.path?.[name] ?? ''));
  const query = new URLSearchParams(Object.entries(request.query ?? {}).map(([name, value]) => [name, String(value)]));
  return `${base}${filled}${query.size === 0 ? '' : `?${query}`}`;
}

async function asked(base: string, operation: Operation, request: Request) {
  const { body, headers = {} } = request;
  const response = await fetch(urlOf(base, operation, request), {
    method: operation.method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${KEY}`,
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const answer: Value | undefined = text === '' ? undefined : isJson ? JSON.parse(text) : text;
  const location = response.headers.get('location');
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? null;
  return { status: response.status, answer, way: { location, cookie } };
}

/** The first frame of a stream. */
async function firstFrames(base: string, operation: Operation, request: Request): Promise<string> {
  const headers = { ...request.headers, authorization: `Bearer ${KEY}`, accept: 'text/event-stream' };
  const { body } = await fetch(urlOf(base, operation, request), {
    method: operation.method,
    headers: { ...headers, ...(request.body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  });
  let text = '';
  for await (const chunk of body ?? []) {
    text += new TextDecoder().decode(chunk);
    // Control frames, and those without data, say something about the stream, not about what it shows.
    const isShown = (one: string) =>
      one.endsWith('\n\n') && !one.startsWith('event: stream:') && !/^data: $/m.test(one);
    const whole = text.split(/(?<=\n\n)/).filter(isShown);
    const frame = whole.map((one) => /^(?:id|event|data):[\s\S]*/m.exec(one)?.[0]).find((one) => one !== undefined);
    // Leaving the loop closes the connection.
    if (frame !== undefined) return frame;
  }
  throw new Error(`The stream of ${operation.path} ended without a frame.`);
}

const MOST_ITEMS = 3;

/** Long lists and texts are cut. */
function shortened(id: string, value: Value): Value {
  if (typeof value === 'string') return value.split('\n').slice(0, MOST_ITEMS).join('\n').slice(0, 500);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (id === 'getOpenApi') return { openapi: value.openapi ?? '', info: value.info ?? {} };
    const { nodeTypes } = value;
    if (Array.isArray(nodeTypes))
      return { nodeTypes: nodeTypes.filter((type) => field(type, 'typeId') === 'core.delay') };
  }
  const cut = (part: Value): Value => {
    if (Array.isArray(part)) return part.slice(0, MOST_ITEMS).map(cut);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, cut(inner)]));
  };
  return cut(value);
}
