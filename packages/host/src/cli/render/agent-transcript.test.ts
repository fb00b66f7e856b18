import type { Json, JsonObject, RunEventDoc } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentTranscript, type TranscriptOutput } from './agent-transcript.ts';
import { usageText } from './agent-usage.ts';
import { styleOf } from './style.ts';
import { widthOf } from './table.ts';

const PLANNER = 'community.acme.crew.planner';
const WRITER = 'community.acme.crew.writer';

/** A screen that keeps what it was sent, in the order in which it was sent. */
function screen(
  columns: number | null = null,
  isColoured = false,
): TranscriptOutput & { readonly shown: () => string } {
  let shown = '';
  return {
    style: styleOf(isColoured),
    columns,
    line: (text) => {
      shown += `${text}\n`;
    },
    part: (text) => {
      shown += text;
    },
    shown: () => shown,
  };
}

let sequence = 0;
const event = (type: string, payload: { readonly [name: string]: Json }, nodeId = 'n'): RunEventDoc => ({
  eventId: `e${++sequence}`,
  runId: 'run_a',
  type,
  nodeId,
  payload,
  timestamp: '2026-01-01T00:00:00.000Z',
  sequence,
});

const began = (agentId: string, nodeId?: string) =>
  event('agent.invocation.started', { invocationId: 'i', agentId, source: 'workflow-node' }, nodeId);
const text = (chunk: string, nodeId?: string, isLast = false) =>
  event('output.chunk', { runId: 'run_a', nodeId: nodeId ?? 'n', chunk, isLast, channel: 'c' }, nodeId);
const thought = (delta: string, nodeId?: string) =>
  event('agent.reasoning.delta', { agentId: PLANNER, delta, sequence: 0 }, nodeId);

function told(events: readonly RunEventDoc[], columns: number | null = null, isColoured = false): string {
  const output = screen(columns, isColoured);
  const transcript = new AgentTranscript(output);
  for (const one of events) transcript.add(one);
  transcript.flush();
  return output.shown();
}

test('a turn is told in the order in which it happened: who, thoughts, text, tools, the decision', () => {
  const call = { agentId: PLANNER, callId: 't1', toolName: 'fs_write', toolId: 'openwop:fs.write' };
  const lines = told([
    event('node.started', { nodeId: 'n', typeId: 'cairn.agent', agent: { agentId: PLANNER, name: 'Planner' } }),
    began(PLANNER),
    event('agent.promptResolved', { nodeId: 'n', kind: 'system', chain: [], resolved: null }),
    thought('What is '),
    thought('asked?'),
    text('Three '),
    text('questions.\nFirst: why?'),
    event('agent.reasoned', { agentId: PLANNER, reasoning: 'What is asked?' }),
    text('', 'n', true),
    event('provider.usage', { provider: 'p', model: 'm', inputTokens: 1_200, outputTokens: 30 }),
    event('agent.toolCalled', { ...call, arguments: { path: 'notes.md', content: 'one two\nthree' } }),
    event('agent.toolReturned', { ...call, status: 'ok', durationMs: 12, result: { bytes: 13 } }),
    event('agent.decided', { agentId: PLANNER, decision: { go: true }, confidence: 0.55 }),
  ]);
  expect(lines).toBe(
    [
      '  ● Planner  n',
      '    ┊ What is asked?',
      '    Three questions.',
      '    First: why?',
      '    → openwop:fs.write  path=notes.md  content="one two\\nthree"',
      '    ← openwop:fs.write  12 ms  {"bytes":13}',
      '    ◆ decides {"go":true}  confidence 0.55',
      '',
    ].join('\n'),
  );
});

test('thoughts that were not streamed are told when they are closed, those that were are not told twice', () => {
  const closing = event('agent.reasoned', { agentId: PLANNER, reasoning: 'Hm.' });
  expect(told([closing])).toBe('    ┊ Hm.\n');
  expect(told([thought('Hm.'), closing])).toBe('    ┊ Hm.\n');
  expect(told([thought('Hm.'), closing, closing])).toBe('    ┊ Hm.\n    ┊ Hm.\n');
});

