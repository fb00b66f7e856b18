/** Lists the files of a checkout without git, so that the checks also run on fixtures and unpacked archives. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const left = new Set(['node_modules', 'dist', 'coverage', '.git', '.cairn', 'lint-fixtures']);
const leftPaths = new Set(['bench/out']);

/** Paths of all files relative to `root`, with forward slashes, sorted. */
export function filesOf(root: string): readonly string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!left.has(entry.name) && !leftPaths.has(path)) visit(path);
      } else if (entry.isFile()) found.push(path);
    }
  };
  visit('');
  return found.sort();
}

export function textOf(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Returns a 1-based line number, as editors show it. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
