/** What the expressions and patterns of a definition cost to compile, counted before any of them is compiled. */
import { isJsonObject, type Json, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import { patternCost } from '../values/pattern-cost.ts';

/** The maximum cost of a definition in units of `cost-budget.ts`: about 60 ms, spent in slices. */
export const MAX_COMPILE_COST = 3_000_000;

/** Units, measured: an expression, and each of its characters. */
const EXPRESSION = 400;
const EXPRESSION_CHARACTER = 40;

/** Throws `definition_too_large`. */
export function refuseCostly(definition: WorkflowDefinition): void {
  const cost = compileCost(definition);
  if (cost <= MAX_COMPILE_COST) return;
  throw new TerminalError('definition_too_large', {
    message: `The expressions and patterns of the workflow ${definition.id} cost ${cost} units to compile; at most ${MAX_COMPILE_COST} are allowed.`,
    hint: 'Use fewer or shorter ones, or split the workflow: a node of type core.subWorkflow runs another one.',
    details: { workflowId: definition.id, count: cost, limit: MAX_COMPILE_COST },
  });
}

/** Counts every text that could be an expression or a pattern, wherever it is: which ones are compiled is up to the nodes. */
export function compileCost(definition: WorkflowDefinition): number {
  let cost = 0;
  const walk = (value: Json | undefined, name: string): void => {
    if (typeof value === 'string') cost += textCost(name, value);
    else if (Array.isArray(value)) for (const item of value) walk(item, name);
    else if (isJsonObject(value)) {
      if (name === 'patternProperties') for (const key of Object.keys(value)) cost += costOf(key);
      for (const key in value) walk(value[key], key);
    }
  };
  for (const { inputs, config } of definition.nodes) {
    for (const input of Object.values(inputs)) {
      if (input.type === 'expression') cost += textCost('expression', input.expression);
    }
    walk(config as Json, 'config');
  }
  for (const { condition } of definition.edges) {
    if (condition === undefined) continue;
    if (condition.type === 'regex' && typeof condition.right === 'string') cost += costOf(condition.right);
    else if (condition.expression !== undefined) cost += textCost('expression', condition.expression);
  }
  for (const { schema } of Object.values(definition.channels ?? {})) walk(schema as Json | undefined, 'schema');
  walk(definition.configurableSchema as Json | undefined, 'schema');
  return cost;
}

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
