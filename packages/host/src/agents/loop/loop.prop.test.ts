import type { Json, JsonObject } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ScriptEvent } from '../../../test/kit/run-script.ts';
import { evolve } from '../../engine/core/evolve.ts';
import { newRunState } from '../../engine/core/new-run-state.ts';
import type { OpenCall } from '../../engine/core/state.ts';
import type { Turn } from '../models/turn.ts';
import { redecideRecord } from '../recorded/redecide-record.ts';
import { recordingOf } from '../recorded/script-recording.kit.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { AgentScript, type AgentScriptOptions, agentId, sha256, testLoopOptions, turnOf } from './agent-script.kit.ts';
import type { LoopOptions } from './loop-options.ts';

const MAX_TURNS = 8;
const MAX_TOOL_CALLS = 12;

/** Chance that depends on nothing but the seed and a name: the same call fares the same, whenever it is made. */
class Luck {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  below(limit: number, name: string): number {
    return Number.parseInt(sha256(`${this.#seed}:${name}`, 'hex').slice(0, 8), 16) % limit;
  }

  pick<Item>(items: readonly Item[], name: string): Item {
    return items[this.below(items.length, name)] as Item;
  }
}

const names = [
  'openwop_look',
  'openwop_web',
  'openwop_save',
  'openwop_gone',
  'openwop_secret',
  'openwop_decide',
  'openwop_handoff',
];

function input(luck: Luck, name: string, tool: string): Json {
  if (luck.below(6, `${name}/bad`) === 0)
    return luck.pick<Json>([null, [], 'x', { n: 'one' }, { agentId: 1 }], `${name}/how`);
  if (tool === 'openwop_decide') {
    return { decision: luck.below(3, `${name}/d`), confidence: luck.pick<Json>([0, 0.5, 0.9, 1, 7, 'x'], `${name}/c`) };
  }
  if (tool !== 'openwop_handoff') return { n: luck.below(5, `${name}/n`) };
  return { agentId: agentId(luck.pick(['first', 'second', 'nobody'], `${name}/to`)), message: 'You.' };
}

function turn(luck: Luck, callId: string): Turn {
  const count = luck.below(4, `${callId}/count`);
  const toolCalls = Array.from({ length: count }, (_, i) => {
    const at = `${callId}/${i}`;
    const name = luck.pick(names, `${at}/name`);
    const invalid = luck.below(9, `${at}/invalid`) === 0 ? { invalid: 'not JSON' } : {};
    return { id: luck.pick(['1', '2', '3', ''], `${at}/id`), name, input: input(luck, at, name), ...invalid };
  });
  const finish = luck.pick(
    ['stop', 'stop', 'stop', 'length', 'other', 'content_filter', 'error'] as const,
    `${callId}/finish`,
  );
  const reasoning = luck.pick(['', 'Hm.'], `${callId}/reasoning`);
  return turnOf({ text: luck.pick(['', 'Yes.', '{"n":1}'], `${callId}/text`), toolCalls, finish, reasoning });
}

function outcome(luck: Luck, callId: string, records: number): ToolOutcome {
  const at = `${callId}/${records}`;
  switch (luck.below(4, at)) {
    case 0:
      return { kind: 'failed', error: { code: 'tool_failed', message: 'No.', retryable: false } };
    case 1:
      if (records < 2)
        return { kind: 'suspended', ordinal: records, question: { kind: 'ask', name: `q${records}`, prompt: '?' } };
  }
  return { kind: 'result', value: luck.below(100, `${at}/value`) };
}

