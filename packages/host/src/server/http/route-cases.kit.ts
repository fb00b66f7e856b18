/** One request per route, for tests that cover the whole table. A route without a case fails them. */
import type { Json, RunId, WorkflowDefinition } from '@cairn/protocol';
import { actingNode } from '../../../test/kit/acting-node.ts';
import { sampleAgent, samplePack } from '../../../test/kit/sample-pack.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { makeTarball } from '../../agents/packs/tarball.ts';
import { idTokenOf } from '../../engine/creation/id-token.ts';
import { sessionCases } from '../access/session-cases.kit.ts';
import { allModelClasses } from '../catalogue/model-classes.ts';
import { sha256 } from '../compose.ts';
import { approval, chain, noop } from '../sample-workflows.kit.ts';
import { keys, nobodyListens, openTool, type Served, type ServedOptions } from '../served.kit.ts';
import { hostCases } from './host-cases.kit.ts';

/** A host on which every case succeeds: its agent answers at once. */
export const everyRoute: ServedOptions = {
  defaultAgent: 'host:desk',
  agents: {
    facts: {
      reasoning: { verbosity: 'summary', tokenLimit: 512 },
      costEstimates: false,
      memory: null,
      modelClasses: allModelClasses,
      isLive: true,
      escalates: true,
      providers: [],
      byok: [],
      limitsToolRate: false,
      hasMcpTools: false,
      mockProviders: [],
    },
    nodeTypes: [actingNode],
    performers: [],
    own: [defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Answer.' })],
  },
  steps: [
    {
      typeId: 'local.step.endless',
      safety: 'idempotent',
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    },
  ],
};

/** The resources that a request names. All belong to tenant `t`. */
export interface Names {
  readonly runId: string;
  readonly nodeId: string;
  readonly workflowId: string;
  /** An extra name of one case: a token, a subscription. */
  readonly other?: string;
}

export interface CaseRequest {
  /** The path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** The response is a stream without an end. */
  readonly isEndless?: boolean;
}

export interface RouteCase {
  /** Creates the resources. Default: a run that waits for an answer. */
  readonly given?: (host: Served) => Promise<Names>;
  /** A request that succeeds for a caller of tenant `t` with the route's scope. */
  readonly request: (names: Names) => CaseRequest;
  readonly status: number;
  /** Only the user whose it is may do it; other keys with the scope may not. */
  readonly isPersonal?: true;
}

const delayed = chain('delayed', { typeId: 'core.delay', config: { delayMs: 3_600_000 } });

const failing = chain('failing', {
  typeId: 'core.setVariable',
  config: { name: 'x', expression: '1 / 0' },
});

async function runOf(host: Served, definition: WorkflowDefinition): Promise<Names> {
  await host.engine.register('t', definition);
  const { runId } = await host.engine.start({ tenant: 't', workflowId: definition.id, inputs: {}, options: {} });
  return { runId, nodeId: 'n0', workflowId: definition.id };
}

export const waitingRun = (host: Served): Promise<Names> => runOf(host, approval);

async function pausedRun(host: Served): Promise<Names> {
  const names = await runOf(host, delayed);
  await told(host, 'POST', `/v1/runs/${names.runId}:pause`, { drainPolicy: 'immediate' });
  return names;
}

async function cancelledRun(host: Served): Promise<Names> {
  const names = await runOf(host, delayed);
  await told(host, 'POST', `/v1/runs/${names.runId}/cancel`);
  return names;
}

async function mintedToken(host: Served): Promise<Names> {
  const names = await waitingRun(host);
  const { token } = await told(host, 'POST', `/v1/host/cairn/runs/${names.runId}/interrupts/n0/token`);
  return { ...names, other: String(token) };
}

async function webhook(host: Served): Promise<Names> {
  const names = await waitingRun(host);
  const { webhookId } = await told(host, 'POST', '/v1/webhooks', { url: nobodyListens, events: ['run.failed'] });
  return { ...names, other: String(webhookId) };
}

/** A record that a run wrote, and the context that has it. */
async function artifact(host: Served): Promise<Names> {
  const names = await waitingRun(host);
  const runId = names.runId as RunId;
  const payload = JSON.stringify({ artifactId: 'totals', artifactType: 'data', version: '1', data: { sum: 1 } });
  await host.store.log.append({
    runId,
    rows: [{ at: 0, type: 'artifact.created', audience: 'client', payload, task: null }],
  });
  const head = await host.store.log.head(runId);
  return { ...names, other: head?.record.contextId ?? '' };
}

const packBody = (fields: object = {}) => ({ tarball: makeTarball(samplePack(fields)).toString('base64') });

/** A pack name that no other tenant uses, because all tenants send the requests of all cases. */
async function installedPack(host: Served): Promise<Names> {
  const names = await waitingRun(host);
  const name = `vendor.acme.p${names.runId.slice(-12)}`;
  const agents = [{ ...sampleAgent, agentId: `${name}.triage` }];
  await told(host, 'POST', '/v1/host/cairn/packs', packBody({ name, agents }));
  return { ...names, other: name };
}

async function installedAgent(host: Served): Promise<Names> {
  const { other, ...names } = await installedPack(host);
  return { ...names, other: `${other}.triage` };
}

/** The context of a run that has ended, as the extra name. */
const endedContext = async (host: Served): Promise<Names> => withContext(host, await runOf(host, noop));

const openContext = async (host: Served): Promise<Names> => withContext(host, await runOf(host, delayed));

/** A run that an MCP client has started, and the id of the stream of its call. */
async function calledMcp(host: Served): Promise<Names> {
  const names = await runOf(host, noop);
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: noop.id, arguments: {} } };
  const { text } = await host.ask('POST', '/v1/mcp', { headers, body });
  return { ...names, other: /^id: (.*)$/m.exec(text)?.[1] ?? '' };
}