test.each([[''], ['It is clear.']])(
  'the last piece of a text goes on where the text is, also after reasons %j are closed',
  (reasoning) => {
    const reasons = reasoning === '' ? [] : [thought(reasoning)];
    const reasoned = event('agent.reasoned', { agentId: PLANNER, reasoning, verbosity: 'summary' });
    const lines = told([began(PLANNER), ...reasons, text('the support des'), reasoned, text('k', undefined, true)]);
    expect(lines).toContain('the support desk\n');
  },
);

test('an answer is not told again as the decision it is, unless a confidence comes with it', () => {
  const decided = event('agent.decided', { agentId: PLANNER, decision: 'Yes.' });
  expect(told([text('Yes.'), text('', 'n', true), decided])).toBe('    Yes.\n');
  expect(told([decided])).toBe('    ◆ decides Yes.\n');
});

test('a handoff names whom it goes to by the persona that its reference has, or else by the id', () => {
  const to = { agentId: WRITER, name: 'The Writer' };
  const handoff = { fromAgentId: PLANNER, toAgentId: WRITER, reason: 'planned' };
  expect(told([event('agent.handoff', handoff)])).toBe('    ⇢ hands over to writer: planned\n');
  expect(told([event('agent.handoff', { ...handoff, to }), began(WRITER)])).toBe(
    '    ⇢ hands over to The Writer: planned\n  ● The Writer  n\n',
  );
});

test.each([
  ['forbidden', { code: 'forbidden', message: 'not in the list' }, '✗ a:b  forbidden: not in the list'],
  ['error', { code: 'tool_timeout', message: 'too slow' }, '✗ a:b  tool_timeout: too slow'],
])('a call that ended as %s says why', (status, error, line) => {
  const payload = { agentId: PLANNER, toolName: 'a:b', callId: 't', status, error };
  expect(told([event('agent.toolReturned', payload)])).toBe(`    ${line}\n`);
});

test('what fails on the way is told: a model, an answer that was cut off, a budget, a refusal', () => {
  expect(
    told([
      event('cairn.model.returned', { error: { code: 'rate_limited', message: 'slow down' } }),
      event('cairn.error', { code: 'rate_limited', message: 'slow down', scope: 'llm', retryAfterMs: 1_500 }),
      text('half an ans'),
      event('cairn.model.abandoned', {}),
      event('cap.breached', { kind: 'budget-tokens', limit: 10, observed: 12 }),
      event('agent.invocation.completed', { invocationId: 'i', agentId: PLANNER, outcome: 'refused' }),
    ]),
  ).toBe(
    [
      '    ! the model failed: rate_limited: slow down  retry in 2 s',
      '    half an ans',
      '    ↻ the answer was cut off; retrying the model',
      '    ! budget-tokens: 12 (limit 10)',
      '    ✗ planner refuses',
      '',
    ].join('\n'),
  );
});

test('texts of two nodes that stream side by side are told one after the other', () => {
  const output = screen();
  const transcript = new AgentTranscript(output);
  const take = (...events: readonly RunEventDoc[]) => events.map((one) => transcript.add(one));
  take(began(PLANNER, 'a'), began(WRITER, 'b'), text('one ', 'a'), text('uno ', 'b'), text('two', 'a'));
  transcript.addLine('b', '  b goes on');
  take(text('dos', 'b'));
  expect(output.shown()).toBe('  ● planner  a\n  ● writer  b\n');
  take(text('', 'a', true));
  expect(output.shown()).toBe('  ● planner  a\n  ● writer  b\n    one two\n    uno\n  b goes on\n');
  transcript.flush();
  expect(output.shown()).toBe('  ● planner  a\n  ● writer  b\n    one two\n    uno\n  b goes on\n    dos\n');
});

test('an event that is none of an agent is left to others', () => {
  const transcript = new AgentTranscript(screen());
  expect(transcript.add(event('node.completed', { nodeId: 'n' }))).toBe(false);
  expect(transcript.add(event('constructor', {}))).toBe(false);
  expect(transcript.add(began(PLANNER))).toBe(true);
});

