import { eventPayloads, eventTypes } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testServer } from '../../test/kit/test-server.ts';
import { filtered } from './filtered-terminal.ts';
import { typed } from './recording-terminal.kit.ts';
import { ownColour } from './render/style.ts';
import { key, servedCli } from './served-cli.kit.ts';
import type { Terminal } from './terminal.ts';

/** Clears the screen, goes back to the start of the line, forges a line, turns the reading direction. */
const STEERS = '\u001b[2J\u009b31m\r\nforged\u202e\u2066\u200f\u2028\u{e0041}\u001b]8;;http://evil.example\u0007x';

const control =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u206f]|[\u{e0000}-\u{e007f}]|^forged/mu;

/** What is printed without our own colours, which begin with a control character. */
const uncoloured = (text: string): string =>
  text
    .split(ownColour)
    .filter((_, i) => i % 2 === 0)
    .join('');

/** A value of a JSON Schema in which every text would steer a terminal. */
function hostile(schema: Readonly<Record<string, unknown>>): unknown {
  const {
    type,
    properties,
    items,
    anyOf,
    const: fixed,
  } = schema as {
    readonly type?: string;
    readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly items?: Readonly<Record<string, unknown>>;
    readonly anyOf?: readonly Readonly<Record<string, unknown>>[];
    readonly const?: unknown;
  };
  if (fixed !== undefined) return fixed;
  if (anyOf?.[0] !== undefined) return hostile(anyOf[0]);
  if (type === 'object') {
    const known = Object.entries(properties ?? {}).map(([name, of]) => [name, hostile(of)] as const);
    return { ...Object.fromEntries(known), [STEERS]: STEERS };
  }
  if (type === 'array') return [hostile(items ?? {})];
  if (type === 'number' || type === 'integer') return 1;
  return type === 'boolean' ? true : STEERS;
}

/** One event of every type, and the end of the run. */
const events = [...eventTypes.filter((type) => !type.startsWith('run.')), 'run.failed' as const].map(
  (type, sequence) => ({
    eventId: STEERS,
    runId: STEERS,
    nodeId: STEERS,
    sequence,
    type,
    timestamp: `2026-01-01T${STEERS}`,
    payload: hostile(z.toJSONSchema(eventPayloads[type], { io: 'input', unrepresentable: 'any' })),
  }),
);

const run = {
  runId: `run_${STEERS}`,
  workflowId: STEERS,
  status: STEERS,
  owner: { tenant: STEERS, principal: STEERS },
  startedAt: '2026-01-01T00:00:00.000Z',
  nodeStates: {
    [STEERS]: { status: STEERS, typeId: STEERS, error: { code: STEERS, message: STEERS } },
    other: { status: 'constructor' },
  },
  variables: { [STEERS]: STEERS },
  error: { code: STEERS, message: STEERS, details: { [STEERS]: STEERS, hint: STEERS } },
  tags: [STEERS],
  interrupt: { nodeId: STEERS, interruptId: STEERS, kind: 'approval', payload: {} },
};

const question = {
  ...run.interrupt,
  runId: run.runId,
  key: STEERS,
  data: { title: STEERS, actions: [STEERS], description: STEERS },
  requestedAt: STEERS,
};

/** Whatever it is asked, every text it gives would steer a terminal. */
function lie(method: string, path: string): unknown {
  if (path.includes('/events')) return { events };
  if (path.includes('/inbox')) return { entries: [inboxEntry], nextCursor: null };
  if (path.includes('/calibration')) {
    const bucket = { from: 0, to: 1, stated: STEERS, held: 1, approved: 1, edited: 0, rejected: 0 };
    return { agents: [{ agentId: STEERS, buckets: [bucket] }], complete: true };
  }
  if (path.includes('/interrupts')) return method === 'GET' ? { interrupts: [question] } : run;
  if (path.startsWith('/v1/workflows/')) {
    const node = { id: STEERS, typeId: STEERS, name: STEERS, position: { x: 0, y: 0 }, config: {}, inputs: {} };
    const edge = { id: STEERS, sourceNodeId: STEERS, targetNodeId: STEERS, source: STEERS, target: STEERS };
    const variable = { name: STEERS, type: STEERS, description: STEERS, required: true };
    const rest = { triggers: [], variables: [variable], metadata: { [STEERS]: STEERS }, settings: {} };
    return { id: STEERS, name: STEERS, version: STEERS, description: STEERS, nodes: [node], edges: [edge], ...rest };
  }
  if (path.startsWith('/v1/workflows')) {
    return { workflows: [{ workflowId: STEERS, version: STEERS, registeredAt: run.startedAt }] };
  }
  if (path.startsWith('/v1/host/cairn/packs')) {
    const agents = [{ agentId: STEERS, modelClass: STEERS }];
    const pack = { name: STEERS, version: STEERS, scope: STEERS, signedBy: STEERS, agents, degraded: [STEERS] };
    return { packs: [{ ...pack, installedAt: run.startedAt }] };
  }
  if (path.startsWith('/v1/agents')) {
    const agent = { agentId: STEERS, persona: STEERS, label: `${STEERS}!`, description: STEERS, modelClass: STEERS };
    const more = { packName: STEERS, packVersion: STEERS, toolAllowlist: [STEERS], degraded: [STEERS] };
    const whole = { ...agent, ...more, hasHandoffSchemas: false, memoryShape: { [STEERS]: true } };
    return path === '/v1/agents' ? { agents: [whole], total: 1 } : whole;
  }
  if (path.startsWith('/v1/tools')) {
    const inputSchema = { properties: { [STEERS]: { type: STEERS, description: STEERS } }, required: [STEERS] };
    const tool = {
      toolId: STEERS,
      title: STEERS,
      description: STEERS,
      safetyTier: STEERS,
      egress: STEERS,
      inputSchema,
    };
    return path === '/v1/tools' ? { tools: [tool] } : { ...tool, auth: { scopes: [STEERS] } };
  }
  return method === 'GET' && /^\/v1\/runs(\?|$)/.test(path) ? { runs: [run], nextCursor: STEERS } : run;
}