/** One call returns, or one question is answered, or time passes. False when nothing is left to happen. */
function step(run: AgentScript, luck: Luck, number: number): boolean {
  const calls = [...run.state.calls.values()].filter((call) => call.asked === undefined);
  if (calls.length > 0) {
    land(run, luck, luck.pick(calls, `step ${number}`));
    return true;
  }
  const [asked] = Object.values(run.state.view.interrupts);
  if (asked === undefined) return run.status === 'running' && run.passes(60_000).status !== undefined;
  const at = `answer ${asked.interruptId}`;
  if (asked.kind === 'clarification') run.answersTo(asked.interruptId, { answers: { answer: luck.below(9, at) } });
  else if (asked.kind === 'low-confidence') {
    run.answers(
      'a',
      luck.pick<Json>(
        [
          { action: 'approve' },
          { action: 'edit', decision: 9 },
          { action: 'reject' },
          { action: 'reject', final: true },
        ],
        at,
      ),
    );
  } else
    run.answersTo(
      asked.interruptId,
      luck.pick<Json>([{ action: 'retry' }, { action: 'use', result: 1 }, { action: 'fail' }], at),
    );
  return true;
}

function land(run: AgentScript, luck: Luck, { callId, step: performer }: OpenCall): void {
  if (performer === 'cairn.tool') {
    const { records } = run.inputOf(run.state.calls.get(callId) as OpenCall);
    run.lands(callId, { outcome: outcome(luck, callId, records.length) as JsonObject });
    return;
  }
  if (luck.below(5, `${callId}/fails ${run.failures}`) === 0)
    run.fails({ retryable: luck.below(8, `${callId}/passes`) > 0 });
  else run.says(turn(luck, callId));
}

function play(
  seed: number,
  crashes: (number: number) => boolean,
  allowlist: readonly string[],
  more: Pick<AgentScriptOptions, 'loopOptions' | 'configurable'> = {},
): AgentScript {
  const luck = new Luck(seed);
  const manifest = { toolAllowlist: [...allowlist, 'openwop:handoff', 'openwop:decide'] };
  const run = new AgentScript({
    agents: { first: { manifest }, second: { manifest } },
    config: { limits: { maxTurns: MAX_TURNS, maxToolCalls: MAX_TOOL_CALLS } },
    ...more,
  });
  for (let number = 0; run.status !== 'completed' && run.status !== 'failed'; number++) {
    if (number > 500) throw new Error(`seed ${seed} does not end`);
    if (crashes(number)) run.crashes();
    if (!step(run, luck, number)) throw new Error(`seed ${seed} hangs in ${run.status}`);
  }
  return run;
}

type Row = ScriptEvent;
const of = (rows: readonly Row[], ...types: readonly string[]) => rows.filter(({ type }) => types.includes(type));

function checkBrackets(rows: readonly Row[]): void {
  let open: string | null = null;
  for (const { type, payload } of rows) {
    if (type === 'agent.invocation.started') {
      expect(open).toBeNull();
      open = payload.invocationId as string;
    } else if (type === 'agent.invocation.completed') {
      expect(payload.invocationId).toBe(open);
      open = null;
    } else if (type.startsWith('agent.')) expect(open).not.toBeNull();
  }
  expect(open).toBeNull();
}

function checkCalls(rows: readonly Row[]): void {
  const called = of(rows, 'agent.toolCalled');
  const returned = of(rows, 'agent.toolReturned');
  expect(returned).toHaveLength(called.length);
  for (const { payload, seq } of called) {
    const ends = returned.filter((row) => row.payload.callId === payload.callId);
    expect(ends.map(({ cause }) => cause)).toEqual([seq]);
    const again = of(rows, 'cairn.step.requested').filter((row) => row.payload.callId === payload.callId);
    for (const row of again) expect(row.seq).toBeLessThan(ends[0]?.seq ?? 0);
  }
  for (const { payload, seq } of of(rows, 'cairn.model.returned')) {
    if (payload.turn === undefined) continue;
    const later = of(rows, 'cairn.model.requested').filter(
      (row) => row.payload.callId === payload.callId && row.seq > seq,
    );
    expect(later).toEqual([]);
  }
}

/** Wire 4.8 rule 9 for one invocation, as letters; tools come in several rounds, each behind its own reasoning, and a rejected decision is followed by more. */
const letters: Readonly<Record<string, string>> = {
  'agent.invocation.started': 'S',
  'agent.promptResolved': 'P',
  'agent.reasoned': 'r',
  'agent.toolCalled': 'c',
  'agent.toolReturned': 't',
  'agent.decided': 'D',
  'agent.handoff': 'H',
  'agent.invocation.completed': 'E',
};

