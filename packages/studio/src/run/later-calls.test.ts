import { expect, test } from 'vitest';
import { FoldHistory } from '../folds/fold-history.ts';
import { recordedRows } from '../folds/recorded-rows.kit.ts';
import { forkOf } from './fork-request.ts';
import { laterCalls } from './later-calls.ts';
import { parseRunSearch } from './run-search.ts';

const history = new FoldHistory();
for (const row of recordedRows('agent-with-tools')) history.take(row);

test('the calls after the cut are listed once each, with their number', () => {
  expect(laterCalls(history, 0)).toEqual([
    { calls: 'model:scripted', count: 2 },
    { calls: 'tool:acme.dice:roll', count: 3 },
  ]);
  expect(laterCalls(history, 24)).toEqual([
    { calls: 'tool:acme.dice:roll', count: 1 },
    { calls: 'model:scripted', count: 1 },
  ]);
});

const formOf = (fields: Readonly<Record<string, string>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
};

test('a fork names the rule of each call and only the inputs that changed', () => {
  const facts = { fromSeq: 5, calls: ['model:scripted', 'tool:t'], inputs: { topic: 'bridges', pages: 2 } };
  const form = formOf({ 'rule-0': 'live', 'rule-1': 'ask', inputs: '{"topic":"boats","pages":2}' });
  expect(forkOf(form, facts)).toEqual({
    mode: 'branch',
    fromSeq: 5,
    cairn: {
      rules: [
        { calls: 'model:scripted', use: 'live' },
        { calls: 'tool:t', use: 'ask' },
      ],
      overlay: { inputs: { topic: 'boats' } },
    },
  });
});

test('a fork without calls and changes is a plain branch', () => {
  expect(forkOf(formOf({ inputs: '{}' }), { fromSeq: 0, calls: [], inputs: {} })).toEqual({
    mode: 'branch',
    fromSeq: 0,
  });
});

test.for(['{', '[]', '"text"', 'null'])('the inputs %s are refused with a reason', (inputs) => {
  expect(() => forkOf(formOf({ inputs }), { fromSeq: 0, calls: [], inputs: {} })).toThrow(/inputs/i);
});

test('the address of a run keeps what it can read', () => {
  expect(parseRunSearch({ tab: 'log', event: '12', at: 3 })).toEqual({ tab: 'log', event: 12, at: 3 });
  expect(parseRunSearch({ tab: 'secrets', event: '-1', at: 'x', other: 1 })).toEqual({});
});
