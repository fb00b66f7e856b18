/** A host with scripted agents, and the published A2A clients of both versions; not shipped. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Message, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { Json, JsonObject } from '@cairn/protocol';
import { defineAgent } from '../../agents/define-agent.ts';
import type { ToolContext } from '../../agents/tools/tool.ts';
import type { Report } from '../../engine/ports.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { alphaAgents, alphaConfig, keys } from '../alpha.kit.ts';
import { createHost, type Host } from '../create-host.ts';
import type { A2aVersion } from './versions.ts';

export { BETA, keys } from '../alpha.kit.ts';

interface PeerOptions {
  /** Origins on this machine that get push notifications. */
  readonly allow?: () => readonly string[];
  readonly report?: Report;
}

/** Decides without being sure enough. */
const unsure = defineAgent({
  id: 'host:unsure',
  persona: 'Clerk',
  instructions: 'Decide.',
  confidenceThreshold: 0.9,
  rehearsal: { turns: [[{ call: { tool: 'openwop_decide', input: { decision: 'refund', confidence: 0.4 } } }]] },
});

const asking = (id: string, question: string) => ({
  type: 'core.clarificationGate',
  config: { questions: [{ id, question }] },
});
const which = asking('which', 'Which one?');
const when = asking('when', 'When?');
const variables = { message: { type: 'string' } } as const;

export class PeerHost {
  readonly #folder = mkdtempSync(join(tmpdir(), 'cairn-a2a-'));
  readonly #versions: readonly A2aVersion[];
  readonly #options: PeerOptions;
  #host: Host | null = null;
  #messages = 0;
  /** What the tool of `host:desk` does in the test that runs. */
  work: (context: ToolContext) => Promise<Json> = async () => null;

  constructor(versions: readonly A2aVersion[] = ['1.0', '0.3'], options: PeerOptions = {}) {
    this.#versions = versions;
    this.#options = options;
  }

  /** The data folder. */
  get folder(): string {
    return this.#folder;
  }

  async start(): Promise<void> {
    const { tools, agents } = alphaAgents((context) => this.work(context));
    this.#host = await createHost({
      config: {
        ...alphaConfig(this.#folder),
        defaultAgent: 'host:plain',
        a2a: { versions: [...this.#versions] },
        egress: { allow: [...(this.#options.allow?.() ?? [])] },
      },
      tools,
      agents: [...agents, unsure],
      workflows: [
        defineWorkflow({ id: 'gate', version: '1', nodes: { ask: { type: 'core.approvalGate' } } }),
        defineWorkflow({ id: 'in-turn', version: '1', variables, nodes: { which, when } }),
        defineWorkflow({ id: 'at-once', version: '1', variables, nodes: { which, when }, edges: [] }),
        defineWorkflow({
          id: 'note',
          version: '1',
          description: 'Takes a note.',
          variables: {
            about: { type: 'string', required: true },
            weight: { type: 'number', defaultValue: 1 },
          },
          nodes: {
            keep: {
              type: 'core.identity',
              inputs: {
                about: { type: 'variable', variableName: 'about' },
                weight: { type: 'variable', variableName: 'weight' },
              },
            },
          },
        }),
      ],
      report: this.#options.report ?? (() => undefined),
    });
  }

  get host(): Host {
    if (this.#host === null) throw new Error('The host is not started.');
    return this.#host;
  }

  get url(): string {
    return this.host.url ?? '';
  }

  async stop(): Promise<void> {
    await this.#host?.close();
    this.#host = null;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The client that finds the host, or one of its agents, by its card. */
  async client(
    version: A2aVersion,
    options: { readonly agentId?: string; readonly key?: string } = {},
  ): Promise<Client> {
    const { agentId, key = keys.ann } = options;
    const legacyCompat = { enabled: version === '0.3' };
    const fetchImpl: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${key}`);
      // The resolver asks for the card of 1.0, whatever its transport speaks.
      if (version === '0.3' && init?.method !== 'POST') headers.delete('a2a-version');
      return fetch(input, { ...init, headers });
    };
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
    });
    const mount = agentId === undefined ? '' : `/v1/a2a/${encodeURIComponent(agentId)}/`;
    return factory.createFromUrl(`${this.url}${mount}`, '.well-known/agent-card.json');
  }

  /** A message with an id that no other has. */
  message(text: string, fields: Partial<Message> = {}): Message {
    this.#messages += 1;
    return {
      messageId: `m-${this.#messages}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: text === '' ? [] : [textPart(text)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...fields,
    };
  }

  /** A raw request, for what no client would send. */
  async rpc(body: unknown, options: { key?: string; version?: string; path?: string; text?: string } = {}) {
    const { key = keys.ann, version = '1.0', path = '/v1/a2a', text } = options;
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(version !== '' && { 'a2a-version': version }),
      },
      body: text ?? JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  }
}

const textPart = (text: string): Message['parts'][number] => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const dataPart = (value: Json): Message['parts'][number] => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const send = (message: Message, returnImmediately = false) => ({
  tenant: '',
  message,
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
});

export const stateOf = (task: Pick<Task, 'status'>): string => TaskState[task.status?.state ?? 0] ?? '';

/** The result of a send. This host always answers with the task. */
export function taskIn(result: Task | Message): Task {
  if ('messageId' in result) throw new Error('The answer is a message.');
  return result;
}

/** The text of each artifact, joined from its parts. */
export const textsOf = ({ artifacts }: Task): readonly string[] =>
  artifacts.map(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join(''));

/** What a client has after a stream: the states in order, and the text of each artifact. */
export function received(events: readonly StreamResponse[]) {
  const states: string[] = [];
  const texts = new Map<string, string>();
  for (const { payload } of events) {
    if (payload?.$case === 'task' || payload?.$case === 'statusUpdate') states.push(stateOf(payload.value));
    if (payload?.$case !== 'artifactUpdate' || payload.value.artifact === undefined) continue;
    const { artifact, append } = payload.value;
    for (const { content } of artifact.parts) {
      const before = append ? (texts.get(artifact.artifactId) ?? '') : '';
      if (content?.$case === 'text') texts.set(artifact.artifactId, before + content.value);
    }
  }
  return { states: states.map((state) => state.replace('TASK_STATE_', '')), texts: [...texts.values()] };
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
