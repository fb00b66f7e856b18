/** Keeps machine-specific data out of the tree: local paths, and the address of the registry in use. */
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { Finding } from './finding.ts';
import { filesOf, lineAt, textOf } from './tree.ts';

const text = /\.(ts|tsx|mts|mjs|js|json|md|yml|yaml|sh|txt|sql|html|css)$|(^|\/)[^./]+$|(^|\/)\.[a-z]+rc$/;

/** Folders that exist on every Unix machine, so they identify none. */
const everywhere = new Set(['/', '/tmp', '/var', '/var/tmp', '/home', '/Users', '/usr', '/opt', '/srv', '/mnt']);

const general: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w./-])\/(?:home|Users)\/[\w.-]+\//g, 'a path in a home folder'],
  [/\b[A-Z]:\\\\?Users\\/g, 'a path in a home folder'],
  [/\b(?:registry|npm|packages)\.(?:[a-z0-9-]+\.)+[a-z]{2,}\b(?=[/:"'\s]|$)/gm, "a package registry's host"],
  [/^\s*(?:@[\w-]+:)?registry\s*=/gm, "a package registry's address"],
];

/** `places` are folders of the machine that runs the check. None of them may appear in the tree. */
export function checkAddresses(root: string, places: readonly string[] = placesOf(root)): readonly Finding[] {
  const rules = [...general, ...places.map((place) => [pathPattern(place), 'a path of this machine'] as const)];
  return filesOf(root)
    .filter((path) => text.test(path))
    .flatMap((path) => {
      const content = textOf(root, path);
      return rules.flatMap(([pattern, what]) =>
        [...content.matchAll(pattern)].map((match) => ({
          file: path,
          line: lineAt(content, match.index),
          message: `contains ${what}: ${match[0].trim()}`,
        })),
      );
    });
}

function placesOf(root: string): readonly string[] {
  return [root, dirname(root), homedir()].filter((place) => !everywhere.has(place));
}

function pathPattern(place: string): RegExp {
  const literal = place.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`(?<![\\w.-])${literal}(?![\\w-])`, 'g');
}
