import type { Json, JsonObject, RunId } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { chunk, type FakeReply, type FakeRequest, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow, fixed, type NodeOptions } from '../../engine/workflow/define-workflow.ts';
import { DurableHost } from '../durable-host.kit.ts';

const people = ['ann', 'bob', 'cid'] as const;
type Person = (typeof people)[number];

const agents = people.map((name) =>
  defineAgent({ id: `host:${name}`, persona: name, instructions: `You are called ${name}.` }),
);

const says = (who: Person, message: string, agentSharing: string): NodeOptions => ({
  type: 'cairn.agent',
  agent: `host:${who}`,
  config: { agentSharing },
  inputs: { message: fixed(message) },
});

/** Ann begins, Bob works in a run below, Ann ends. */
const family = (ofAnn: string, ofBob: string) => [
  defineWorkflow({
    id: 'top',
    version: '1',
    nodes: {
      one: says('ann', 'Begin.', ofAnn),
      sub: { type: 'core.subWorkflow', config: { workflowId: 'kid' } },
      three: says('ann', 'End.', ofAnn),
    },
  }),
  defineWorkflow({ id: 'kid', version: '1', nodes: { two: says('bob', 'Go on.', ofBob) } }),
  defineWorkflow({ id: 'aside', version: '1', nodes: { four: says('cid', 'Aside.', ofAnn) } }),
];

interface Room {
  readonly workflows: ReturnType<typeof family>;
  /** Whether a request of this person is left without an answer. */
  readonly hangs?: (who: Person, count: number) => boolean;
  readonly words?: (who: Person, count: number) => string;
  readonly contextTokens?: number;
}