test('on a screen words are shown as soon as they are whole, and never taken back', () => {
  const output = screen(30);
  const transcript = new AgentTranscript(output);
  const steps = ['Tid', 'al pow', 'er', ' comes from the moon and ', 'the sun'].map((chunk) => {
    transcript.add(text(chunk));
    return output.shown();
  });
  expect(steps).toEqual([
    '',
    '    Tidal',
    '    Tidal',
    '    Tidal power comes from\n    the moon and',
    '    Tidal power comes from\n    the moon and the',
  ]);
  transcript.flush();
  expect(output.shown()).toBe('    Tidal power comes from\n    the moon and the sun\n');
});

test('however text is cut into pieces, the screen ends up the same, within its width, with every word', () => {
  const words = fc.array(fc.constantFrom('a', 'tide', '東京', 'renewable', '\n', '\n\n', '  ', 'x'.repeat(45), '🗻'), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(
      words,
      fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
      fc.integer({ min: 24, max: 60 }),
      (list, cuts, columns) => {
        const whole = list.join(' ');
        const characters = [...whole];
        const pieces: RunEventDoc[] = [];
        while (characters.length > 0) pieces.push(text(characters.splice(0, cuts.next().value ?? 1).join('')));
        const shown = told(pieces, columns);
        expect(shown).toBe(told([text(whole)], columns));
        for (const line of shown.split('\n')) expect(widthOf(line)).toBeLessThan(columns);
        expect(shown.replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''));
      },
    ),
  );
});

test('nothing that a model, a tool or an agent says can steer the terminal', () => {
  const steers = '\u001b[2J\r\u009b31m\u202eforged';
  const payload = { agentId: steers, toolName: steers, callId: 't', arguments: { [steers]: steers }, result: steers };
  const events = [
    began(steers, steers),
    thought(steers),
    text(steers),
    event('agent.toolCalled', payload),
    event('agent.toolReturned', payload),
    event('agent.toolReturned', { ...payload, error: { code: steers, message: steers } }),
    event('agent.handoff', { fromAgentId: steers, toAgentId: steers, reason: steers }),
    event('agent.decided', { agentId: steers, decision: steers, confidence: 0.1 }),
    event('cairn.tool.progress', { progress: 0.5, message: steers }),
    event('cap.breached', { kind: steers, limit: steers, observed: steers }),
  ];
  for (const columns of [null, 40]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
    expect(told(events, columns)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
});

test('progress of a call has no share where nobody knows how much is done', () => {
  const progress = (payload: JsonObject) => told([event('cairn.tool.progress', payload)], null);
  expect(progress({ progress: 0.5, message: 'Half.' })).toContain('50 % Half.');
  expect(progress({ progress: 0, message: 'Reading.', indeterminate: true })).toMatch(/… Reading\.\s*$/);
  expect(progress({ progress: 0, indeterminate: true })).toBe('');
});

/** Any JSON value. */
const json: fc.Arbitrary<Json> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

test('payloads of other shapes than ours are told as well as they can be, and nothing throws', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('agent.toolCalled', 'agent.toolReturned', 'agent.decided', 'output.chunk', 'agent.reasoned'),
      fc.dictionary(
        fc.constantFrom('agentId', 'toolId', 'arguments', 'error', 'result', 'chunk', 'decision', 'confidence'),
        json,
      ),
      (type, payload) => {
        told([event(type, payload)], 40);
        told([{ ...event(type, {}), payload: null }]);
      },
    ),
  );
});

test('usage adds up over the turns; money is told only where it is known', () => {
  const transcript = new AgentTranscript(screen());
  expect(usageText(transcript.usage)).toBe('');
  const usage = { provider: 'p', model: 'm', inputTokens: 1_000, outputTokens: 1 };
  transcript.add(event('provider.usage', usage));
  expect(usageText(transcript.usage)).toBe('1 turn, 0 tool calls, 1,000 tokens in, 1 out');
  transcript.add(event('provider.usage', { ...usage, costEstimateUsd: 0.0021 }));
  transcript.add(event('agent.toolCalled', { agentId: PLANNER, toolName: 't', callId: 'c' }));
  expect(usageText(transcript.usage)).toBe('2 turns, 1 tool call, 2,000 tokens in, 2 out, $0.0021');
});
