/** Generates TypeScript types from the API description of a real host, as a user of `openapi-typescript` would. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

/** The folder is not in the repository. `checks.ts` imports the file. */
export async function generateTypes(url: string): Promise<void> {
  // Own types are readonly, too, so that both fit each other.
  const nodes = await openapiTS(new URL('/v1/openapi.json', url), { immutable: true, silent: true });
  const folder = join(import.meta.dirname, 'dist');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'api.ts'), astToString(nodes));
}