async function withContext(host: Served, names: Names): Promise<Names> {
  return { ...names, other: String((await host.store.log.head(names.runId as RunId))?.record.contextId) };
}

/** The context of a run that waits, and its question in the place of the node. */
async function askingContext(host: Served): Promise<Names> {
  const names = await waitingRun(host);
  const runId = names.runId as RunId;
  const [asked] = await host.store.runIndex.interrupts(runId);
  const head = await host.store.log.head(runId);
  return { ...names, nodeId: String(asked?.interruptId), other: String(head?.record.contextId) };
}

/** A run whose node works until it is stopped, its call in the place of the node, and its context. */
async function workingContext(host: Served): Promise<Names> {
  const names = await withContext(host, await runOf(host, chain('working', { typeId: 'local.step.endless' })));
  return { ...names, nodeId: `call_${idTokenOf(names.runId as RunId, sha256)}_${names.nodeId}#0` };
}

/** A run of the auditor that waits for a sign-in, in the place of the node, and its context. */
async function signingIn(host: Served, authType: 'oauth2' | 'api-key'): Promise<Names> {
  const data = { eventType: 'cairn.sign-in', correlation: { authType, provider: 'forge' } };
  const definition = chain('signing', { typeId: 'core.interrupt', config: { kind: 'external-event', data } });
  const workflowId = `signing-${authType}`;
  await host.engine.register('t', { ...definition, id: workflowId });
  const start = { tenant: 't', workflowId, inputs: {}, options: {}, principal: 'auditor' };
  const { runId, contextId } = await host.engine.start(start);
  const [asked] = await host.store.runIndex.interrupts(runId);
  return { runId, workflowId, nodeId: String(asked?.interruptId), other: contextId };
}

/** A sign-in whose user is at the provider: the state, and the cookie in the place of the node. */
async function atProvider(host: Served): Promise<Names> {
  const names = await signingIn(host, 'oauth2');
  const path = `/api/contexts/${names.other}/auths/${names.nodeId}/authorize`;
  const { headers } = await host.ask('GET', path, { key: keys.auditor });
  const state = new URL(String(headers.get('location'))).searchParams.get('state');
  return { ...names, nodeId: String(headers.get('set-cookie')?.split(';')[0]), other: String(state) };
}

async function storedCredential(host: Served): Promise<Names> {
  const record = { tenant: 't', principal: 'auditor', provider: 'forge', scopes: [], sealed: 'x', expiresAt: null };
  const names = await waitingRun(host);
  const ref = `cred_${names.runId}`;
  await host.store.credentials.put({ ...record, ref, storedAt: 0 });
  return { ...names, other: ref };
}

/** Sends a setup request as the owner. */
async function told(host: Served, method: 'POST', path: string, body?: Json) {
  const reply = await host.ask(method, path, { key: keys.auditor, ...(body === undefined ? {} : { body }) });
  if (reply.status >= 300) throw new Error(`${method} ${path} was answered ${reply.status}: ${reply.text}`);
  return reply.body;
}

const nothing = () => ({});
/** Every method needs the scope of this one. */
const a2aRead = ({ runId }: Names): CaseRequest => ({
  headers: { 'a2a-version': '1.0' },
  body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: runId } },
});

