import { expect, onTestFinished, test, vi } from 'vitest';
import { withOpenwop } from './with-openwop.ts';

const said: string[] = [];
const entered: string[] = [];
const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
  said.push(String(text));
  return true;
});
withOpenwop('a suite without its data', () => entered.push('without data'), null);
write.mockRestore();
withOpenwop(
  'a suite with its data',
  (data) => {
    entered.push('with data');
    test('gets the data', () => expect(data.fixtures.size).toBe(0));
  },
  { fixtures: new Map(), schemas: new Map() },
);

test('a suite whose data is absent says so, by name, and is not entered', () => {
  onTestFinished(() => void said.splice(0));
  expect(said).toEqual([expect.stringMatching(/^a suite without its data: left out: .*shared\/openwop\n$/)]);
  expect(entered).toEqual(['with data']);
});