/** A whole host whose model is a server that notes what it is shown, and says who speaks and how often they did. */
async function opened({ workflows, hangs = () => false, words = (who, n) => `${who} ${n}`, contextTokens }: Room) {
  const said: Record<Person, FakeRequest[]> = { ann: [], bob: [], cid: [] };
  const hung = Promise.withResolvers<void>();
  const server = await fakeOpenAi((request): FakeReply => {
    const who = people.find((name) =>
      JSON.stringify(request.body.messages).includes(`You are called ${name}.`),
    ) as Person;
    const count = said[who].push(request);
    if (hangs(who, count)) {
      hung.resolve();
      return { text: [], end: 'open' };
    }
    const usage = usageChunk({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
    return { chunks: [chunk({ content: words(who, count) }), chunk({}, 'stop'), usage] };
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const local = {
    kind: 'openai-compatible' as const,
    baseUrl: server.url,
    ...(contextTokens === undefined ? {} : { models: { small: { contextTokens } } }),
  };
  const host = await DurableHost.open({
    agents,
    workflows,
    config: { models: { providers: { local }, default: 'local/small' } },
  });
  /** What the model was shown at that turn of the person, after their instructions. */
  const shown = (who: Person, turn = 1) => {
    const messages = said[who][turn - 1]?.body.messages as readonly { role: string; content: Json }[] | undefined;
    return messages?.slice(1).map(({ role, content }) => `${role}: ${textOf(content)}`);
  };
  return { host, said, shown, hung: hung.promise };
}

const textOf = (content: Json): string =>
  typeof content === 'string' ? content : (content as readonly JsonObject[]).map(({ text }) => text).join('');

const child = (runId: RunId) => `${runId}.0` as RunId;
const inputs = { message: 'Plan a trip.' };
/** What those who share hear of a node's task. */
const task = (who: string, text: string) => `user: Task of host:${who}: ${text}`;

test.each(['shared', 'shared:desk'])(
  '%s is one room for a run and those below it, both ways and in order',
  async (group) => {
    const { host, shown } = await opened({ workflows: family(group, group) });
    await host.ran('top', { inputs });
    expect(shown('ann')).toEqual(['user: Plan a trip.', 'user: Begin.']);
    const begun = ['user: Plan a trip.', task('ann', 'Begin.')];
    expect(shown('bob')).toEqual([...begun, 'user: host:ann: ann 1', 'user: Go on.']);
    const ofBob = [task('bob', 'Go on.'), 'user: host:bob: bob 1'];
    expect(shown('ann', 2)).toEqual([...begun, 'assistant: ann 1', ...ofBob, 'user: End.']);
  },
);

test.each([
  ['shared', 'isolated'],
  ['isolated', 'shared'],
  ['shared:desk', 'shared:office'],
  ['shared', 'shared:desk'],
])('of agents that are %s and %s neither hears the other', async (ofAnn, ofBob) => {
  const { host, shown } = await opened({ workflows: family(ofAnn, ofBob) });
  await host.ran('top', { inputs });
  expect(shown('bob')).toEqual(ofBob === 'isolated' ? ['user: Go on.'] : ['user: Plan a trip.', 'user: Go on.']);
  expect(shown('ann', 2)?.join()).not.toContain('bob');
});

test('a group is heard in later runs of its conversation, and nowhere else', async () => {
  const workflows = family('shared:desk', 'shared:desk');
  const { host, shown } = await opened({ workflows });
  for (const workflow of workflows) await host.engine.register('other', workflow);
  const contextId = await host.contextOf(await host.ran('top', { inputs }));
  await host.restart();
  await host.ran('aside', { contextId });
  const heard = [
    'user: Plan a trip.',
    task('ann', 'Begin.'),
    'user: host:ann: ann 1',
    task('bob', 'Go on.'),
    'user: host:bob: bob 1',
    task('ann', 'End.'),
    'user: host:ann: ann 2',
  ];
  expect(shown('cid')).toEqual([...heard, 'user: Aside.']);
  await host.ran('aside');
  expect(shown('cid', 2)).toEqual(['user: Aside.']);
  await host.ran('aside', { tenant: 'other' });
  expect(shown('cid', 3)).toEqual(['user: Aside.']);
  await expect(host.start('aside', { tenant: 'other', contextId })).rejects.toMatchObject({ code: 'not_found' });
});

/** Of the turns of a run that were recorded. */
const keysOf = async (host: DurableHost, runId: RunId) =>
  (await host.payloads(runId, 'cairn.model.returned')).map(({ turn }) => (turn as JsonObject).cacheKey);

test('a turn that a stop cut off is asked for again with the same words and the same key, whatever was said since', async () => {
  const workflows = family('shared:desk', 'shared:desk');
  const { host, said, shown, hung } = await opened({ workflows, hangs: (who, count) => who === 'bob' && count === 1 });
  const runId = await host.start('top', { inputs });
  await hung;
  await host.ran('aside', { contextId: await host.contextOf(runId) });
  await host.restart();
  await host.ended(runId);
  expect(shown('bob', 2)).toEqual([
    'user: Plan a trip.',
    task('ann', 'Begin.'),
    'user: host:ann: ann 1',
    'user: Go on.',
  ]);
  expect(said.bob[1]?.body).toEqual(said.bob[0]?.body);
  expect(await host.payloads(child(runId), 'cairn.model.requested')).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  expect(shown('ann', 2)).toContain('user: host:cid: cid 1');
  // Nobody stopped the twin, and nobody spoke aside.
  const twin = await opened({ workflows });
  const other = await twin.host.ran('top', { inputs });
  const [key] = await keysOf(twin.host, child(other));
  expect(await keysOf(host, child(runId))).toEqual([key]);
});

test('a supervisor that shares hears its workers say what they say, each time it decides', async () => {
  const office = defineWorkflow({
    id: 'office',
    version: '1',
    nodes: {
      boss: {
        type: 'core.orchestrator.supervisor',
        agent: 'host:ann',
        config: { agentSharing: 'shared', workers: [{ id: 'kid', description: 'Goes on.' }] },
        inputs: { message: fixed('Decide.') },
      },
      send: { type: 'core.dispatch' },
    },
    edges: [
      { from: 'boss', to: 'send' },
      { from: 'send', to: 'boss' },
    ],
  });
  const decisions = [{ kind: 'next-worker', nextWorkerIds: ['kid', 'kid'] }, { kind: 'terminate' }];
  const words = (who: Person, count: number) =>
    who === 'ann' ? JSON.stringify(decisions[count - 1]) : `${who} ${count}`;
  const { host, shown } = await opened({ workflows: [office, ...family('shared', 'shared')], words });
  const runId = await host.ran('office', { inputs });
  expect(await host.payloads(runId, 'run.failed')).toEqual([]);
  const asked = ['user: Plan a trip.', task('ann', 'Decide.')];
  const goOn = task('bob', 'Go on.');
  expect(shown('ann', 2)).toEqual([
    ...asked,
    `assistant: ${JSON.stringify(decisions[0])}`,
    goOn,
    'user: host:bob: bob 1',
    goOn,
    'user: host:bob: bob 2',
    'user: Decide.',
  ]);
  const ofAnn = `user: host:ann: ${JSON.stringify(decisions[0])}`;
  expect(shown('bob', 2)).toEqual([...asked, ofAnn, goOn, 'assistant: bob 1', 'user: Go on.']);
});

test('what does not fit the model is left off from the oldest, and what is left is in order', async () => {
  const long = (who: Person, count: number) => `${who} ${count} ${'x'.repeat(1_600)}`;
  const workflows = family('shared:desk', 'shared:desk');
  const { host, shown } = await opened({ workflows, words: long, contextTokens: 5_200 });
  const contextId = await host.contextOf(await host.ran('top', { inputs }));
  await host.ran('aside', { contextId });
  const heard = shown('cid') as readonly string[];
  expect(heard.join('\n')).not.toContain('ann 1');
  expect(heard.map((line) => line.slice(0, 21))).toEqual([
    'user: Task of host:bo',
    'user: host:bob: bob 1',
    'user: Task of host:an',
    'user: host:ann: ann 2',
    'user: Aside.',
  ]);
});