const inboxEntry = {
  ...question,
  workflowId: STEERS,
  path: [{ runId: STEERS, nodeId: STEERS, workflowId: STEERS }],
  agent: { agentId: STEERS, persona: STEERS },
  title: STEERS,
};

function lyingHost(): Promise<string> {
  return testServer(({ method = '', url = '', headers }, response) => {
    if (headers.accept?.includes('text/event-stream')) {
      response.setHeader('content-type', 'text/event-stream');
      const isInbox = url.includes('/inbox');
      const frames = isInbox ? [{ kind: 'opened', entry: inboxEntry }] : events;
      for (const [id, frame] of frames.entries()) {
        response.write(
          `id: ${id}\nevent: ${'type' in frame ? frame.type : 'opened'}\ndata: ${JSON.stringify(frame)}\n\n`,
        );
      }
      response.end();
      return;
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(lie(method, url)));
  });
}

/** Every verb that shows what a host says. */
const verbs = [
  'runs',
  'show r',
  'tail r',
  'tail r --no-follow',
  'tail r --no-follow --types node,agent',
  'inbox',
  'answer r accept',
  'answer r',
  'cancel r',
  'pause r',
  'resume r',
  'workflows',
  'workflows w',
  'pack list',
  'agents',
  'agents a',
  'tools',
  'tools t',
  'calibration',
  'run w --detach',
  'run w',
];

test.each(verbs)('cairn %s shows what a lying host says, and sends none of it to the terminal', async (line) => {
  const env = { CAIRN_URL: await lyingHost(), CAIRN_KEY: 'a-key-of-somebody' };
  for (const screen of [{}, { colours: true }, { colours: true, columns: 60 }]) {
    const { out, err } = await typed(line.split(' '), { env, ...screen });
    const printed = uncoloured(`${out}\n${err}`);
    expect(printed).not.toMatch(control);
    if (!('columns' in screen)) expect(printed).toContain('\\u001b[2J');
  }
});

test.each(verbs.filter((line) => !line.includes('--types') && line !== 'tail r' && line !== 'answer r'))(
  'the JSON of cairn %s holds what the host said, and steers no terminal either',
  async (line) => {
    const env = { CAIRN_URL: await lyingHost(), CAIRN_KEY: 'a-key-of-somebody' };
    const { out, err } = await typed([...line.split(' '), '--json'], { env });
    expect(`${out}\n${err}`).not.toMatch(control);
    const said = [...out.split('\n'), ...err.split('\n')].filter((text) => text.startsWith('{'));
    expect(said.length).toBeGreaterThan(0);
    expect(JSON.stringify(said.map((text) => JSON.parse(text)))).toContain(JSON.stringify(STEERS).slice(1, -1));
  },
);

test('what a renderer forgets to escape is escaped where it is printed', () => {
  const printed: string[] = [];
  const record = (text: string) => void printed.push(text);
  const terminal = {
    colours: { out: true, err: false },
    print: record,
    tell: record,
    part: (_: string, text: string) => record(text),
  };
  const { print, tell, part } = filtered(terminal as Partial<Terminal> as Terminal);
  print(`\u001b[31mred\u001b[39m ${STEERS}\u001b[5m`);
  tell(`\u001b[31mred\u001b[39m ${STEERS}`);
  part('out', STEERS);
  for (const text of printed) expect(uncoloured(text).replaceAll('\nforged', '')).not.toMatch(control);
  expect(printed[0]?.startsWith('\u001b[31mred\u001b[39m \\u001b[2J')).toBe(true);
  expect(printed[0]?.endsWith('\\u001b[5m')).toBe(true);
  expect(printed[1]).toContain('\\u001b[31mred');
});

test('the question of a workflow cannot steer the terminal by the command that would answer it', async () => {
  const { cairn, url } = await servedCli();
  const nodes = [
    {
      id: 'ask',
      typeId: 'core.clarificationGate',
      name: 'ask',
      position: { x: 0, y: 0 },
      config: { questions: [{ id: `id${STEERS}`, question: STEERS }] },
      inputs: {},
    },
  ];
  const rest = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
  const registered = await fetch(`${url}/v1/workflows`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'steers', name: STEERS, version: '1', nodes, ...rest }),
  });
  expect(registered.status).toBe(201);
  const { out, err, code } = await cairn(['run', 'steers']);
  expect(code).toBe(5);
  expect(err).toContain("'id\\u001b[2J");
  expect(`${out}\n${err}`).not.toMatch(control);
});
