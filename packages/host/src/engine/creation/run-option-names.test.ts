import { expect, test } from 'vitest';
import { workflowOf } from '../../../test/kit/run-script.ts';
import { unknownOptions } from './run-option-names.ts';

const known = ['recursionLimit', 'ai.credentialRef'];
const plain = workflowOf({ a: 'core.noop' });

test.each([
  [{ recursionLimit: 1, 'ai.credentialRef': 'x' }, []],
  [{ recursionLimits: 1 }, ['configurable has no option "recursionLimits"; did you mean recursionLimit?']],
  [{ 'ai.credentialReff': 'x' }, ['configurable has no option "ai.credentialReff"; did you mean ai.credentialRef?']],
  [{ zebra: 1 }, ['configurable has no option "zebra"']],
])('of %j the unknown options are refused with the nearest name', (configurable, problems) => {
  expect(unknownOptions(plain, configurable, known)).toEqual(problems);
});

test.each([
  [{ properties: { mood: {} } }, []],
  [{ additionalProperties: true }, []],
  [{ additionalProperties: { type: 'string' } }, []],
  [{ patternProperties: { '^m': {} } }, []],
  [{ required: ['mood'] }, ['configurable has no option "mood"']],
])('a workflow declares options of its own: %j', (configurableSchema, problems) => {
  expect(unknownOptions({ ...plain, configurableSchema }, { mood: 'good' }, known)).toEqual(problems);
});

test('where the host declares nothing, every option passes', () => {
  expect(unknownOptions(plain, { zebra: 1 }, undefined)).toEqual([]);
});

test('a crowd of unknown options is counted, not listed', () => {
  const crowd = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`option${i}`, 1]));
  const problems = unknownOptions(plain, crowd, known);
  expect(problems).toHaveLength(21);
  expect(problems.at(-1)).toBe('configurable has 9980 more unknown options');
});
