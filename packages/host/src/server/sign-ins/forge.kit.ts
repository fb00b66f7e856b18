/** A host whose agent has tools that need the user to sign in, with its data on disk; not shipped. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { callFragment, chunk, type FakeReply, type FakeRequest, fakeOpenAi } from '../../../test/kit/fake-openai.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { type Frame, until } from '../contexts/talk.kit.ts';
import { createHost, type Host } from '../create-host.ts';
import { OAuthServer } from './oauth-server.kit.ts';

export const keys = {
  ann: 'ann-key-0123456789-abcdefghijklmnop',
  bob: 'bob-key-0123456789-abcdefghijklmnop',
  other: 'other-key-0123456789-abcdefghijklmno',
  peer: 'peer-key-0123456789-abcdefghijklmnop',
};

/** A host that starts runs here. */
const PEER = 'hosts.example.org/beta';

export type Face = JsonObject & { readonly kind: string; readonly taskId: string };

export class Forge {
  readonly oauth: OAuthServer;
  readonly #folder: string;
  readonly #model: Awaited<ReturnType<typeof fakeOpenAi>>;
  #host: Host | null = null;

  private constructor(folder: string, oauth: OAuthServer, model: Awaited<ReturnType<typeof fakeOpenAi>>) {
    this.#folder = folder;
    this.oauth = oauth;
    this.#model = model;
  }

  static async open(): Promise<Forge> {
    const folder = await mkdtemp(join(tmpdir(), 'cairn-forge-'));
    const forge = new Forge(folder, await OAuthServer.open(), await fakeOpenAi(answerOf));
    await forge.start();
    return forge;
  }

  async start(): Promise<void> {
    const { oauth } = this;
    const tools = toolsFor(oauth);
    const agent = (id: string, tool: string) =>
      defineAgent({ id: `host:${id}`, persona: id, instructions: `Call ${tool}.`, tools: [`acme:${tool}`] });
    const node = (workflowId: string) => ({ type: 'core.subWorkflow' as const, config: { workflowId } });
    this.#host = await createHost({
      report: () => undefined,
      tools,
      agents: [agent('forge', 'whoami'), agent('clerk', 'ledger'), agent('hasty', 'hasty')],
      workflows: [
        defineWorkflow({ id: 'inner', nodes: { work: { type: 'cairn.agent', agent: { agentId: 'host:forge' } } } }),
        defineWorkflow({ id: 'middle', nodes: { sub: node('inner') } }),
        defineWorkflow({ id: 'outer', nodes: { sub: node('middle') } }),
      ],
      config: {
        port: 0,
        data: this.#folder,
        peers: [{ hostId: PEER, url: 'https://beta.example.org' }],
        keys: [
          { key: keys.ann, tenant: 't', principal: 'ann' },
          { key: keys.bob, tenant: 't', principal: 'bob' },
          { key: keys.other, tenant: 'u', principal: 'ann' },
          { key: keys.peer, tenant: 't', principal: 'beta', peer: PEER },
        ],
        secrets: { forge: { value: 'the-client-secret-of-cairn' } },
        signIns: {
          forge: {
            kind: 'oauth2',
            authorizationEndpoint: `${oauth.url}/authorize`,
            tokenEndpoint: `${oauth.url}/token`,
            clientId: 'cairn',
            clientSecret: { secret: 'forge' },
          },
          ledger: { kind: 'api-key', infoUrl: 'https://ledger.example.org/keys' },
        },
        models: {
          providers: { local: { kind: 'openai-compatible', baseUrl: this.#model.url } },
          default: 'local/small',
        },
      },
    });
  }

  async stop(): Promise<void> {
    await this.#host?.close();
    this.#host = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.oauth.close();
    await this.#model[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get url(): string {
    return this.#host?.url ?? '';
  }

