import { createHash } from 'node:crypto';
import type { ContextId, Json, JsonObject, RunId } from '@cairn/protocol';
import { beforeEach, expect, test } from 'vitest';
import { payloadsOf } from '../../../test/kit/payloads-of.ts';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import type { CallContext, Emission, Redactor } from '../../engine/ports.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { ModelCredentials } from './credentials.ts';
import { ModelError } from './model-error.ts';
import type { Model, ModelCall, ModelPart } from './model-port.ts';
import { ModelRegistry } from './model-registry.ts';
import { createModelPerformer, type ModelPerformerPorts } from './model-turn.ts';
import type { ModelOutcome, ModelRequest, Turn } from './turn.ts';

const clock = new VirtualClock();
const finish: ModelPart = { type: 'finish', finish: 'stop', usage: { inputTokens: 1000, outputTokens: 10 } };

const model = (stream: Model['stream'], over: Partial<Model> = {}): Model => ({
  provider: 'local',
  model: 'm',
  capabilities: new Set(['function-calling', 'structured-output']),
  contextTokens: null,
  prices: null,
  isScripted: false,
  stream,
  ...over,
});

const saying = (...parts: readonly ModelPart[]): Model['stream'] =>
  async function* () {
    for (const part of parts) yield [part];
  };

const request = (over: Partial<ModelRequest> = {}): JsonObject =>
  ({
    agentId: 'local.a.b',
    selection: { modelClass: 'chat' },
    system: 'Be brief.',
    messages: [{ role: 'user', text: 'hello' }],
    tools: [],
    group: 'isolated',
    cutSeq: 3,
    verbosity: 'summary',
    turnIndex: 0,
    ...over,
  }) as JsonObject;

let rows: Emission[] = [];
let redactor: Redactor | null = null;
let stop = new AbortController();
beforeEach(() => {
  rows = [];
  redactor = null;
  stop = new AbortController();
});
const context = (): CallContext => ({
  runId: 'run_1' as RunId,
  nodeId: 'n',
  callId: 'n#0.0/m0',
  idempotencyKey: 'k',
  attempt: 1,
  signal: stop.signal,
  tenant: 'acme',
  contextId: 'ctx_1' as ContextId,
  requestedSeq: 4,
  emit: (more) => {
    rows.push(...more);
    return undefined;
  },
  open: (value) => value,
  redactor,
  reusable: () => Promise.resolve(null),
  recorded: () => Promise.resolve(),
  isCanceled: false,
});

const ports = (of: Model, over: Partial<ModelPerformerPorts> = {}): ModelPerformerPorts => ({
  models: { find: () => of },
  conversations: { before: () => Promise.resolve([]) },
  credentials: new ModelCredentials(new Map()),
  clock,
  sha256: (text, encoding) => createHash('sha256').update(text).digest(encoding),
  ...over,
});

async function performed(of: ModelPerformerPorts, asked: JsonObject = request()): Promise<ModelOutcome> {
  return (await createModelPerformer(of).run(asked, context())) as ModelOutcome;
}

async function turnOf(of: ModelPerformerPorts, asked?: JsonObject): Promise<Turn> {
  const outcome = await performed(of, asked);
  if ('turn' in outcome) return outcome.turn;
  throw new Error(outcome.error.message);
}

async function errorOf(of: ModelPerformerPorts, asked?: JsonObject) {
  const outcome = await performed(of, asked);
  if ('error' in outcome) return outcome.error;
  throw new Error('it succeeded');
}

test('half characters are mended before they are part of what goes back to a model', async () => {
  const call = { id: 'a', name: 'openwop_time', input: { zone: 'U\ud800' } };
  const said = saying(
    { type: 'reasoning-delta', text: 'h\udc00' },
    { type: 'text-delta', text: 'smile \ud83d' },
    { type: 'text-delta', text: '\ude00\ud800' },
    { type: 'tool-call', call },
    finish,
  );
  const turn = await turnOf(ports(model(said)));
  expect([turn.text, turn.reasoning]).toEqual(['smile 😀\ufffd', 'h\ufffd']);
  expect(turn.toolCalls).toEqual([{ ...call, input: { zone: 'U\ufffd' } }]);
});

test('gives the whole turn, and its rows while it came', async () => {
  const call = { id: 'a', name: 'openwop_time', input: {} };
  const turn = await turnOf(
    ports(
      model(
        saying(
          { type: 'reasoning-delta', text: 'hm' },
          { type: 'text-delta', text: 'Hi' },
          { type: 'tool-call', call },
          finish,
        ),
        { prices: { input: 2, output: 10 } },
      ),
    ),
  );
  expect(turn).toEqual({
    text: 'Hi',
    reasoning: 'hm',
    toolCalls: [call],
    finish: 'stop',
    usage: { inputTokens: 1000, outputTokens: 10 },
    provider: 'local',
    model: 'm',
    cacheKey: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    costUsd: 0.0021,
    chunks: 1,
    tail: '',
    specification: 'v4',
  });
  expect(rows.map(({ type }) => type)).toEqual(['agent.reasoning.delta', 'output.chunk']);
  expect(JSON.parse(JSON.stringify(turn))).toEqual(turn);
});

