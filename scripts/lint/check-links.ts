/** Checks that every path named in a page or a message exists. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { testFile } from '../import-table.ts';
import type { Finding } from './finding.ts';
import { filesOf, lineAt, textOf } from './tree.ts';

interface Rule {
  readonly pattern: RegExp;
  /** Folders that a path may be relative to. `.` is the page's own folder. */
  readonly bases: readonly string[];
}

/** Link targets, and parent paths (`../x`) anywhere in the text. */
const link: Rule = {
  pattern: /\]\((?!https?:|mailto:|#)([^)\s#]+)[^)]*\)|(?<![\w/.])((?:\.\.\/)+[\w./-]*\w)/g,
  bases: ['.'],
};

/** Source files, in backticks. A page about the host may name them relative to the host's sources. */
const source: Rule = {
  pattern: /`([\w-]+\/[\w./-]+\.(?:ts|mjs))`/g,
  bases: ['', '.', 'packages', 'packages/host/src'],
};

/** Pages that comments and messages refer to. */
const page: Rule = { pattern: /(?<![\w/.-])(docs\/[\w./-]+\.md)\b/g, bases: [''] };

export function checkLinks(root: string): readonly Finding[] {
  return filesOf(root).flatMap((path) => {
    if (path.endsWith('.md')) return [link, source].flatMap((rule) => broken(root, path, rule));
    return /\.(ts|mjs)$/.test(path) && !testFile.test(path) ? broken(root, path, page) : [];
  });
}

function broken(root: string, path: string, { pattern, bases }: Rule): readonly Finding[] {
  const content = textOf(root, path);
  return [...content.matchAll(pattern)].flatMap((match) => {
    const written = match[1] ?? match[2] ?? '';
    const targets = bases.map((base) => posix.join(base === '.' ? posix.dirname(path) : base, written));
    if (targets.some((target) => !target.startsWith('..') && existsSync(join(root, target)))) return [];
    const line = lineAt(content, match.index);
    return [{ file: path, line, message: `points to ${written}, which is not in this repository.` }];
  });
}