const ofRun = ({ runId }: Names): CaseRequest => ({ path: { runId } });
const ofNode = ({ runId, nodeId }: Names): CaseRequest => ({ path: { runId, nodeId } });
const ofContext = ({ other = '' }: Names): CaseRequest => ({ path: { contextId: other } });
const ofTask = ({ other = '', runId }: Names): CaseRequest => ({ path: { contextId: other, taskId: runId } });
const aiSdkChat = { id: 'a', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] }] };
const message = { message: { role: 'user', content: 'Hello?' } };
/** A stream would say what is new, and so never be the same twice. */
const later = { prefer: 'respond-async' };
const accept = { resumeValue: { action: 'accept' } };

/** Keyed by operation id. */
export const routeCases: Readonly<Record<string, RouteCase>> = {
  createRun: { request: ({ workflowId }) => ({ body: { workflowId } }), status: 201 },
  listRuns: { request: nothing, status: 200 },
  listRunChanges: { request: nothing, status: 200 },
  getRun: { request: ofRun, status: 200 },
  cancelRun: { request: ofRun, status: 200 },
  cancelRunAlias: { request: ofRun, status: 200 },
  deleteRun: { given: cancelledRun, request: ofRun, status: 200 },
  getRetention: { request: nothing, status: 200 },
  listArtifactContexts: { request: nothing, status: 200 },
  listArtifacts: { given: artifact, request: ({ other = '' }) => ({ path: { contextId: other } }), status: 200 },
  getArtifact: {
    given: artifact,
    request: ({ other = '' }) => ({ path: { contextId: other, artifactId: 'totals' } }),
    status: 200,
  },
  getRunArtifact: { given: artifact, request: ({ runId }) => ({ path: { runId, artifactId: 'totals' } }), status: 200 },
  saveArtifact: {
    given: artifact,
    request: ({ other = '' }) => ({
      path: { contextId: other, artifactId: 'totals' },
      headers: { 'if-match': '"1"' },
      body: { data: { sum: 2 } },
    }),
    status: 200,
  },
  cancelRuns: { request: ({ runId }) => ({ body: { runIds: [runId] } }), status: 200 },
  pauseRun: { given: (host) => runOf(host, delayed), request: ofRun, status: 202 },
  resumeRun: { given: pausedRun, request: ofRun, status: 202 },
  forkRun: { request: (names) => ({ ...ofRun(names), body: { mode: 'branch', fromSeq: 1 } }), status: 201 },
  retryRun: { given: (host) => runOf(host, failing), request: ofRun, status: 201 },
  getEvents: { request: ofRun, status: 200 },
  pollEvents: { request: (names) => ({ ...ofRun(names), query: 'timeout=1' }), status: 200 },
  mintReadToken: { request: ofRun, status: 201 },
  revokeReadToken: { request: (names) => ({ path: { ...ofRun(names).path, tokenId: 'x' } }), status: 204 },
  sendMessage: {
    given: endedContext,
    request: ({ other = '' }) => ({ body: { ...message, contextId: other }, headers: later }),
    status: 202,
  },
  callA2a: { request: a2aRead, status: 200 },
  callA2aSkill: { request: (names) => ({ ...a2aRead(names), path: { skillId: 'host:desk' } }), status: 200 },
  resumeMcp: { given: calledMcp, request: ({ other = '' }) => ({ headers: { 'last-event-id': other } }), status: 200 },
  callMcp: { request: () => ({ body: { jsonrpc: '2.0', id: 1, method: 'ping' } }), status: 200 },
  getAgentCard: { request: () => ({}), status: 200 },
  getA2aCard: { request: () => ({}), status: 200 },
  getA2aSkillCard: { request: ({ workflowId }) => ({ path: { skillId: workflowId } }), status: 200 },
  sendContextMessage: {
    given: endedContext,
    request: (names) => ({ ...ofContext(names), body: message, headers: later }),
    status: 202,
  },
  sendAiSdkChat: {
    request: () => ({ path: { agentId: 'host:desk' }, body: aiSdkChat }),
    status: 200,
  },
  resumeAiSdkChat: {
    given: openContext,
    request: ({ other = '' }) => ({ path: { agentId: 'host:desk', chatId: other }, isEndless: true }),
    status: 200,
  },
  runAgui: {
    given: endedContext,
    request: ({ other = '' }) => ({
      path: { agentId: 'host:desk' },
      body: { threadId: other, runId: 'r', messages: [] },
    }),
    status: 200,
  },
  streamContext: { given: endedContext, request: (names) => ({ ...ofContext(names), isEndless: true }), status: 200 },
  listContextEvents: { given: endedContext, request: ofContext, status: 200 },
  listContextTasks: { given: endedContext, request: ofContext, status: 200 },
  getContextTask: { given: endedContext, request: ofTask, status: 200 },
  cancelContextTask: { given: openContext, request: ofTask, status: 202 },
  answerInput: {
    given: askingContext,
    request: ({ other = '', nodeId }) => ({ path: { contextId: other, inputId: nodeId }, body: { value: true } }),
    status: 202,
  },
  cancelToolCall: {
    given: workingContext,
    request: ({ other = '', nodeId }) => ({ path: { contextId: other, toolCallId: nodeId } }),
    status: 202,
  },
  completeAuth: {
    given: (host) => signingIn(host, 'api-key'),
    request: ({ other = '', nodeId }) => ({ path: { contextId: other, authId: nodeId }, body: { denied: true } }),
    status: 202,
    isPersonal: true,
  },
  authorizeAuth: {
    given: (host) => signingIn(host, 'oauth2'),
    request: ({ other = '', nodeId }) => ({ path: { contextId: other, authId: nodeId } }),
    status: 302,
    isPersonal: true,
  },
  signInCallback: {
    given: atProvider,
    request: ({ other = '', nodeId }) => ({ query: `state=${other}&error=access_denied`, headers: { cookie: nodeId } }),
    status: 200,
  },
  listCredentials: { given: storedCredential, request: nothing, status: 200 },
  deleteCredential: {
    given: storedCredential,
    request: ({ other = '' }) => ({ path: { credentialRef: other } }),
    status: 204,
    isPersonal: true,
  },
  answerInterrupt: { request: (names) => ({ ...ofNode(names), body: accept }), status: 200 },
  listRunInterrupts: { request: ofRun, status: 200 },
  listPendingInterrupts: { request: nothing, status: 200 },
  getInbox: { request: nothing, status: 200 },
  getCalibration: { request: nothing, status: 200 },
  getLimits: { request: nothing, status: 200 },
  mintInterruptToken: { request: ofNode, status: 201 },
  inspectInterrupt: { given: mintedToken, request: ({ other = '' }) => ({ path: { token: other } }), status: 200 },
  resolveInterrupt: {
    given: mintedToken,
    request: ({ other = '' }) => ({ path: { token: other }, body: accept }),
    status: 200,
  },
  registerWebhook: {
    request: () => ({ body: { url: `${nobodyListens}/hook`, events: ['run.completed'] } }),
    status: 201,
  },
  listWebhooks: { request: nothing, status: 200 },
  deleteWebhook: { given: webhook, request: ({ other = '' }) => ({ path: { webhookId: other } }), status: 204 },
  getCallbackSecret: { request: nothing, status: 200 },
  listAgents: { given: installedAgent, request: nothing, status: 200 },
  getAgent: { given: installedAgent, request: ({ other = '' }) => ({ path: { agentId: other } }), status: 200 },
  listTools: { request: nothing, status: 200 },
  listNodeTypes: { request: nothing, status: 200 },
  getTool: { request: ({ other = openTool.id }) => ({ path: { toolId: other } }), status: 200 },
  installPack: { request: () => ({ body: packBody() }), status: 201 },
  listPacks: { given: installedPack, request: nothing, status: 200 },
  removePack: { given: installedPack, request: ({ other = '' }) => ({ path: { packName: other } }), status: 204 },
  getDebugBundle: { request: ofRun, status: 200 },
  getAncestry: { request: ofRun, status: 200 },
  getCauses: { request: ofRun, status: 200 },
  diffRuns: { request: ({ runId }) => ({ path: { runId }, query: `against=${runId}` }), status: 200 },
  registerWorkflow: { request: () => ({ body: JSON.parse(JSON.stringify(noop)) }), status: 201 },
  listWorkflows: { request: nothing, status: 200 },
  getWorkflow: { request: ({ workflowId }) => ({ path: { workflowId } }), status: 200 },
  ...sessionCases,
  ...hostCases,
  getDiscovery: { request: nothing, status: 200 },
  getOpenApi: { request: nothing, status: 200 },
  getDocs: { request: nothing, status: 200 },
};

/** Unused names of the same form. */
export const unknownNames = (names: Names): Names => ({
  ...names,
  runId: 'run_nobody',
  workflowId: 'nothing-here',
  ...(names.other === undefined ? {} : { other: `${names.other.slice(0, -4)}zzzz` }),
});

/** The path of a case, with its query and body. */
export function asked(template: string, { path = {}, query, body, headers, isEndless }: CaseRequest) {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? 'missing'));
  return {
    path: query === undefined ? filled : `${filled}?${query}`,
    with: {
      ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
      ...(headers === undefined ? {} : { headers }),
      ...(isEndless === undefined ? {} : { isEndless }),
    },
  };
}
