/** Checks the names of inputs against the workflow before a run starts: a typo would be a variable that nothing reads. */
import type { WorkflowDefinition } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { safe } from './render/style.ts';
import { usageError } from './usage-error.ts';

export function refuseUnknownInputs(definition: WorkflowDefinition, names: readonly string[]): void {
  if (takesAny(definition)) return;
  const known = inputNames(definition);
  const unknown = names.filter((name) => !known.has(name));
  const [first] = unknown;
  if (first === undefined) return;
  const close = nearest(first, [...known]);
  const inputs = [...known].map(safe).join(', ');
  const all = known.size === 0 ? 'It has no inputs.' : `Its inputs are ${inputs}.`;
  throw usageError(
    `The workflow ${safe(definition.id)} has no input ${unknown.map(safe).join(', ')}.`,
    close === null ? all : `Did you mean ${safe(close)}? ${all}`,
  );
}

/** The start node gives its outputs all inputs of the run, whatever their names. */
const takesAny = ({ nodes }: WorkflowDefinition): boolean => nodes.some(({ typeId }) => typeId === 'core.start');

/** Declared variables, and names that an expression or an input reads without a declaration. */
function inputNames(definition: WorkflowDefinition): ReadonlySet<string> {
  const read = [...JSON.stringify(definition.nodes).matchAll(READ), ...JSON.stringify(definition.edges).matchAll(READ)];
  return new Set([
    ...definition.variables.map(({ name }) => name),
    ...read.flatMap(([, dotted, indexed, named]) => dotted ?? indexed ?? named ?? []),
  ]);
}

/** `inputs.city`, `variables["city"]` as it is escaped in JSON, and an input of the type `variable`. */
const READ = /\b(?:inputs|variables)(?:\.([A-Za-z_]\w*)|\[(?:\\"|')([^"'\\]+)(?:\\"|')\])|"variableName":"([^"\\]+)"/g;
