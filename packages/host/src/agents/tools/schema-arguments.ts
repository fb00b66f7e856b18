/** Checks the arguments of a tool that has a JSON Schema instead of code, as the tools of other systems have. */
import type { Json, JsonObject } from '@cairn/protocol';
import { schemaProblems } from '../../engine/values/schemas.ts';
import { hostileArguments } from './hostile-arguments.ts';
import type { CheckedInput } from './tool.ts';

export function schemaArguments(schema: JsonObject, input: Json): CheckedInput {
  const hostile = hostileArguments(input);
  if (hostile !== null) return { ok: false, problems: [hostile] };
  const problems = schemaProblems(schema, input);
  return problems.length === 0 ? { ok: true, input } : { ok: false, problems };
}
