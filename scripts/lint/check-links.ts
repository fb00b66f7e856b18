/** Keeps words true about the tree: a path that a page or a message names is there. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { testFile } from '../import-table.ts';
import type { Finding } from './finding.ts';
import { filesOf, lineAt, textOf } from './tree.ts';

/** Link targets, and paths that climb (`../x`) wherever they are written; relative to the page. */
const inPage = /\]\((?!https?:|mailto:|#)([^)\s#]+)[^)]*\)|(?<![\w/.])((?:\.\.\/)+[\w./-]*\w)/g;

/** Pages that comments and messages send their reader to; relative to the root. */
const inSource = /(?<![\w/.-])(docs\/[\w./-]+\.md)\b/g;

export function checkLinks(root: string): readonly Finding[] {
  return filesOf(root).flatMap((path) => {
    if (path.endsWith('.md')) return broken(root, path, inPage, posix.dirname(path));
    return /\.(ts|mjs)$/.test(path) && !testFile.test(path) ? broken(root, path, inSource, '') : [];
  });
}

function broken(root: string, path: string, pattern: RegExp, base: string): readonly Finding[] {
  const content = textOf(root, path);
  return [...content.matchAll(pattern)].flatMap((match) => {
    const written = match[1] ?? match[2] ?? '';
    const target = posix.join(base, written);
    if (!target.startsWith('..') && existsSync(join(root, target))) return [];
    const line = lineAt(content, match.index);
    return [{ file: path, line, message: `points to ${written}, which is not in this repository.` }];
  });
}
