/** The rules for `sensitive` marks in a definition: a value must not reach the log before it can be sealed. */
import { isJsonObject, TerminalError, type WorkflowDefinition, type WorkflowNode } from '@cairn/protocol';
import { sensitiveNames } from '../sensitive/seal-inputs.ts';
import type { NodeTypeRegistry, Problem } from './node-type.ts';

/** Throws `capability_required` for marks on values that this host cannot seal. */
export function refuseUnsealable(definition: WorkflowDefinition, nodeTypes: NodeTypeRegistry): void {
  const marked = [
    ...Object.entries(definition.channels ?? {}).flatMap(([name, { sensitive }]) =>
      sensitive ? [`channel ${name}`] : [],
    ),
    ...definition.nodes
      .filter((node) => hidesOutputs(node) && nodeTypes.get(node.typeId)?.safety === undefined)
      .map(({ id }) => `outputs of node ${id}`),
  ];
  if (marked.length === 0) return;
  throw new TerminalError('capability_required', {
    message: `The workflow ${definition.id} marks values as sensitive that this host does not seal: ${marked.join(', ')}.`,
    hint: 'Mark variables, and outputs of steps, as sensitive. Keep other such values outside the run.',
    details: { requiredCapability: 'secrets', problems: marked },
  });
}

const hidesOutputs = ({ outputSensitivity }: WorkflowNode): boolean =>
  Object.values(outputSensitivity ?? {}).includes(true);

export function sensitiveProblems(definition: WorkflowDefinition): readonly Problem[] {
  const names = sensitiveNames(definition);
  if (names === undefined) return [];
  return [...defaultProblems(definition), ...assignmentProblems(definition, names), ...readProblems(definition, names)];
}

const defaultProblems = ({ variables }: WorkflowDefinition): readonly Problem[] =>
  variables.flatMap(({ name, sensitive, defaultValue }, index) =>
    sensitive === true && defaultValue !== undefined
      ? [
          {
            path: ['variables', index, 'defaultValue'],
            message: `the variable ${name} is sensitive, and definitions are stored as they are: give it as an input instead`,
          },
        ]
      : [],
  );

/** A value in the definition, or computed from it, is in the log already. */
const assignmentProblems = ({ nodes }: WorkflowDefinition, names: readonly string[]): readonly Problem[] =>
  nodes.flatMap(({ id, typeId, config }, index) => {
    const name = config.name ?? config.variableName;
    const isPlain = config.value !== undefined && config.value !== null;
    return typeId === 'core.setVariable' && typeof name === 'string' && names.includes(name) && isPlain
      ? [
          {
            path: ['nodes', index, 'config', 'value'],
            of: `node ${id}`,
            message: `the variable ${name} is sensitive, and definitions are stored as they are: set it from an input or from a sensitive output`,
          },
        ]
      : [];
  });

/** A condition would compare the reference, and be wrong without an error. */
function readProblems({ nodes, edges }: WorkflowDefinition, names: readonly string[]): readonly Problem[] {
  const message = (name: string): string =>
    `it reads the sensitive variable ${name}, and conditions see only its mask: decide in a step`;
  return [
    ...edges.flatMap(({ id, condition }, index) => {
      const name = readIn([condition?.expression, condition?.left], names);
      return name === null ? [] : [{ path: ['edges', index, 'condition'], of: `edge ${id}`, message: message(name) }];
    }),
    ...nodes.flatMap(({ id, typeId, config }, index) => {
      if (typeId !== 'core.conditional' && typeId !== 'core.loop') return [];
      const { condition, expression, whileExpression, items } = config;
      const tested = isJsonObject(condition) ? [condition.left, condition.expression] : [condition];
      const name = readIn([...tested, expression, whileExpression, items], names);
      return name === null ? [] : [{ path: ['nodes', index, 'config'], of: `node ${id}`, message: message(name) }];
    }),
  ];
}

/** The first of the variables that a text reads by name. */
function readIn(texts: readonly unknown[], names: readonly string[]): string | null {
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    for (const [, dotted, quoted] of text.matchAll(READ)) {
      const name = dotted ?? quoted;
      if (name !== undefined && names.includes(name)) return name;
    }
  }
  return null;
}

const READ = /\b(?:variables|inputs)\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*["']([^"']+)["']\s*\])/g;
