/** The version of Cairn, shared by discovery and the command line. */
import { readFileSync } from 'node:fs';

/** Read from `package.json`, which is next to both `src` and `dist`. */
export function hostVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
