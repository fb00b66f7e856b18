import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerCommand, questionLines } from './question.ts';
import { oneLine, safe, styleOf } from './style.ts';
import { cut, table, widthOf } from './table.ts';
import { ago, span } from './time.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_250, '1.2 s'],
  [59_999, '59.9 s'],
  [MINUTE, '1 min'],
  [3 * MINUTE + 4 * SECOND, '3 min 4 s'],
  [2 * HOUR + 5 * MINUTE, '2 h 5 min'],
  [4 * DAY + HOUR, '4 d 1 h'],
])('a span of %d ms is %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

test.each([
  [0, 'just now'],
  [-5_000, 'just now'],
  [12 * SECOND, '12 s ago'],
  [59 * MINUTE, '59 min ago'],
  [5 * HOUR, '5 h ago'],
  [30 * DAY, '30 d ago'],
  [31 * DAY, '2026-10-15'],
])('an instant %d ms back is %s', (passed, text) => {
  const now = Date.parse('2026-11-15T12:00:00Z');
  expect(ago(now - passed, now)).toBe(text);
});

test('columns line up by the cells they take, not by the characters they have', () => {
  const style = styleOf(false);
  const lines = table(
    [
      ['東京', 'a'],
      ['e\u0301', 'b'],
      ['🗻', 'c'],
    ],
    { style, columns: null },
  );
  expect(lines).toEqual(['東京  a', 'e\u0301     b', '🗻    c']);
});

test('a line is cut to the screen, whatever is in it, and its colours are closed', () => {
  const { red } = styleOf(true);
  expect(cut(red('abcdef'), 4)).toBe('\u001b[31mabc…\u001b[0m');
  expect(cut(red('abc'), 3)).toBe(red('abc'));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
      expect(widthOf(cut(safe(text), columns))).toBeLessThanOrEqual(columns);
    }),
  );
});

test('a table that wraps loses no text, and its header is cut', () => {
  const options = { header: ['WHAT', 'WHY'], style: styleOf(false), columns: 12, wraps: true };
  expect(table([['run', 'it divides by zero']], options)).toEqual(['WHAT  WHY', 'run   it', '  divides', '  by zero']);
  expect(table([['run', 'none']], { ...options, header: ['WHAT', 'A LONG WHY'] })[0]).toBe('WHAT  A LON…');
});

test('no text from outside can hold a control character once it is printed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
      expect(safe(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(oneLine(text)).not.toContain('\n');
    }),
  );
  expect(safe('Zürich\t€')).toBe('Zürich €');
  expect(safe('one\ntwo')).toBe('one\\ntwo');
});

test.each([
  [
    { kind: 'low-confidence', data: { agentId: 'a.b', decision: { queue: 'bug' }, observed: 0.5, threshold: 0.75 } },
    [
      '? n is unsure of its decision (approve, edit, reject)',
      '    {"queue":"bug"}',
      '    a.b  confidence 0.5, below the threshold of 0.75',
    ],
    'cairn answer run_a approve',
  ],
  [
    {
      kind: 'custom',
      data: {
        customKind: 'cairn.step.interrupted',
        payload: { tool: 'acme.shop:refund', inputs: { order: 4711, euros: 180 }, callId: 'n#0' },
      },
    },
    [
      '? n Was acme.shop:refund(order=4711, euros=180) carried out? retry / use / fail',
      '    The host stopped before it recorded a result, so it does not know.',
      '    retry  it was not: do it now',
      '    use    it was: enter its result',
      '    fail   give it up',
    ],
    'cairn answer run_a retry',
  ],
  [
    {
      kind: 'approval',
      data: {
        title: 'Refund?',
        description: 'Over the limit.\nPlease check.',
        artifactData: { order: 4711, note: 'late\nand broken', items: [1, 2] },
      },
      assignees: ['ada', 'bob'],
      quorum: { required: 2, approvals: 1, rejections: 0, votes: [{ principal: 'bob', action: 'accept' }] },
      refusal: { code: 'forbidden', message: 'eve is not among the approvers of node n.' },
    },
    [
      '? n asks for approval: Refund? (accept, reject)',
      '    Over the limit.',
      '    Please check.',
      '    order  4711',
      '    note  late',
      '      and broken',
      '    items  [1,2]',
      '    votes  1 of 2 approved: bob accept',
      '    may vote  ada, bob',
      '    you cannot answer: eve is not among the approvers of node n.',
    ],
    'cairn answer run_a accept',
  ],
  [
    { kind: 'custom', data: { customKind: 'another' } },
    ['? n waits for an answer of kind custom: {"customKind":"another"}'],
    'cairn answer run_a --value JSON',
  ],
  [
    {
      kind: 'clarification',
      data: {
        questions: [
          { id: 'a', question: 'Size?', schema: { type: 'object', properties: { size: { type: 'string' } } } },
          { id: 'b', question: 'Where?', schema: { type: 'object' } },
        ],
      },
    },
    ['? n asks:', '    a  Size?', '    b  Where?  ({"type":"object"})'],
    'cairn answer run_a a=ANSWER b=JSON',
  ],
])('a question of %j is told with the words that answer it', (asked, lines, command) => {
  const question = { interruptId: 'i', nodeId: 'n', ...asked };
  expect(questionLines(question, styleOf(false))).toEqual(lines);
  expect(answerCommand(styleOf(false), 'run_a', question)).toBe(command);
});
