/** The declared types of variables, and which values have them. */
import type { Json, WorkflowDefinition, WorkflowVariable } from '@cairn/protocol';
import type { Problem } from './node-type.ts';

/** Null has no type; callers handle it. */
export function isOfType(value: Json, type: WorkflowVariable['type']): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}

/** A run would begin with a value that the same run refuses as an input. */
export const defaultTypeProblems = ({ variables }: WorkflowDefinition): readonly Problem[] =>
  variables.flatMap(({ name, type, defaultValue }, index) => {
    if (defaultValue == null || isOfType(defaultValue, type)) return [];
    const message = `the default of ${name} is ${JSON.stringify(defaultValue).slice(0, 60)}, which is no ${type}`;
    return [{ path: ['variables', index, 'defaultValue'], message }];
  });
