import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { typed } from './recording-terminal.kit.ts';
import { key, servedCli } from './served-cli.kit.ts';

/** Clears the screen, goes back to the start of the line, forges a line, turns the reading direction. */
const STEERS = '\u001b[2J\u009b31m\r\nforged\u202e';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]|^forged/m;

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
  if (path.includes('/interrupts')) return method === 'GET' ? { interrupts: [question] } : run;
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

async function lyingHost(): Promise<string> {
  const server = createServer(({ method = '', url = '' }, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(lie(method, url)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ['runs'],
  ['show r'],
  ['answer r accept'],
  ['answer r'],
  ['cancel r'],
  ['workflows'],
  ['pack list'],
  ['agents'],
  ['agents a'],
  ['tools'],
  ['tools t'],
  ['run w --detach'],
])('cairn %s shows what a lying host says, and sends none of it to the terminal', async (line) => {
  const env = { CAIRN_URL: await lyingHost(), CAIRN_KEY: 'a-key-of-somebody' };
  const { out, err } = await typed(line.split(' '), { env });
  expect(`${out}${err}`).toContain('\\u001b[2J');
  expect(`${out}\n${err}`).not.toMatch(control);
});

test.each([['runs'], ['show r'], ['answer r accept'], ['cancel r'], ['workflows'], ['pack list'], ['run w --detach']])(
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
