import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/kit/virtual-clock.ts';
import { type ModelChoices, ModelRegistry, type Provider } from './model-registry.ts';
import type { ModelSelection } from './turn.ts';

const provider = (name: string, ...listed: readonly string[]): [string, Provider] => [
  name,
  {
    name,
    listed,
    model: (model) => ({
      provider: name,
      model,
      capabilities: new Set(),
      contextTokens: null,
      prices: model === 'priced' ? { input: 1, output: 1 } : null,
      isScripted: false,
      stream: () => {
        throw new Error('not here');
      },
    }),
  },
];

const rehearsal = { turns: [[{ say: 'hi' }]] };

function chosen(selection: Partial<ModelSelection>, choices: Partial<ModelChoices> = {}, script?: object): string {
  const registry = new ModelRegistry(
    {
      providers: new Map([provider('one', 'small', 'priced'), provider('two', 'big')]),
      classes: { chat: 'one/small' },
      default: 'two/big',
      ...choices,
    },
    new VirtualClock(),
  );
  const { provider: name, model } = registry.choose({
    selection: { modelClass: 'chat', ...selection },
    ...(script === undefined ? {} : { rehearsal: script as typeof rehearsal }),
  });
  return `${name}/${model}`;
}

test.each<[Partial<ModelSelection>, string]>([
  [{}, 'one/small'],
  [{ modelClass: 'code' }, 'two/big'],
  [{ provider: 'two', model: 'huge' }, 'two/huge'],
  [{ provider: 'two', model: 'two/huge' }, 'two/huge'],
  [{ provider: 'one' }, 'one/small'],
  [{ provider: 'two' }, 'two/big'],
  [{ model: 'two/org/huge' }, 'two/org/huge'],
  [{ model: 'big' }, 'two/big'],
  [{ model: 'priced' }, 'one/priced'],
])('%j comes to %s', (selection, expected) => {
  expect(chosen(selection)).toBe(expected);
});

test('a rehearsal is played when nothing is configured, or when it is asked for', () => {
  const nothing = { providers: new Map(), classes: {}, default: undefined };
  expect(chosen({}, nothing, rehearsal)).toBe('scripted/scripted');
  expect(chosen({}, {}, rehearsal)).toBe('one/small');
  expect(chosen({ provider: 'scripted' }, {}, rehearsal)).toBe('scripted/scripted');
  expect(chosen({ model: 'scripted' }, {}, rehearsal)).toBe('scripted/scripted');
  expect(chosen({}, { classes: { chat: 'scripted/scripted' } }, rehearsal)).toBe('scripted/scripted');
});

test.each<[Partial<ModelSelection>, Partial<ModelChoices>, string]>([
  [{}, { classes: {}, default: undefined }, 'No model is configured for the class chat'],
  [{ provider: 'three', model: 'x' }, {}, 'There is no provider "three"'],
  [{ provider: 'three' }, {}, 'asked for without a model'],
  [{ model: 'unknown' }, {}, 'The model "unknown" was asked for, and which provider serves it'],
  [{ provider: 'scripted' }, {}, 'the agent has no rehearsal'],
])('%j of %j is refused with what is missing', (selection, choices, expected) => {
  expect(() => chosen(selection, choices)).toThrow(expected);
  expect(() => chosen(selection, choices)).toThrow(expect.objectContaining({ code: 'model_not_configured' }));
});

test('says whether what a model uses has a price', () => {
  const registry = new ModelRegistry(
    { providers: new Map([provider('one', 'priced')]), classes: {} },
    new VirtualClock(),
  );
  expect(registry.choose({ selection: { modelClass: 'chat', model: 'priced' } }).isPriced).toBe(true);
  expect(registry.choose({ selection: { modelClass: 'chat', model: 'other' } }).isPriced).toBe(false);
  expect(registry.choose({ selection: { modelClass: 'chat' }, mock: { id: 'stream-text' } })).toEqual({
    provider: 'mock',
    model: 'mock-stream-text-v1',
    isPriced: true,
  });
});
