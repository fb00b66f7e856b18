/** A defect put in on purpose, to prove that the suite named beside it would notice a real one like it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What has to fail: a test file (or the tests in it whose names contain `test`), or the simulation over some seeds. */
export type Suite =
  | { readonly kind: 'vitest'; readonly path: string; readonly test?: string }
  | { readonly kind: 'sim'; readonly seeds: string };

export interface PlantedBug {
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly suite: Suite;
  /** What would go wrong in the field. */
  readonly why: string;
}

/** The file without and with the defect. Throws when the text it changes is not there exactly once: the list must stay true. */
export async function plant(
  root: string,
  bug: PlantedBug,
): Promise<{ readonly sound: string; readonly defective: string }> {
  const sound = await readFile(join(root, bug.file), 'utf8');
  const places = sound.split(bug.find).length - 1;
  if (places !== 1) {
    throw new Error(`The text that "${bug.name}" changes occurs ${places} times in ${bug.file}; it must occur once.`);
  }
  return { sound, defective: sound.replace(bug.find, () => bug.replace) };
}

/** The suite as the command that runs it. */
export const suiteName = (suite: Suite): string =>
  suite.kind === 'sim'
    ? `npm run sim -- --seeds ${suite.seeds}`
    : `npx vitest run ${suite.path}${suite.test === undefined ? '' : ` -t '${suite.test}'`}`;
