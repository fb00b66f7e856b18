import type { Json } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../../test/kit/virtual-clock.ts';
import { ModelError } from '../model-error.ts';
import type { ModelCall, ModelPart } from '../model-port.ts';
import { readScript, type Script } from './script.ts';
import { scriptedModel } from './scripted-model.ts';

function script(...turns: readonly Json[][]): Script {
  const read = readScript({ turns });
  if ('script' in read) return read.script;
  throw new Error(read.problems.join());
}

const call = (over: Partial<ModelCall> = {}): ModelCall => ({
  system: '',
  messages: [{ role: 'user', text: '{"topic":"wasps"}' }],
  task: '{"topic":"bees","n":{"deep":[1]}}',
  tools: [],
  turnIndex: 0,
  attempt: 1,
  signal: new AbortController().signal,
  ...over,
});

async function parts(of: Script, over: Partial<ModelCall> = {}, clock = new VirtualClock()): Promise<ModelPart[]> {
  const all: ModelPart[] = [];
  for await (const some of scriptedModel({ script: of, clock }).stream(call(over))) all.push(...some);
  return all;
}

const texts = (all: readonly ModelPart[]) => all.flatMap((part) => ('text' in part ? [part.text] : []));

test('says a text word by word, and a list piece by piece', async () => {
  const all = await parts(script([{ say: 'Hello big  world.\n' }, { say: ['a b', '', 'c'] }]));
  expect(texts(all)).toEqual(['Hello', ' big', '  world.\n', 'a b', '', 'c']);
  expect(all.at(-1)).toMatchObject({ type: 'finish', finish: 'stop' });
});

test('fills in the task, the input and the last result', async () => {
  const messages: ModelCall['messages'] = [
    { role: 'user', text: '{"topic":"bees","n":{"deep":[1]}}' },
    { role: 'tool', callId: 'a', name: 'x', output: 'old', isError: false },
    { role: 'tool', callId: 'b', name: 'x', output: { found: [7] }, isError: false },
  ];
  const said = await parts(
    script([{ say: ['{{input.topic}} {{ input.n }} {{last.found}} [{{input.none.at.all}}]'] }]),
    { messages },
  );
  expect(texts(said)).toEqual(['bees {"deep":[1]} [7] []']);
  const [called] = await parts(
    script([{ call: { tool: 't', input: { whole: '{{last}}', part: 'on {{input.topic}}', none: '{{input.x}}' } } }]),
    { messages },
  );
  expect(called).toMatchObject({ call: { input: { whole: { found: [7] }, part: 'on bees', none: null } } });
});

test('a task that is no object has no fields, and inherited names are none', async () => {
  const all = await parts(script([{ say: ['{{task}}|{{input.topic}}|{{input.constructor}}|{{last}}'] }]), {
    task: 'plain',
  });
  expect(texts(all)).toEqual(['plain|||null']);
});

test('calls a tool by the name it was shown, and one it was not shown by its id', async () => {
  const tools = [{ toolId: 'openwop:decide', name: 'openwop_decide', description: '', inputSchema: {} }];
  const all = await parts(
    script([
      { decide: { decision: 'yes', confidence: 0.3 } },
      { handoff: { to: 'local.a.b', message: 'Go on.', task: { topic: '{{input.topic}}' } } },
      { ask: 'Which?' },
    ]),
    { tools, turnIndex: 0 },
  );
  expect(all.slice(0, 3)).toEqual([
    {
      type: 'tool-call',
      call: { id: 'call_0_0', name: 'openwop_decide', input: { decision: 'yes', confidence: 0.3 } },
    },
    {
      type: 'tool-call',
      call: {
        id: 'call_0_1',
        name: 'openwop:handoff',
        input: { agentId: 'local.a.b', message: 'Go on.', task: { topic: 'bees' } },
      },
    },
    { type: 'tool-call', call: { id: 'call_0_2', name: 'openwop:ask', input: { question: 'Which?' } } },
  ]);
  expect(all.at(-1)).toMatchObject({ finish: 'tool_calls' });
});

test('fails as it is told, for as many attempts as it is told', async () => {
  const of = script([{ say: 'so' }, { fail: { class: 'overloaded', attempts: 2, retryAfterMs: 5 } }, { say: 'far' }]);
  await expect(parts(of, { attempt: 2 })).rejects.toMatchObject({
    class: 'overloaded',
    retryable: true,
    retryAfterMs: 5,
  });
  expect(texts(await parts(of, { attempt: 3 }))).toEqual(['so', 'far']);
});

test('a turn that the script does not have is refused', async () => {
  const run = parts(script([{ say: 'a' }]), { turnIndex: 1 });
  await expect(run).rejects.toBeInstanceOf(ModelError);
  await expect(run).rejects.toThrow('has 1 turns and was asked for turn 2');
});

test('waits by the clock, and an abort ends the wait', async () => {
  const clock = new VirtualClock();
  const waiting = parts(script([{ delay: 1000 }, { say: 'late' }]), {}, clock);
  await Promise.resolve();
  clock.advanceTo(1000);
  expect(texts(await waiting)).toEqual(['late']);
  const stop = new AbortController();
  const aborted = parts(script([{ delay: 1000 }]), { signal: stop.signal }, clock);
  await Promise.resolve();
  stop.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  expect(clock.next()).toBeNull();
});

test('streams as many deltas as asked, each of the size asked, none merged', async () => {
  const all = await parts(
    script([{ stream: { deltas: 1000, size: 40 } }, { stream: { deltas: 3, size: 2, as: 'reasoning' } }]),
  );
  expect(all).toHaveLength(1004);
  expect(all.filter((part) => part.type === 'text-delta' && part.text.length === 40)).toHaveLength(1000);
  expect(all.filter((part) => part.type === 'reasoning-delta' && part.text.length === 2)).toHaveLength(3);
});

test('states the usage and the end it is given, and estimates what it is not', async () => {
  const stated = await parts(script([{ usage: { inputTokens: 7, outputTokens: 9 } }, { finish: 'length' }]));
  expect(stated).toEqual([{ type: 'finish', finish: 'length', usage: { inputTokens: 7, outputTokens: 9 } }]);
  const estimated = (await parts(script([{ say: ['12345678'] }]))).at(-1);
  expect(estimated?.type === 'finish' && estimated.usage.outputTokens).toBe(2);
});

test.each<[Json, string]>([
  ['<UNTRUSTED tool="a:b">{"found":{"n":2}}</UNTRUSTED>', '2'],
  ['<UNTRUSTED tool="a:b">plain words</UNTRUSTED>', ''],
  ['<UNTRUSTED tool="a:b">cut off', ''],
])('of a result that is marked as untrusted, %j, its parts can be filled in as well', async (output, said) => {
  const messages = [{ role: 'tool' as const, callId: 'c', name: 't', output, isError: false }];
  expect(texts(await parts(script([{ say: ['{{last.found.n}}'] }]), { messages }))).toEqual([said]);
});