function checkOrder(rows: readonly Row[]): void {
  const story = rows.map(({ type }) => letters[type] ?? '').join('');
  for (const invocation of story.split(/(?<=E)/)) expect(invocation).toMatch(/^SP[rct]*(D[rct]*)*(DH)?E$/);
}

const replayed = (run: AgentScript) => {
  const state = newRunState(run.state.runId);
  for (const event of JSON.parse(JSON.stringify(run.events)) as Row[]) evolve(state, run.workflow, event);
  return state;
};

const all = ['openwop:look', 'openwop:web', 'openwop:save', 'openwop:secret'];

test('whatever models and tools do, brackets close, calls pair, rows keep their order and budgets hold', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(6), (seed, often) => {
      const luck = new Luck(seed);
      const run = play(seed, (number) => luck.below(10, `crash ${number}`) < often, all);
      checkBrackets(run.events);
      checkCalls(run.events);
      checkOrder(run.events);
      const turns = new Set(run.all('cairn.model.requested').map(({ callId }) => callId)).size;
      expect(turns).toBeLessThanOrEqual(MAX_TURNS);
      expect(run.all('agent.toolCalled').length).toBeLessThanOrEqual(MAX_TOOL_CALLS);
      expect(replayed(run)).toEqual(run.state);
    }),
    { numRuns: 150 },
  );
});

/** What readers of a run see, without what a second attempt changes. */
const seen = (run: AgentScript) =>
  run.drafts
    .filter(({ audience }) => audience === 'client')
    .map(({ type, payload }): { readonly type: string; readonly payload: JsonObject } => ({ type, payload }))
    .map(({ type, payload: { attempt: _1, retries: _2, durationMs: _3, requestedAt: _4, ...payload } }) => ({
      type,
      payload,
    }));

test('a run that is taken over at any step shows the same as one that never was', () => {
  const reading = ['openwop:look', 'openwop:web', 'openwop:secret'];
  fc.assert(
    fc.property(fc.nat(), fc.nat(30), (seed, at) => {
      const whole = play(seed, () => false, reading);
      const taken = play(seed, (number) => number === at, reading);
      expect(seen(taken)).toEqual(seen(whole));
    }),
    { numRuns: 150 },
  );
});

/** A host with other settings than the usual ones. */
function hostOf(luck: Luck): Partial<LoopOptions> {
  const usual = testLoopOptions();
  const lines = luck.pick([['openwop:*'], ['*'], ['other:*', 'openwop:look'], []], 'policy');
  return {
    reasoningVerbosity: luck.pick(['summary', 'full', 'off'] as const, 'verbosity'),
    reasoningTokenLimit: luck.pick([0, 1, 512], 'tokens'),
    lowConfidence: luck.pick(['ask', 'suppress'] as const, 'confidence'),
    clarificationRounds: luck.pick([0, 1, 10], 'questions'),
    toolAccess: (run, allowlist) => ({
      ...usual.toolAccess(run, allowlist),
      policy: { name: luck.pick(['tools.allow', 'tools.tenants.t'], 'name'), lines },
      scopes: run.toolScopes ?? undefined,
    }),
  };
}

test('a run follows from its record alone, whatever the settings of its host were and whoever took it over', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(4), async (seed, often) => {
      const luck = new Luck(seed);
      const ceiling = luck.pick([undefined, ['openwop:*'], ['openwop:web'], []], 'ceiling');
      const run = play(
        seed,
        (number) => luck.below(10, `crash ${number}`) < often,
        luck.pick([all, ['*'], []], 'list'),
        {
          loopOptions: hostOf(luck),
          ...(ceiling === undefined ? {} : { configurable: { 'cairn.tools': ceiling } }),
        },
      );
      const verdict = await redecideRecord(recordingOf(run), { sha256 });
      expect(verdict).toEqual({ events: run.events.length, problem: null, divergence: null, leftAt: null });
    }),
    { numRuns: 150 },
  );
});
