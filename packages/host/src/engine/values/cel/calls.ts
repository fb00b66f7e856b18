/** Compiles the call of a function or a method. Its price is charged before it runs. */
import { type CostBudget, CostExceeded, spend } from '../cost-budget.ts';
import { firstLineOf } from '../error-text.ts';
import { compilePattern, type Pattern } from '../patterns.ts';
import { Failure, kindOf } from './cel-values.ts';
import type { Part } from './evaluation.ts';
import { type FunctionOverload, functionOverloads } from './functions.ts';
import { prices } from './prices.ts';

/** Throws an Error if there is no such function, or none for these kinds. */
export function callOf(name: string, receiver: Part | null, args: readonly Part[]): Part {
  const given = receiver === null ? args : [receiver, ...args];
  if (receiver !== null && name === 'matches' && args.length === 1) return matches(given);
  const overloads = functionOverloads(name, receiver !== null, args.length);
  const kinds = given.map(({ kind }) => kind);
  // Nothing is known of a method without the kind of its receiver.
  const isOpen = receiver?.kind === 'dyn';
  const fitting = overloads?.filter((overload) => isOpen || fits(overload, kinds)) ?? [];
  const [first] = fitting;
  if (first === undefined) throw new Error(`no such overload: ${name}(${kinds.join(', ')})`);
  const [a = nothing, b = nothing, c = nothing] = given.map(({ step }) => step);
  return {
    kind: fitting.every(({ gives }) => gives === first.gives) ? first.gives : 'dyn',
    step(frame) {
      spend(frame.budget, prices.step + prices.object);
      const x = a(frame);
      const y = b(frame);
      const z = c(frame);
      const overload = chosen(fitting, x, y, z);
      if (overload === undefined) throw new Failure(`no such overload: ${name}(${kindsOf(given.length, x, y, z)})`);
      spend(frame.budget, overload.price(x, y, z));
      return overload.run(x, y, z);
    },
  };
}

const nothing = (): undefined => undefined;

const fits = ({ takes }: FunctionOverload, kinds: readonly Part['kind'][]): boolean =>
  kinds.every((kind, i) => kind === 'dyn' || takes[i] === 'dyn' || takes[i] === kind);

function chosen(overloads: readonly FunctionOverload[], x: unknown, y: unknown, z: unknown) {
  for (const overload of overloads) {
    const [first, second, third] = overload.takes;
    if (accepts(first, x) && accepts(second, y) && accepts(third, z)) return overload;
  }
  return undefined;
}

const accepts = (kind: Part['kind'] | undefined, value: unknown): boolean =>
  kind === undefined || kind === 'dyn' || kind === kindOf(value);

const kindsOf = (count: number, ...values: readonly unknown[]): string => values.slice(0, count).map(kindOf).join(', ');

/** `text.matches(pattern)`. Compiles the pattern at its first use and whenever it differs from the last one. */
function matches([text, source]: readonly Part[]): Part {
  if (text === undefined || source === undefined) throw new Error('matches() needs a text and a pattern');
  if (text.kind !== 'dyn' && [text, source].some(({ kind }) => kind !== 'dyn' && kind !== 'string')) {
    throw new Error(`no such overload: matches(${text.kind}, ${source.kind})`);
  }
  let pattern: Pattern | undefined;
  return {
    kind: 'bool',
    step(frame) {
      spend(frame.budget, prices.step + prices.object);
      const subject = text.step(frame);
      const wanted = source.step(frame);
      if (typeof subject !== 'string' || typeof wanted !== 'string') {
        throw new Failure(`no such overload: matches(${kindsOf(2, subject, wanted)})`);
      }
      spend(frame.budget, wanted.length * prices.copiedCharacter);
      if (pattern?.source !== wanted) pattern = compiled(wanted, frame.budget);
      return pattern.test(subject, frame.budget);
    },
  };
}

function compiled(source: string, budget: CostBudget): Pattern {
  try {
    return compilePattern(source, '', budget);
  } catch (error) {
    if (error instanceof CostExceeded) throw error;
    spend(budget, prices.badPattern);
    throw new Failure(firstLineOf(error));
  }
}
