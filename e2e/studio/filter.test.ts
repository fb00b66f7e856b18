import { expect, test } from 'vitest';
import { parseRunsQuery } from '../../packages/host/src/cli/runs-query.ts';
import {
  commandOf,
  filterOf,
  parseSearch,
  parseWords,
  type RunSearch,
  wordsOf,
} from '../../packages/studio/src/runs/filter.ts';

const searches: readonly RunSearch[] = [
  {},
  { status: 'failed' },
  { workflow: 'hello', tag: 'nightly' },
  { parent: 'any' },
  { parent: 'none' },
  { parent: 'run_7' },
  { status: 'waiting-approval', workflow: 'a.b:c', tag: 'x:y' },
];

test.each(searches)('the command line takes the words of %j, and means the same', (search) => {
  expect(parseRunsQuery(wordsOf(search))).toEqual(filterOf(search));
  expect(parseWords(wordsOf(search).join('  '))).toEqual({ search });
  expect(parseSearch({ ...search })).toEqual(search);
});

test.each(['failed', 'status:', 'status:broken', 'tag:a tag:b', 'colour:red', ':x', 'parent:', 'parent:any tag:a'])(
  '%j is refused as the command line refuses it',
  (typed) => {
    expect(parseWords(typed)).toHaveProperty('problem');
    expect(() => parseRunsQuery(typed.split(' '))).toThrow();
  },
);

test('an address that means nothing filters nothing, and a number in it is a text', () => {
  expect(parseSearch({ status: 'broken', workflow: '', tag: 7, more: true })).toEqual({ tag: '7' });
});

test('the command to copy survives a shell', () => {
  expect(commandOf({ workflow: 'hello', tag: "it's $HOME" })).toBe(
    `npx cairn runs workflow:hello 'tag:it'\\''s $HOME'`,
  );
});