test('the conversation comes before the messages of the invocation, and changes the cache key', async () => {
  const seen: ModelCall[] = [];
  const listening = model((call) => {
    seen.push(call);
    return saying(finish)(call);
  });
  const alone = await turnOf(ports(listening));
  const before = [{ role: 'user', text: 'earlier' }] as const;
  const asked: unknown[] = [];
  const conversations: ModelPerformerPorts['conversations'] = {
    before: (query) => {
      asked.push(query);
      return Promise.resolve(before);
    },
  };
  const together = await turnOf(ports(listening, { conversations }));
  expect(seen[1]?.messages).toEqual([...before, { role: 'user', text: 'hello' }]);
  expect(seen[1]?.task).toBe('hello');
  expect(asked).toEqual([
    expect.objectContaining({ contextId: 'ctx_1', runId: 'run_1', cutSeq: 3, group: 'isolated', task: 'hello' }),
  ]);
  expect(together.cacheKey).not.toBe(alone.cacheKey);
});

test('neither tenant nor credential nor attempt changes the cache key', async () => {
  const credential = { provider: 'local', tenants: null, key: { reveal: () => 'sk-of-the-caller' } };
  const credentials = new ModelCredentials(new Map([['mine', credential]]));
  const of = ports(model(saying(finish)), { credentials });
  const plain = await turnOf(of);
  const own = await turnOf(of, request({ selection: { modelClass: 'chat', credentialRef: 'mine' } }));
  expect(own.cacheKey).toBe(plain.cacheKey);
  const warmer = await turnOf(of, request({ selection: { modelClass: 'chat', temperature: 1 } }));
  expect(warmer.cacheKey).not.toBe(plain.cacheKey);
});

test('a credential is revealed to the call of its provider, and to no other', async () => {
  const keys: (string | undefined)[] = [];
  const listening = (provider: string) =>
    model(
      (call) => {
        keys.push(call.credential);
        return saying(finish)(call);
      },
      { provider },
    );
  const credential = { provider: 'local', tenants: ['acme'], key: { reveal: () => 'sk-of-the-caller' } };
  const credentials = new ModelCredentials(new Map([['mine', credential]]));
  const asked = request({ selection: { modelClass: 'chat', credentialRef: 'mine' } });
  await turnOf(ports(listening('local'), { credentials }), asked);
  const error = await errorOf(ports(listening('other'), { credentials }), asked);
  expect(error).toMatchObject({ class: 'auth', code: 'credential_forbidden', retryable: false });
  expect(keys).toEqual(['sk-of-the-caller']);
});

test('a model that lacks what is needed is not called, and the log says so', async () => {
  const incapable = model(
    () => {
      throw new Error('it was called');
    },
    { capabilities: new Set() },
  );
  const tools = [{ toolId: 'openwop:time', name: 'openwop_time', description: '', inputSchema: {} }];
  const error = await errorOf(ports(incapable), request({ tools, responseSchema: {} }));
  expect(error).toMatchObject({ class: 'capability', code: 'capability_not_provided', retryable: false });
  expect(rows).toEqual([
    {
      type: 'model.capability.insufficient',
      payload: {
        nodeId: 'n',
        provider: 'local',
        model: 'm',
        missingCapabilities: ['function-calling', 'structured-output'],
      },
    },
  ]);
});

test.each<[string, Model['stream'], JsonObject]>([
  ['ends without a finish', saying({ type: 'text-delta', text: 'Hel' }), { class: 'bad_stream', retryable: true }],
  [
    'ends to call tools and calls none',
    saying({ type: 'finish', finish: 'tool_calls', usage: { inputTokens: 1, outputTokens: 1 } }),
    { class: 'bad_stream', retryable: true },
  ],
  [
    'throws in the middle',
    async function* () {
      yield [{ type: 'text-delta', text: 'Hel' }];
      throw new ModelError('network', { message: 'cut' });
    },
    { class: 'network', retryable: true, message: 'cut' },
  ],
  [
    'throws something strange',
    () => {
      throw 'a text';
    },
    { class: 'unknown', code: 'model_call_failed', retryable: false },
  ],
  [
    'never ends',
    async function* () {
      for (;;) yield [{ type: 'text-delta', text: 'x'.repeat(10_000) }];
    },
    { class: 'bad_stream', retryable: false },
  ],
  [
    'says nothing without end',
    async function* () {
      for (;;) yield Array.from({ length: 10_000 }, () => ({ type: 'reasoning-delta', text: '' }) as const);
    },
    { class: 'bad_stream', retryable: false },
  ],
  [
    'calls tools without end',
    async function* () {
      for (;;) yield [{ type: 'tool-call', call: { id: 'a', name: 'b', input: {} } }];
    },
    { class: 'bad_stream', retryable: false },
  ],
])('a model that %s is an error of its class', async (_, stream, expected) => {
  expect(await errorOf(ports(model(stream)))).toMatchObject(expected);
});

