import { expect, test } from 'vitest';
import { readScript } from './script.ts';

const problems = (value: unknown): readonly string[] => {
  const read = readScript(value);
  return 'problems' in read ? read.problems : [];
};

test('reads every kind of action', () => {
  const actions = [
    { think: 'hm' },
    { say: ['a', 'b'] },
    { answer: { ok: true } },
    { call: { tool: 'openwop:time' } },
    { handoff: { to: 'local.a.b', message: 'go on', reason: 'done here' } },
    { decide: { decision: 'refund', confidence: 0.4 } },
    { ask: 'Which one?' },
    { fail: { class: 'rate_limited', attempts: 2 } },
    { delay: 10 },
    { stream: { deltas: 5 } },
    { usage: { inputTokens: 1, outputTokens: 2 } },
    { finish: 'length' },
  ];
  expect(problems({ turns: [actions] })).toEqual([]);
});

test.each([
  [null, 'the script'],
  [{}, 'turns'],
  [{ turns: [] }, 'turns'],
  [{ turns: [[{ sing: 'la' }]] }, 'turns[0][0]'],
  [{ turns: [[{}]] }, 'turns[0][0] must be exactly one of think, say'],
  [{ turns: [[{ say: 'a', think: 'b' }]] }, 'it is think and say'],
  [{ turns: [[{ say: 'a' }, { delay: -1 }]] }, 'turns[0][1].delay'],
  [{ turns: [[{ call: { input: {} } }]] }, 'turns[0][0].call.tool'],
  [{ turns: [[{ say: 4 }]] }, 'turns[0][0].say must be a text, or a list of texts'],
  [{ turns: [[{ fail: { class: 'bad luck' } }]] }, 'turns[0][0].fail.class'],
  [{ turns: [[{ stream: { deltas: 2_000_000 } }]] }, 'turns[0][0].stream.deltas'],
  [{ turns: [[{ say: 'about {{topic}}' }]] }, 'turns[0][0].say uses {{topic}}: only input, task and last'],
  [
    { turns: [[{ call: { tool: 'x', input: { q: ['{{env.KEY}}'] } } }]] },
    'turns[0][0].call.input.q[0] uses {{env.KEY}}',
  ],
])('%j is refused with its place', (value, expected) => {
  expect(problems(value).join('\n')).toContain(expected);
});
