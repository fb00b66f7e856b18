/**
 * Compiles the syntax tree of an expression to steps that charge for their work. The library only parses: its own
 * evaluation is not bounded, and keeps every shape of value it has seen.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { spend } from '../cost-budget.ts';
import { callOf } from './calls.ts';
import { Failure, fieldName, int, isList, isMap, type Kind, kindOf, TypeValue, uint } from './cel-values.ts';
import { attempt, bool, type Part, type Step } from './evaluation.ts';
import { has, macro, macros } from './macros.ts';
import { binary, hasField } from './operators.ts';
import { prices } from './prices.ts';

const MAX_DEPTH = 32;

/** Throws an Error that explains the problem. */
export const compileCel = (ast: ASTNode): Part => part(ast, [], 0);

/** `locals` are the variables of the macros around the node. */
function part(node: ASTNode, locals: readonly string[], depth: number): Part {
  if (depth > MAX_DEPTH) throw new RangeError(`the expression is nested deeper than ${MAX_DEPTH} levels`);
  const compile = (child: ASTNode) => part(child, locals, depth + 1);
  switch (node.op) {
    case 'value':
      return constant(node.args);
    case 'id':
      return variable(node.args, locals);
    case '.':
      return field(compile(node.args[0]), node.args[1]);
    case '[]':
      return index(compile(node.args[0]), compile(node.args[1]));
    case '!_':
      return not(compile(node.args));
    case '-_':
      return negative(compile(node.args));
    case 'list':
      return listOf(node.args.map(compile));
    case 'map':
      return mapOf(node.args.map(([key, value]) => [compile(key), compile(value)]));
    case '?:':
      return choice(compile(node.args[0]), compile(node.args[1]), compile(node.args[2]));
    case '&&':
    case '||':
      return logical(node.op, compile(node.args[0]), compile(node.args[1]));
    case 'call': {
      const [name, args] = node.args;
      return name === 'has' ? hasOf(args, compile) : callOf(name, null, args.map(compile));
    }
    case 'rcall': {
      const [name, receiver, args] = node.args;
      return macros.has(`${name}/${args.length}`)
        ? iteration(node.args, locals, depth)
        : callOf(name, compile(receiver), args.map(compile));
    }
    case '.?':
    case '[?]':
      throw new Error('optional access is not supported');
    default:
      return binary(node.op, compile(node.args[0]), compile(node.args[1]));
  }
}

/** A literal. It costs nothing: what reads it does. */
function constant(value: unknown): Part {
  const literal = typeof value === 'bigint' ? int(value) : isUnsigned(value) ? uint(value.value) : value;
  return { kind: kindOf(literal), step: () => literal };
}

/** The parser has its own class for literals such as `1u`. */
const isUnsigned = (value: unknown): value is { readonly value: bigint } =>
  typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'bigint';

const roots = ['inputs', 'variables', 'outputs', 'output', 'channels'] as const;

function variable(name: string, locals: readonly string[]): Part {
  const slot = locals.lastIndexOf(name);
  if (slot >= 0) return read((frame) => frame.locals[slot]);
  const root = roots.find((known) => known === name);
  if (root !== undefined) return read((frame) => frame.scope[root]);
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type === undefined) throw new Error(`unknown variable: ${name}`);
  return { kind: kindOf(type), step: () => type };
}

const read = (value: Step): Part => ({
  kind: 'dyn',
  step(frame) {
    spend(frame.budget, prices.step);
    return value(frame);
  },
});

const typeNamed = (name: string): TypeValue => new TypeValue(name);

/** The names of types, which are values. */
const types: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    ['string', 'bool', 'int', 'uint', 'double', 'map', 'list', 'bytes', 'type'].map((name) => [name, typeNamed(name)]),
  ),
  null_type: typeNamed('null'),
  google: {
    protobuf: {
      Timestamp: typeNamed('google.protobuf.Timestamp'),
      Duration: typeNamed('google.protobuf.Duration'),
    },
  },
};

const hasNoFields: ReadonlySet<Part['kind']> = new Set<Part['kind']>(['null', 'bool', 'int', 'double', 'string']);

function field({ step, kind }: Part, name: string): Part {
  if (hasNoFields.has(kind)) throw new Error(`a ${kind} has no field ${name}`);
  return {
    kind: 'dyn',
    step(frame) {
      spend(frame.budget, prices.step);
      const map = step(frame);
      if (isMap(map) && Object.hasOwn(map, name)) return map[name];
      throw new Failure(`no such key: ${name}`);
    },
  };
}