test('a stream that is left before its end is told to end', async () => {
  const signals: AbortSignal[] = [];
  const endless = model(async function* ({ signal }) {
    signals.push(signal);
    for (;;) yield [{ type: 'text-delta', text: 'x'.repeat(10_000) }];
  });
  await errorOf(ports(endless));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

test('what comes after the finish is not taken', async () => {
  const turn = await turnOf(
    ports(
      model(async function* () {
        yield [finish, { type: 'text-delta', text: 'late' }];
        yield [{ type: 'text-delta', text: 'later' }];
      }),
    ),
  );
  expect(turn.text).toBe('');
});

test('a silent model is given up, its stream aborted, and late words do no harm', async () => {
  let aborted: unknown;
  let speak: () => void = () => undefined;
  const silent = model(async function* (call) {
    call.signal.addEventListener('abort', () => {
      aborted = call.signal.reason;
    });
    yield [{ type: 'text-delta', text: 'Hel' }];
    await new Promise<void>((resolve) => {
      speak = resolve;
    });
    throw new Error('too late');
  });
  const outcome = performed(ports({ ...silent, maxSilenceMs: 1000 }));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advanceTo(clock.now() + 999);
  expect(aborted).toBeUndefined();
  clock.advanceTo(clock.now() + 251);
  expect(await outcome).toMatchObject({ error: { class: 'timeout', retryable: true } });
  expect(aborted).toBeInstanceOf(ModelError);
  speak();
  expect(clock.next()).toBeNull();
});

test('a slow model that keeps talking is heard out', async () => {
  const steps: (() => void)[] = [];
  const slow = model(async function* () {
    for (let i = 0; i < 5; i++) {
      await new Promise<void>((resolve) => steps.push(resolve));
      yield [];
    }
    yield [finish];
  });
  const limits = { idleMs: 1000, maxCharacters: 100, maxToolCalls: 1 };
  const outcome = performed(ports(slow, { limits }));
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advanceTo(clock.now() + 900);
    steps.shift()?.();
  }
  expect(await outcome).toMatchObject({ turn: { finish: 'stop' } });
});

test('an abort ends the turn at once, also of a model that does not listen', async () => {
  const deaf = model(async function* () {
    yield [{ type: 'text-delta', text: 'Hel' }];
    await new Promise(() => undefined);
  });
  const outcome = performed(ports(deaf));
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error('cancelled'));
  expect(await outcome).toMatchObject({ error: { class: 'unknown' } });
  expect(clock.next()).toBeNull();
});

test('a secret that a model says in pieces is in neither rows nor turn', async () => {
  redactor = createRedactor([{ name: 'k', value: 'sk-0123456789abcdef' }]);
  const pieces = ['the key is sk-01', '23456789', 'abcdef, keep it'];
  const stream = saying(...pieces.map((text): ModelPart => ({ type: 'text-delta', text })), finish);
  const turn = await turnOf(ports(model(stream)));
  expect(turn.text).toBe('the key is [REDACTED], keep it');
  expect(
    payloadsOf(rows, 'output.chunk')
      .map(({ chunk }) => chunk)
      .join('') + turn.tail,
  ).toBe(turn.text);
});

test('tokens of a mock come one by one, also where one could begin a secret, unless they are one together', async () => {
  redactor = createRedactor([{ name: 'k', value: 'sk-0123456789abcdef' }]);
  const registry = new ModelRegistry({ providers: new Map(), classes: {} }, clock);
  const of = ports(model(saying()), { models: registry });
  const mock = (...tokens: string[]) => request({ mock: { id: 'stream-text', config: { tokens } } });
  const turn = await turnOf(of, mock('s', 'sk', '-01', 'end'));
  expect([...payloadsOf(rows, 'output.chunk').map(({ chunk }) => chunk), turn.tail]).toEqual(['s', 'sk', '-01', 'end']);
  rows = [];
  const secret = await turnOf(of, mock('is sk-01', '23456789', 'abcdef', '!'));
  expect(
    payloadsOf(rows, 'output.chunk')
      .map(({ chunk }) => chunk)
      .join('') + secret.tail,
  ).toBe('is [REDACTED]!');
});

test('a script is performed delta by delta, and its mistakes are told', async () => {
  const registry = new ModelRegistry({ providers: new Map(), classes: {} }, clock);
  const of = ports(model(saying()), { models: registry });
  const rehearsal: Json = { turns: [[{ think: 'hm so' }, { say: ['a', 'b', 'c'] }]] };
  const turn = await turnOf(of, request({ rehearsal }));
  expect(turn).toMatchObject({ provider: 'scripted', text: 'abc', chunks: 3, costUsd: 0 });
  expect(rows).toHaveLength(5);
  expect(await errorOf(of, request({ rehearsal: { turns: [[{ sing: 1 }]] } }))).toMatchObject({
    class: 'invalid_request',
    message: expect.stringContaining('turns[0][0]') as unknown,
  });
  expect(await errorOf(of)).toMatchObject({ class: 'not_configured', code: 'model_not_configured' });
});