  async ask(method: string, path: string, { key = keys.ann, body }: { key?: string; body?: Json } = {}) {
    const response = await fetch(path.startsWith('http') ? path : this.url + path, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : {}) as JsonObject,
    };
  }

  /** Sends a message to an agent; returns its context and its task. */
  async send(agentId: string, key: string = keys.ann): Promise<{ contextId: string; taskId: string }> {
    const response = await fetch(`${this.url}/api/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'respond-async' },
      body: JSON.stringify({ agentId, message: { role: 'user', content: 'Who am I?' } }),
    });
    return (await response.json()) as { contextId: string; taskId: string };
  }

  /** The events of a context, up to the first that a test waits for. Follows the stream, so that nothing is polled. */
  async until(contextId: string, isLast: (face: Face) => boolean, key: string = keys.ann): Promise<readonly Face[]> {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${this.url}/api/contexts/${contextId}/stream?after=0`, { headers });
    const isOf = (frame: Frame): frame is Frame & { readonly data: Face } => frame.id !== null;
    const found = await until(response, (frame) => isOf(frame) && isLast(frame.data));
    return found.filter(isOf).map(({ data }) => data);
  }

  /** The sign-in that a context asks for. */
  async required(contextId: string, key: string = keys.ann): Promise<Face> {
    const faces = await this.until(contextId, ({ status }) => status === 'waiting-auth', key);
    return faces.findLast(({ kind }) => kind === 'auth-required') as Face;
  }

  /** What a browser does at the `authUrl` of a sign-in: it goes to the provider, and back with its cookie. `emptied`: it loses the code. */
  async browse(authUrl: string, { key = keys.ann, withCookie = true, emptied = false } = {}) {
    const begun = await this.ask('GET', authUrl, { key });
    if (begun.status !== 302) return { begun, back: null, callback: '', cookie: '' };
    const cookie = (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const consent = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
    const callback = consent.headers.get('location') ?? '';
    const address = emptied ? callback.replace(/&code=.*/, '') : callback;
    return { begun, callback, cookie, back: await this.callback(address, withCookie ? cookie : '') };
  }

  async callback(address: string, cookie: string) {
    const response = await fetch(address, { headers: cookie === '' ? {} : { cookie } });
    return { status: response.status, text: await response.text() };
  }

  /** All bytes of the data folder, as text. The host has to be stopped. */
  async bytes(): Promise<string> {
    const names = await readdir(this.#folder);
    const files = names
      .filter((name) => name.includes('.db'))
      .map((name) => readFile(join(this.#folder, name), 'latin1'));
    return (await Promise.all(files)).join('\n');
  }
}

/** Calls the tool once, then says what came of it. */
function answerOf(request: FakeRequest): FakeReply {
  const { messages, tools } = request.body as { messages: JsonObject[]; tools?: { function: { name: string } }[] };
  const result = messages.findLast(({ role }) => role === 'tool');
  const name = tools?.find((tool) => tool.function.name.startsWith('acme'))?.function.name ?? '';
  if (result !== undefined) return { chunks: [chunk({ content: JSON.stringify(result.content) }), chunk({}, 'stop')] };
  return { chunks: [chunk(callFragment(0, { id: 'c1', name, arguments: '{}' })), chunk({}, 'tool_calls')] };
}

const toolsFor = (oauth: OAuthServer) => [
  defineTool({
    id: 'acme:whoami',
    description: 'Says who the user is at the forge.',
    input: z.object({}),
    safety: 'read',
    run: async (_input, { signIn, step }) => {
      const forge = await signIn({ provider: 'forge', scopes: ['read:user'], prompt: 'Sign in to the forge.' });
      return step('me', async () => {
        const response = await fetch(`${oauth.url}/me`, {
          headers: { authorization: `Bearer ${await forge.token()}` },
        });
        return { status: response.status, said: await response.text() };
      });
    },
  }),
  defineTool({
    id: 'acme:ledger',
    description: 'Reads the ledger.',
    input: z.object({}),
    safety: 'read',
    run: async (_input, { signIn }) => {
      const ledger = await signIn({ provider: 'ledger' });
      return { length: (await ledger.token()).length, said: `key=${await ledger.token()}` };
    },
  }),
  defineTool({
    id: 'acme:hasty',
    description: 'Reads the ledger at once.',
    input: z.object({}),
    safety: 'read',
    run: async (_input, { signIn }) => (await signIn({ provider: 'ledger', timeoutMs: 1 })).credentialRef,
  }),
];
