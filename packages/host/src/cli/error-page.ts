/** The pages of the error codes: in the docs of a checkout, or next to the build of a package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorKinds } from '@cairn/protocol';

const isSource = import.meta.filename.endsWith('.ts');
const folder = join(import.meta.dirname, isSource ? '../../../../docs/errors' : '../errors');

export const errorCodes: readonly string[] = Object.keys(errorKinds);

/** The page of a code, as Markdown. */
export const errorPage = (code: string): string => readFileSync(join(folder, `${code}.md`), 'utf8').trimEnd();
