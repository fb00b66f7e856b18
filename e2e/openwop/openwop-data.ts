/** Finds the public OpenWOP schemas and fixtures beside this checkout. The project itself holds no copy. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@cairn/protocol';
import { parsedFields } from '../../packages/host/test/kit/json-fields.ts';

const folder = join(import.meta.dirname, '../../../shared/openwop');

export interface Fixture {
  readonly id: string;
  /** The raw file text, sent to the host unchanged. */
  readonly text: string;
  readonly definition: JsonObject;
}

export interface OpenwopData {
  readonly fixtures: ReadonlyMap<string, Fixture>;
  /** JSON Schemas by file name. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
}

/** Returns null when the folder does not exist. */
export function openwopData(): OpenwopData | null {
  if (!existsSync(join(folder, 'schemas'))) return null;
  const fixtures = filesIn('fixtures').map(({ text }) => {
    const definition = parsedFields(text);
    const id = String(definition.id);
    return [id, { id, text, definition }] as const;
  });
  const schemas = filesIn('schemas').map(({ name, text }) => [name, parsedFields(text)] as const);
  return { fixtures: new Map(fixtures), schemas: new Map(schemas) };
}

function filesIn(part: 'fixtures' | 'schemas'): { readonly name: string; readonly text: string }[] {
  return readdirSync(join(folder, part))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(folder, part, name), 'utf8') }));
}
