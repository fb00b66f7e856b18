/**
 * Agents that leak a secret: a model that says it in pieces, tools that return and throw it, and a provider that echoes
 * keys.
 */
import { createHost, defineAgent, defineTool, type Host } from '@cairn/host';
import { type Json, type JsonObject, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import { z } from 'zod';
import {
  callFragment,
  chunk,
  type FakeOpenAi,
  type FakeReply,
  type FakeRequest,
  fakeOpenAi,
  usageChunk,
} from '../../packages/host/test/kit/fake-openai.ts';
import { objects } from '../../packages/host/test/kit/json-fields.ts';
import { ACCESS_KEY, type Answer, asking, SECRET, shownError, written } from './planted-host.ts';

/** The provider key from the configuration, and a key that a caller references by name. */
export const PROVIDER_KEY = 'provider-key-of-the-canary-0002';
export const OWN_KEY = 'own-key-of-the-canary-0003';

export interface LeakyHost {
  readonly host: Host;
  readonly provider: FakeOpenAi;
  readonly notices: readonly string[];
  /** The inputs of the tool calls. */
  readonly seenByTools: readonly unknown[];
  ask(method: string, path: string, body?: Json, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

const node = (id: string, agentId: string): WorkflowDefinition => ({
  id,
  name: id,
  version: '1',
  nodes: [
    {
      id: 'agent',
      typeId: 'cairn.agent',
      name: 'Agent',
      position: { x: 0, y: 0 },
      config: {},
      inputs: { message: { type: 'static', value: `Task of ${id}.` } },
      agent: { agentId },
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
});

const flows = [node('talks', 'host:talker'), node('is-refused', 'host:refused')];

const every = Object.values(written).join('\n');

/** One character per delta, so that a secret never arrives whole. */
const spelt = (field: 'content' | 'reasoning_content', text: string): readonly JsonObject[] =>
  [...text].map((character) => chunk({ [field]: character }));

const usage = usageChunk({ prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 });

function called(name: string, input: JsonObject): readonly JsonObject[] {
  const text = JSON.stringify(input);
  return [
    chunk(callFragment(0, { id: `call of ${SECRET}`, name, arguments: text.slice(0, 20) })),
    chunk(callFragment(0, { arguments: text.slice(20) })),
    chunk({}, 'tool_calls'),
    usage,
  ];
}

/** Plays the turns of the talker. Any other request gets a 401 that echoes its key and the secret. */
function reply({ body, headers }: FakeRequest): FakeReply {
  const messages = objects(body.messages);
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (!JSON.stringify(messages).includes('Task of talks')) {
    const message = `Key ${String(headers.authorization)} is wrong, and so is ${SECRET}: ${every}`;
    return {
      status: 401,
      headers: { 'x-request-id': `id of ${encodeURIComponent(SECRET)}` },
      body: { error: { message, type: 'auth', code: 'invalid_api_key', param: SECRET } },
    };
  }
  const turns: readonly (readonly JsonObject[])[] = [
    [...spelt('reasoning_content', every), ...spelt('content', every), ...called('acme_tell', { what: every })],
    called('acme_break', { what: SECRET }),
    called('acme_nobody', { what: SECRET, [SECRET]: 1 }),
    [...spelt('content', `At last: ${SECRET}.`), chunk({}, 'stop'), usage],
  ];
  return { chunks: turns[turn] ?? [chunk({}, 'stop'), usage] };
}

/** One tool returns the secret, and one throws it. Both record their inputs. */
function leakyTools(seen: unknown[]) {
  const input = z.looseObject({ what: z.string() });
  const tell = defineTool({
    id: 'acme:tell',
    description: 'Tells all it knows.',
    input,
    safety: 'read',
    run: async (given, context) => {
      seen.push(given);
      // Places the secret across the point at which progress messages are truncated.
      context.progress(0.5, `halfway to ${'x'.repeat(480)}${SECRET}`);
      await context.step('look', () => ({ found: written }));
      return { ...written, [SECRET]: [written], large: `${'x'.repeat(40_000)}${SECRET}` };
    },
  });
  const fail = defineTool({
    id: 'acme:break',
    description: 'Breaks.',
    input,
    safety: 'read',
    run: (given) => {
      seen.push(given);
      const cause = new Error(SECRET);
      throw new TerminalError('not_found', {
        message: `${every} is gone`,
        hint: SECRET,
        cause,
        details: { ...written },
      });
    },
  });
  return [tell, fail];
}

export async function leakyHost(data: string, isKnown: boolean, collector: string): Promise<LeakyHost> {
  const provider = await fakeOpenAi(reply);
  const seenByTools: unknown[] = [];
  const notices: string[] = [];
  const tools = leakyTools(seenByTools);
  const instructions = 'You say what you like.';
  const secrets = {
    ...(isKnown ? { canary: { value: SECRET } } : {}),
    'provider-key': { value: PROVIDER_KEY },
    'own-key': { value: OWN_KEY },
  };
  const host = await createHost({
    config: {
      port: 0,
      data,
      keys: [{ key: ACCESS_KEY, tenant: 'a', principal: 'tester', scopes: [...scopes] }],
      secrets,
      models: {
        providers: { fake: { kind: 'openai-compatible', baseUrl: provider.url, apiKey: { secret: 'provider-key' } } },
        default: 'fake/fake-1',
      },
      credentials: { mine: { provider: 'fake', key: { secret: 'own-key' } } },
      tools: { allow: ['acme:*'] },
      otel: { endpoint: collector, protocol: 'http/json' },
    },
    agents: [
      defineAgent({ id: 'host:talker', persona: 'Talker', instructions, tools }),
      defineAgent({ id: 'host:refused', persona: 'Refused', instructions }),
    ],
    tools,
    workflows: flows,
    report: ({ error, ...notice }) => notices.push(`${JSON.stringify(notice)} ${shownError(error)}`),
  });
  return { host, provider, notices, seenByTools, ask: asking(host) };
}

const scopes = [
  'manifest:read',
  'runs:create',
  'runs:read',
  'approvals:respond',
  'audit:read',
  'metrics:read',
] as const;
