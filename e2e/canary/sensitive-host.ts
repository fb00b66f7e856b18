/** A host that runs workflows with sensitive variables, and whose steps, tools and models repeat every value they get. */
import { createHost, defineAgent, defineStep, defineTool, type Host, type HostOptions } from '@cairn/host';
import { type JsonObject, TerminalError, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
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

export const PASSWORD = 'correct horse battery staple';
export const PIN = 90_417_263;
/** What a step returns under a sensitive output. */
export const TOKEN = 'fresh-token-0123456789';

export interface SensitiveHost {
  readonly host: Host;
  readonly notices: readonly string[];
  /** The inputs of steps and tools, in order. */
  readonly seen: readonly JsonObject[];
  readonly model: FakeOpenAi;
  ask(method: string, path: string, body?: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

const place = { name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {} };
const ofVariable = (variableName: string) => ({ type: 'variable' as const, variableName });

function flow(
  id: string,
  nodes: readonly WorkflowNode[],
  variables: WorkflowDefinition['variables'],
): WorkflowDefinition {
  const edges = nodes.slice(1).map((node, i) => ({
    id: `e${i}`,
    sourceNodeId: nodes[i]?.id ?? '',
    targetNodeId: node.id,
    targetInput: 'before',
  }));
  return { id, name: id, version: '1', nodes, edges, triggers: [], variables, metadata: {}, settings: {} };
}

const sensitive = (name: string, type: 'string' | 'object' | 'number' = 'string') => ({ name, type, sensitive: true });
const all = [sensitive('apiKey'), sensitive('login', 'object'), sensitive('pin', 'number'), sensitive('token')];

const uses: WorkflowNode = {
  ...place,
  id: 'uses',
  typeId: 'local.step.use',
  outputSensitivity: { token: true },
  inputs: {
    key: ofVariable('apiKey'),
    login: ofVariable('login'),
    pin: ofVariable('pin'),
    header: { type: 'expression', expression: '"Bearer " + variables.apiKey' },
  },
};

const waits = flow(
  'waits',
  [
    uses,
    {
      ...place,
      id: 'keeps',
      typeId: 'core.setVariable',
      config: { name: 'token' },
      inputs: { value: { type: 'connection', nodeId: 'uses', outputKey: 'token' } },
    },
    {
      ...place,
      id: 'talks',
      typeId: 'cairn.agent',
      inputs: { message: { type: 'expression', expression: '"Task: call with " + variables.apiKey' } },
      agent: { agentId: 'host:talker' },
    },
    {
      ...place,
      id: 'asks-child',
      typeId: 'core.subWorkflow',
      config: { workflowId: 'child', inputMapping: { key: 'apiKey' }, outputMapping: { returned: 'copy' } },
    },
    {
      ...place,
      id: 'gate',
      typeId: 'core.approvalGate',
      config: { title: 'Go on?' },
      inputs: { key: ofVariable('apiKey'), returned: ofVariable('returned') },
    },
    {
      ...place,
      id: 'after',
      typeId: 'local.step.use',
      inputs: { key: ofVariable('returned'), token: ofVariable('token'), answer: ofGate() },
    },
  ],
  [...all, { name: 'returned', type: 'string' }],
);

function ofGate() {
  return { type: 'connection' as const, nodeId: 'gate', outputKey: 'output' };
}

const child = flow(
  'child',
  [
    { ...place, id: 'uses', typeId: 'local.step.use', inputs: { key: ofVariable('key') } },
    {
      ...place,
      id: 'copies',
      typeId: 'core.setVariable',
      config: { name: 'copy', expression: 'variables.key' },
    },
  ],
  [{ name: 'key', type: 'string' }, sensitive('copy')],
);

const fails = flow('fails', [{ ...uses, typeId: 'local.step.fail', outputSensitivity: {} }], all);
const errs = flow(
  'errs',
  [
    {
      ...place,
      id: 'n',
      typeId: 'core.setVariable',
      config: { name: 'x', expression: 'int(variables.apiKey) + variables.login.password.size()' },
    },
  ],
  all,
);

const flows = [waits, child, fails, errs];

const usage = usageChunk({ prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 });
const spelt = (text: string): readonly JsonObject[] => [...text].map((character) => chunk({ content: character }));
const called = (name: string, input: JsonObject): readonly JsonObject[] => [
  chunk(callFragment(0, { id: 'c1', name, arguments: JSON.stringify(input) })),
  chunk({}, 'tool_calls'),
  usage,
];

/** Repeats the key in every encoding, passes it to a tool, stores it in a file and in memory, and says it at last. */
function reply({ body }: FakeRequest): FakeReply {
  const turn = objects(body.messages).filter(({ role }) => role === 'assistant').length;
  const turns: readonly (readonly JsonObject[])[] = [
    [...spelt(`The key is ${Object.values(written).join('\n')}.`), ...called('acme_tell', { what: SECRET })],
    called('openwop_fs_write', { path: 'key.txt', text: `It is ${SECRET}.` }),
    called('openwop_remember', { content: `The key is ${SECRET}.` }),
    [...spelt(`At last: ${SECRET}.`), chunk({}, 'stop'), usage],
  ];
  return { chunks: turns[turn] ?? [chunk({}, 'stop'), usage] };
}

export async function sensitiveHost(
  data: string,
  model: FakeOpenAi,
  config: HostOptions['config'] = {},
): Promise<SensitiveHost> {
  const seen: JsonObject[] = [];
  const notices: string[] = [];
  const use = defineStep({
    name: 'use',
    safety: 'read',
    run: async (input) => {
      seen.push(input);
      const own =
        input.login === undefined && input.token === undefined ? {} : { password: PASSWORD, pin: PIN, token: TOKEN };
      return { ...written, [SECRET]: [input], ...own, large: `${'x'.repeat(100_000)}${SECRET}` };
    },
  });
  const fail = defineStep({
    name: 'fail',
    safety: 'read',
    run: (input) => {
      seen.push(input);
      const details = { ...written, pin: PIN };
      throw new TerminalError('not_found', { message: `${SECRET} ${PASSWORD} ${PIN} is wrong`, details });
    },
  });
  const tell = defineTool({
    id: 'acme:tell',
    description: 'Tells all it knows.',
    input: z.looseObject({ what: z.string() }),
    safety: 'read',
    run: async (given, context) => {
      context.progress(0.5, `halfway to ${SECRET}`);
      const step = await context.step('look', () => ({ found: given.what, more: written }));
      seen.push({ what: given.what, found: step.found });
      return { ...written, given: given.what };
    },
  });
  const host = await createHost({
    config: {
      port: 0,
      data,
      keys: [{ key: ACCESS_KEY, tenant: 'a', principal: 'tester', scopes: [...scopes] }],
      models: { providers: { fake: { kind: 'openai-compatible', baseUrl: model.url } }, default: 'fake/fake-1' },
      tools: { allow: ['*'] },
      ...config,
    },
    steps: [use, fail],
    tools: [tell],
    agents: [
      defineAgent({
        id: 'host:talker',
        persona: 'Talker',
        instructions: 'You say what you like.',
        tools: [tell, 'openwop:fs.write', 'openwop:remember'],
        memory: { longTerm: true },
      }),
    ],
    workflows: flows,
    report: ({ error, ...notice }) => notices.push(`${JSON.stringify(notice)} ${shownError(error)}`),
  });
  return { host, notices, seen, model, ask: asking(host) };
}

export const talker = (): Promise<FakeOpenAi> => fakeOpenAi(reply);

const scopes = [
  'manifest:read',
  'manifest:write',
  'runs:create',
  'runs:read',
  'runs:cancel',
  'approvals:respond',
  'audit:read',
  'metrics:read',
] as const;