function index(of: Part, at: Part): Part {
  if (hasNoFields.has(of.kind)) throw new Error(`a ${of.kind} has no index`);
  return {
    kind: 'dyn',
    step(frame) {
      spend(frame.budget, prices.step);
      const from = of.step(frame);
      const key = at.step(frame);
      if (isList(from)) {
        const item = typeof key === 'bigint' || typeof key === 'number' ? from[Number(key)] : undefined;
        if (item !== undefined) return item;
        throw new Failure(`a list of ${from.length} items has no such index`);
      }
      const name = fieldName(key);
      if (isMap(from) && name !== undefined && hasField(from, name, frame.budget)) return from[name];
      throw new Failure(`no such key: ${name?.slice(0, 100) ?? kindOf(key)}`);
    },
  };
}

function not({ step, kind }: Part): Part {
  if (kind !== 'dyn' && kind !== 'bool') throw new Error(`no such overload: !${kind}`);
  return {
    kind: 'bool',
    step(frame) {
      spend(frame.budget, prices.step);
      return !bool(step(frame), '!');
    },
  };
}

function negative({ step, kind }: Part): Part {
  if (kind !== 'dyn' && kind !== 'int' && kind !== 'double') throw new Error(`no such overload: -${kind}`);
  return {
    kind,
    step(frame) {
      spend(frame.budget, prices.step + prices.integer);
      const value = step(frame);
      if (typeof value === 'number') return -value;
      if (typeof value === 'bigint') return int(-value);
      throw new Failure(`no such overload: -${kindOf(value)}`);
    },
  };
}

const listOf = (items: readonly Part[]): Part => ({
  kind: 'list',
  step(frame) {
    spend(frame.budget, prices.object + items.length * prices.element);
    return items.map(({ step }) => step(frame));
  },
});

const mapOf = (entries: readonly (readonly [Part, Part])[]): Part => ({
  kind: 'map',
  step(frame) {
    spend(frame.budget, prices.object + entries.length * prices.newKey);
    const map: Record<string, unknown> = {};
    for (const [key, value] of entries) {
      const name = fieldName(key.step(frame));
      if (name === undefined || name === '__proto__') throw new Failure('a value cannot be a key of a map');
      spend(frame.budget, name.length * prices.character);
      map[name] = value.step(frame);
    }
    return map;
  },
});

function choice(condition: Part, yes: Part, no: Part): Part {
  requireBool(condition.kind, '?:');
  return {
    kind: yes.kind === no.kind ? yes.kind : 'dyn',
    step(frame) {
      spend(frame.budget, prices.step);
      return bool(condition.step(frame), '?:') ? yes.step(frame) : no.step(frame);
    },
  };
}

/** A side that decides the result makes the failure of the other side irrelevant. */
function logical(op: '&&' | '||', left: Part, right: Part): Part {
  requireBool(left.kind, op);
  requireBool(right.kind, op);
  const decisive = op === '||';
  return {
    kind: 'bool',
    step(frame) {
      spend(frame.budget, prices.step);
      const first = attempt(left.step, frame);
      if (first === decisive) return decisive;
      const second = bool(right.step(frame), op);
      if (second === decisive) return decisive;
      if (first instanceof Failure) throw first;
      return bool(first, op) && second;
    },
  };
}

function requireBool(kind: Kind | 'dyn', op: string): void {
  if (kind !== 'dyn' && kind !== 'bool') throw new Error(`${op} needs a bool, got ${kind}`);
}

function hasOf(args: readonly ASTNode[], compile: (node: ASTNode) => Part): Part {
  const [arg] = args;
  if (arg?.op !== '.' || args.length !== 1) throw new Error('has() needs a field, such as has(x.y)');
  return has(compile(arg.args[0]).step, arg.args[1]);
}

function iteration(
  [name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]],
  locals: readonly string[],
  depth: number,
): Part {
  const [variable, ...parts] = args;
  if (variable?.op !== 'id') throw new Error(`the first argument of ${name}() must be the name of a variable`);
  const over = part(receiver, locals, depth + 1);
  if (over.kind !== 'dyn' && over.kind !== 'list' && over.kind !== 'map') {
    throw new Error(`${name}() needs a list or a map, got ${over.kind}`);
  }
  const inner = [...locals, variable.args];
  const steps = parts.map((body): Step => part(body, inner, depth + 1).step);
  return macro(name, { over: over.step, slot: locals.length }, steps);
}
