import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Fact } from '../core/facts.ts';
import type { CrashRecord } from '../ports.ts';
import { DecisionMark } from './decision-mark.ts';

const run = 'run_a' as RunId;

function marked(subjects: readonly (string | undefined)[]): readonly string[] {
  let causes: readonly string[] = [];
  const record: CrashRecord = {
    deaths: () => [],
    deciding: (_, given) => {
      causes = given;
    },
    composed: () => {},
    decided: () => {},
    forget: () => {},
  };
  const facts = subjects.map((subject): Fact => {
    return { propose: () => [], recorded: () => {}, refused: () => {}, internal: true, subject };
  });
  new DecisionMark(run, record).begin(facts);
  return causes;
}

test('a decision about many pieces of one model turn has one cause', () => {
  expect(marked(['turn#0', 'turn#0', 'turn#0'])).toEqual(['turn#0']);
});

test('repeated subjects take no room of others, and at most four are named', () => {
  expect(marked(['a', 'a', 'a', 'a', 'a', 'b', 'c', 'd', 'e'])).toEqual(['a', 'b', 'c', 'd']);
});

test('a fact without a subject is a command, and no fact at all is what follows from the log', () => {
  expect(marked([undefined, 'a'])).toEqual(['command', 'a']);
  expect(marked([])).toEqual(['']);
});
