/** What the expressions and patterns of a definition cost to compile, counted before any of them is compiled. */
import { isJsonObject, type Json, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import type { Sliced } from '../shares/long-work.ts';
import { patternCost } from '../values/pattern-cost.ts';

/** The maximum cost of a definition in units of `cost-budget.ts`: about 60 ms, spent in slices. */
const MAX_COMPILE_COST = 3_000_000;

/** Units, measured: an expression, and each of its characters. */
const EXPRESSION = 400;
const EXPRESSION_CHARACTER = 40;

/** The maximum number of values in the config of one node: about 5 ms, because a config is parsed at once. */
const MAX_CONFIG_PARTS = 5_000;

/** Throws `definition_too_large`. */
export function* refuseCostly(definition: WorkflowDefinition): Sliced<void> {
  for (const { id, config } of definition.nodes) {
    const { parts } = measure(config);
    if (parts > MAX_CONFIG_PARTS) throw largeConfig(id, parts);
    yield undefined;
  }
  const cost = yield* compileCost(definition);
  if (cost <= MAX_COMPILE_COST) return;
  throw tooLarge(cost, MAX_COMPILE_COST, {
    message: `The expressions and patterns of the workflow definition cost ${cost} units to compile`,
    hint: 'Use fewer or shorter ones, or split the workflow: a node of type core.subWorkflow runs another one.',
  });
}

/** Counts every text that could be an expression or a pattern, wherever it is: which ones are compiled is up to the nodes. */
export function* compileCost(definition: WorkflowDefinition): Sliced<number> {
  let cost = 0;
  for (const { inputs, config } of definition.nodes) {
    for (const input of Object.values(inputs)) {
      if (input.type === 'expression') cost += textCost('expression', input.expression);
    }
    cost += measure(config).cost;
    yield undefined;
  }
  for (const { condition } of definition.edges) {
    if (condition === undefined) continue;
    if (condition.type === 'regex' && typeof condition.right === 'string') cost += costOf(condition.right);
    else if (condition.expression !== undefined) cost += textCost('expression', condition.expression);
    yield undefined;
  }
  for (const { schema } of Object.values(definition.channels ?? {})) {
    cost += measure(schema).cost;
    yield undefined;
  }
  return cost + measure(definition.configurableSchema).cost;
}

interface Measure {
  readonly cost: number;
  readonly parts: number;
}

/** Of any value. */
export function measure(given: Json | undefined): Measure {
  let cost = 0;
  let parts = 0;
  const walk = (value: Json | undefined, name: string): void => {
    parts += 1;
    if (typeof value === 'string') cost += textCost(name, value);
    else if (Array.isArray(value)) for (const item of value) walk(item, name);
    else if (isJsonObject(value)) {
      if (name === 'patternProperties') for (const key of Object.keys(value)) cost += costOf(key);
      for (const [key, member] of Object.entries(value)) walk(member, key);
    }
  };
  walk(given, '');
  return { cost, parts };
}

const largeConfig = (nodeId: string, parts: number): TerminalError =>
  tooLarge(parts, MAX_CONFIG_PARTS, {
    message: `The config of node ${nodeId} has ${parts} values`,
    hint: 'Split the node, or pass large values as inputs.',
  });

const tooLarge = (count: number, limit: number, { message, hint }: { message: string; hint: string }): TerminalError =>
  new TerminalError('definition_too_large', {
    message: `${message}; at most ${limit} are allowed.`,
    hint,
    details: { count, limit },
  });

function textCost(name: string, text: string): number {
  if (name === 'expression') return EXPRESSION + EXPRESSION_CHARACTER * Math.min(text.length, 4_000);
  return name === 'pattern' ? costOf(text) : 0;
}

/** A pattern that is too large costs nothing: it is refused before it is compiled. */
function costOf(pattern: string): number {
  try {
    return patternCost(pattern, false);
  } catch {
    return 0;
  }
}
