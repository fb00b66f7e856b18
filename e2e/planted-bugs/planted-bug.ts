/** A deliberate defect, which proves that the suite named beside it would catch a similar real one. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The suite that must fail: a test file, the tests in it whose names contain `test`, or the simulation over some seeds.
 */
export type Suite =
  | { readonly kind: 'vitest'; readonly path: string; readonly test?: string }
  | { readonly kind: 'sim'; readonly seeds: string };

export interface PlantedBug {
  readonly name: string;
  /** Path from the repository root. */
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly suite: Suite;
  /** The effect of the defect in production. */
  readonly why: string;
}

/**
 * Returns the file without and with the defect. Throws unless the text to change occurs exactly once, so that the list
 * stays correct.
 */
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

/** The command that runs the suite. */
export const suiteName = (suite: Suite): string =>
  suite.kind === 'sim'
    ? `npm run sim -- --seeds ${suite.seeds}`
    : `npx vitest run ${suite.path}${suite.test === undefined ? '' : ` -t '${suite.test}'`}`;
