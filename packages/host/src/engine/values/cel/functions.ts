/** The functions of expressions by signature. A function that is not in one of these tables does not exist. */
import { byteFunctions } from './byte-functions.ts';
import type { Kind } from './cel-values.ts';
import { conversions } from './conversions.ts';
import type { Priced } from './priced.ts';
import { textFunctions } from './text-functions.ts';
import { timeFunctions } from './time-functions.ts';

export interface FunctionOverload extends Priced {
  /** The kinds of its arguments; the receiver of a method comes first. */
  readonly takes: readonly (Kind | 'dyn')[];
  readonly gives: Kind | 'dyn';
}

export const signatures = (): Readonly<Record<string, Priced>> => ({
  ...conversions,
  ...textFunctions,
  ...byteFunctions,
  ...timeFunctions(),
});

/** The overloads of a function with this many arguments, without the receiver; undefined if there is none. */
export function functionOverloads(
  name: string,
  isMethod: boolean,
  count: number,
): readonly FunctionOverload[] | undefined {
  overloads ??= build();
  return overloads.get(keyOf(name, isMethod, count));
}

/** Built on first use. */
let overloads: ReadonlyMap<string, readonly FunctionOverload[]> | undefined;

const keyOf = (name: string, isMethod: boolean, count: number): string => `${isMethod ? '.' : ''}${name}/${count}`;

function build(): ReadonlyMap<string, readonly FunctionOverload[]> {
  const all = new Map<string, FunctionOverload[]>();
  for (const [signature, { price, run }] of Object.entries(signatures())) {
    const [, receiver, name = '', list = '', gives = ''] = /^(?:(.+)\.)?(\w+)\((.*)\): (.+)$/.exec(signature) ?? [];
    const args = list === '' ? [] : list.split(', ').map(kindNamed);
    const key = keyOf(name, receiver !== undefined, args.length);
    const takes = receiver === undefined ? args : [kindNamed(receiver), ...args];
    all.set(key, [...(all.get(key) ?? []), { takes, gives: kindNamed(gives), price, run }]);
  }
  return all;
}

const longNames: Readonly<Record<string, Kind>> = {
  'google.protobuf.Timestamp': 'timestamp',
  'google.protobuf.Duration': 'duration',
  'list<string>': 'list',
};

const kindNamed = (name: string): Kind | 'dyn' => longNames[name] ?? (name as Kind | 'dyn');
