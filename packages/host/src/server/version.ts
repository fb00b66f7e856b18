/** Which Cairn this is; one answer for discovery and the command line. */
import { readFileSync } from 'node:fs';

/** Read from the package file, which lies beside `src` and `dist` alike. */
export function hostVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
