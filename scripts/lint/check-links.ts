/** Keeps the pages true about the tree: a relative path in Markdown names a file that is there. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Finding } from './finding.ts';
import { filesOf, lineAt, textOf } from './tree.ts';

/** Link targets, and paths that climb (`../x`) wherever they are written. */
const reference = /\]\((?!https?:|mailto:|#)([^)\s#]+)[^)]*\)|(?<![\w/.])((?:\.\.\/)+[\w./-]*\w)/g;

export function checkLinks(root: string): readonly Finding[] {
  return filesOf(root)
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => {
      const content = textOf(root, path);
      return [...content.matchAll(reference)].flatMap((match) => {
        const written = match[1] ?? match[2] ?? '';
        const target = posix.join(posix.dirname(path), written);
        const inside = !target.startsWith('..') && existsSync(join(root, target));
        const line = lineAt(content, match.index);
        return inside ? [] : [{ file: path, line, message: `points to ${written}, which is not in this repository.` }];
      });
    });
}
